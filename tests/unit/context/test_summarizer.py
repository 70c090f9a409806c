"""Compaction by a model: what is asked, what is committed, what a failure leaves as it was."""

from __future__ import annotations

import re

import pytest
from tests.unit.context.governed_session import RULE, Governed, good_summary

from wayfare.context.breaker import FAILED, OPEN_SECONDS
from wayfare.context.compacted import prose_of
from wayfare.context.summarizer import Summarizer, due
from wayfare.errors import ModelUnreachable, PromptTooLong
from wayfare.messages import Message, Origin, Text, Thinking, assistant, user
from wayfare.model import Model, Request, Usage
from wayfare.providers.script import Scripted
from wayfare.session import governed, memory_transcript
from wayfare.transcript import EditEntry, MarkEntry, UsageEntry

pytestmark = pytest.mark.anyio


async def test_the_request_is_isolated_and_says_the_rules_at_both_ends() -> None:
    session = await Governed().open()
    await session.steps(range(8))
    summarizer = session.summarizer(good_summary())
    assert await summarizer(session.governor, focus="the date parser")
    assert session.model is not None
    (request,) = session.model.requests
    (message,) = request.messages
    assert request.tools == ()
    assert not message.calls
    assert not message.results
    assert "no tools" in request.system
    assert "no tool call" in message.text[-600:]
    assert "<focus>\nthe date parser\n</focus>" in message.text
    assert message.text.index("<facts>") < message.text.index("<history>")


async def test_the_summary_stands_in_the_shape_that_was_promised() -> None:
    session = await Governed().open()
    await session.steps(range(8))
    await session.summarizer(good_summary())(session.governor)
    made = next(slot for slot in session.governor.view if slot.made)
    order = [
        "[Compacted]",
        "Current user request:",
        RULE,
        "Conversation summary (reference only):",
        "## Goal",
        "Full transcript: .transcripts/s/transcript.jsonl#1-",
    ]
    places = [made.message.text.index(part) for part in order]
    assert places == sorted(places)
    assert made.message.origin is Origin.SUMMARY
    assert RULE in session.texts


async def test_reasoning_is_never_sent_and_secrets_are_replaced() -> None:
    session = await Governed().open()
    thought = Thinking(text="SECRET-THOUGHT", signature="sig")
    key = "ghp_" + "a1B2" * 9
    for _ in range(4):
        said = Message(
            role="assistant",
            blocks=(thought, Text(text=f"logged in with {key} " + "word " * 300)),
            origin=Origin.ASSISTANT,
        )
        await session.governor.add([said, user("go on")])
    await session.summarizer(good_summary())(session.governor)
    assert session.model is not None
    sent = session.model.requests[0].messages[0].text
    assert "SECRET-THOUGHT" not in sent
    assert key not in sent
    assert "[secret: github token]" in sent


async def test_a_failed_summary_changes_nothing_and_is_marked() -> None:
    session = await Governed().open()
    await session.steps(range(8))
    before = session.governor.view.messages()
    assert await session.summarizer("no summary at all, just words")(session.governor) == ()
    assert session.governor.view.messages() == before
    marks = [e async for e in session.transcript.entries() if isinstance(e, MarkEntry)]
    assert [m.detail["in_a_row"] for m in marks if m.name == FAILED] == [1]
    assert session.told("compaction.failed")[0].fields["kind"] == "shape"


async def test_after_three_failures_a_digest_stands_in_and_a_new_process_knows() -> None:
    session = await Governed().open()
    await session.steps(range(8))
    summarizer = session.summarizer(always="nothing of use")
    for _ in range(3):
        await summarizer(session.governor)
    assert session.model is not None
    assert len(session.model.requests) == 3
    again = session.summarizer(always=good_summary())
    edits = await again(session.governor)
    assert [edit.by for edit in edits] == ["compact"]
    assert session.model.requests == []
    session.clock.advance(OPEN_SECONDS)
    await session.steps(range(8, 16))
    edits = await again(session.governor)
    assert [edit.by for edit in edits] == ["summary"]


async def test_at_the_limit_a_failure_leaves_a_digest() -> None:
    session = await Governed().open()
    await session.steps(range(24))
    summarizer = session.summarizer(always=ModelUnreachable("no route"))
    assert due(session.governor)
    edits = await summarizer(session.governor, trigger="auto")
    assert "digest" in [edit.by for edit in edits]
    prepared = await session.governor.prepare()
    assert prepared.tokens <= session.budget.limit_tokens


async def test_what_does_not_fit_is_left_out_oldest_first_with_its_address() -> None:
    session = await Governed(window_tokens=40_000).open()
    await session.steps(range(40), chars=4_000)
    await session.summarizer(good_summary(), window_tokens=6_000)(session.governor)
    assert session.model is not None
    sent = session.model.requests[0].messages[0].text
    assert re.search(
        r"\[entries 2 to \d+ left out: \.transcripts/s/transcript\.jsonl#2-\d+\]", sent
    )
    assert "src/f36.py" in sent
    assert "reading src/f1.py" not in sent


async def test_a_refused_request_gets_smaller_three_times_and_never_repeats() -> None:
    session = await Governed().open()
    await session.steps(range(8))
    refusal = PromptTooLong("too long")
    await session.summarizer(refusal, refusal, refusal, good_summary())(session.governor)
    assert session.model is not None
    sizes = [len(r.messages[0].text) for r in session.model.requests]
    assert len(sizes) == 4
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes)) == 4
    assert any(prose_of(slot.message) for slot in session.governor.view)


async def test_a_fourth_refusal_is_a_failure() -> None:
    session = await Governed().open()
    await session.steps(range(8))
    assert await session.summarizer(always=PromptTooLong("too long"))(session.governor) == ()
    assert session.model is not None
    assert len(session.model.requests) <= 4
    assert session.told("compaction.failed")[0].fields["kind"] in ("too_long", "no_room")


async def test_facts_the_summary_misses_are_added_back_and_counted() -> None:
    session = await Governed(window_tokens=20_000).open("")
    await session.governor.add([user("Deploy only from tag builds; ticket OPS-417, port 8443.")])
    await session.steps(range(12))
    await session.governor.add([user(RULE)])
    await session.steps(range(12, 20))
    await session.summarizer(good_summary())(session.governor)
    shown = "\n".join(session.texts)
    assert "Deploy only from tag builds" in shown
    assert "OPS-417" in shown
    assert "8443" in shown
    report = session.told("compaction.retention")[0].fields
    assert report["by_address"] == 0
    assert report["kept"] + report["added"] > 3


async def test_usage_of_a_summary_is_in_the_log_and_told() -> None:
    session = await Governed().open()
    await session.steps(range(8))
    spent: list[int] = []

    def note(usage: Usage, model: Model) -> None:
        spent.append(usage.total_tokens)

    summarizer = session.summarizer(good_summary(), spent=note)
    await summarizer(session.governor)
    used = [e async for e in session.transcript.entries() if isinstance(e, UsageEntry)]
    assert [(e.purpose, e.usage.total_tokens) for e in used] == [("summary", spent[0])]


def growing(request: Request) -> str:
    """A summarizer that keeps all it is given: its reply grows with its input."""
    text = request.messages[0].text
    earlier = text.partition("<earlier_summary>")[2].partition("</earlier_summary>")[0]
    kept = [line for line in earlier.splitlines() if line.startswith("- done")]
    number = len(kept) + 1
    lines = "\n".join([*kept, *(f"- done {number}.{i}: wrote a part of it" for i in range(6))])
    said = [line for line in text.splitlines() if line.startswith('- "Part')]
    return good_summary().replace("- five files read", "\n".join([lines, *said[:3]]))


async def generations(session: Governed, summarizer: Summarizer, count: int) -> list[int]:
    """Compact so often, with work and a word of the user in between; sizes of what stands."""
    sizes: list[int] = []
    for generation in range(count):
        await session.steps(range(generation * 10, generation * 10 + 10))
        await session.governor.add([user(f"Part {generation} must use port {8_000 + generation}.")])
        assert await summarizer(session.governor), session.told("compaction.failed")
        made = [slot for slot in session.governor.view if slot.made]
        assert len(made) == 1
        sizes.append(made[0].load.tokens)
    return sizes


async def test_twenty_generations_are_no_larger_than_two() -> None:
    session = await Governed(window_tokens=12_000).open()

    def wordy(request: Request) -> str:
        said = [line for line in request.messages[0].text.splitlines() if "must use port" in line]
        return good_summary(
            "\n".join([f"{RULE} and more words, number {n}" for n in range(60)] + said[:5])
        )

    sizes = await generations(session, session.summarizer(always=wordy), 20)
    assert sizes[19] <= 1.1 * sizes[1]
    assert RULE in "\n".join(session.texts)


async def test_a_summarizer_that_only_adds_is_bounded() -> None:
    session = await Governed(window_tokens=12_000).open()
    sizes = await generations(session, session.summarizer(always=growing), 20)
    assert max(sizes) <= session.budget.limit_tokens * 0.2
    assert sizes[19] <= 1.1 * sizes[13]
    assert RULE in "\n".join(session.texts)


async def test_undo_over_several_compactions_gives_the_earlier_requests_byte_for_byte() -> None:
    session = await Governed().open()
    summarizer = session.summarizer(always=good_summary())
    before: list[list[Message]] = []
    for generation in range(3):
        await session.steps(range(generation * 8, generation * 8 + 8))
        before.append(session.governor.view.messages())
        assert await summarizer(session.governor)
    for generation in (2, 1, 0):
        await session.governor.undo()
        held = session.governor.view.messages()[: len(before[generation])]
        assert held == before[generation]


async def test_a_resumed_session_shows_the_same_summary() -> None:
    session = await Governed().open()
    await session.steps(range(8))
    await session.summarizer(good_summary())(session.governor)
    before = session.governor.view.messages()
    await session.governor.resume()
    assert session.governor.view.messages() == before


async def test_a_digest_after_a_summary_hands_it_on() -> None:
    session = await Governed().open()
    await session.steps(range(8))
    summarizer = session.summarizer(good_summary("OPS-417 is open"), always="nothing")
    await summarizer(session.governor)
    await session.steps(range(8, 30))
    await session.governor.prepare()
    made = [slot for slot in session.governor.view if slot.made]
    assert len(made) == 1
    assert "OPS-417 is open" in made[0].message.text
    edits = [e async for e in session.transcript.entries() if isinstance(e, EditEntry)]
    assert "digest" in [e.by for e in edits]


async def test_a_tiny_history_is_left_alone() -> None:
    session = await Governed().open()
    await session.governor.add([assistant("hello")])
    assert await session.summarizer(good_summary())(session.governor) == ()
    assert session.model is not None
    assert session.model.requests == []


async def test_a_log_in_another_wire_format_is_summarized_alike() -> None:
    session = Governed()
    session.transcript = memory_transcript("s", clock=session.clock, format="openai-chat")
    session.governor = await governed(session.transcript, session.budget, clock=session.clock)
    await session.governor.add([user(RULE)])
    await session.steps(range(8))
    assert await session.summarizer(Scripted(text=good_summary()))(session.governor)
    await session.governor.prepare()


async def test_what_code_adds_back_and_a_digest_hold_no_secrets() -> None:
    key = "ghp_" + "a1B2" * 9
    for script in ([good_summary()], []):
        session = await Governed(window_tokens=20_000, user_share=0.0).open("")
        await session.governor.add([user(f"You must always push with the token {key}.")])
        await session.steps(range(12))
        await session.governor.add([user(RULE)])
        await session.steps(range(12, 20))
        summarizer = session.summarizer(*script)
        if not script:
            summarizer.model = None
        assert await summarizer(session.governor)
        made = "\n".join(s.message.text for s in session.governor.view if s.made)
        assert key not in made
        assert "must always push with the token [secret: github token]" in made


async def test_a_window_that_a_refusal_names_is_kept_to_at_the_next_compaction() -> None:
    session = await Governed(window_tokens=16_000).open()
    await session.steps(range(8))
    refusal = PromptTooLong("too long", limit_tokens=4_000)
    summarizer = session.summarizer(refusal, always=good_summary())
    await summarizer(session.governor)
    assert session.model is not None
    assert len(session.model.requests) == 2
    await session.steps(range(8, 16))
    await summarizer(session.governor)
    assert len(session.model.requests) == 3
    count = session.governor.meter.text
    *_, last = session.model.requests
    assert count(last.messages[0].text) + (last.max_output_tokens or 0) < 4_000


async def test_a_summary_that_would_take_more_than_it_replaces_is_not_committed() -> None:
    session = await Governed(window_tokens=4_096).open()
    await session.governor.add([user("Read the file. " + "It matters much. " * 15)])
    await session.steps(range(1), chars=700)
    await session.governor.add([user("And now?")])
    before = session.governor.tokens
    await session.summarizer(always=good_summary("done " * 60))(session.governor, trigger="model")
    assert session.governor.tokens <= before


async def test_a_summary_alone_is_not_summarized_again() -> None:
    session = await Governed().open()
    await session.steps(range(8))
    summarizer = session.summarizer(always=good_summary())
    assert await summarizer(session.governor)
    assert session.model is not None
    asked = len(session.model.requests)
    view = session.governor.view.messages()
    assert await summarizer(session.governor) == ()
    assert len(session.model.requests) == asked
    assert session.governor.view.messages() == view
