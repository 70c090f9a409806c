"""Cuts on a governed session: what stays, what leaves, that everything can be had back."""

from __future__ import annotations

from wayfare.clock import MovableClock
from wayfare.context.budget import Budget
from wayfare.context.pipeline import Governor
from wayfare.messages import Message, Origin, assistant, call, result, results, user
from wayfare.replay.reachable import reachable
from wayfare.session import governed, memory_transcript
from wayfare.transcript import DropBlocks, EditEntry

REQUEST = "Rename parse_date everywhere."


async def _session(window_tokens: int = 12_500) -> Governor:
    clock = MovableClock()
    transcript = memory_transcript("s", clock=clock)
    governor = await governed(transcript, Budget.window(window_tokens), clock=clock)
    await governor.add([user(REQUEST)])
    return governor


async def _step(governor: Governor, number: int, *, tool: str, text: str, **given: str) -> None:
    reply = assistant(f"step {number}", call(tool, given, id=f"c{number}"))
    await governor.add([reply, results(result(f"c{number}", text))])


def _text(messages: tuple[Message, ...]) -> str:
    texts = [m.text for m in messages]
    texts += [r.text for m in messages for r in m.results]
    return "\n".join(texts)


async def test_a_cut_keeps_text_of_files_and_lets_printed_output_go() -> None:
    governor = await _session()
    source = ""
    for number in range(200):
        if number % 20 == 0:
            source = "\n".join(f"def handler_{n}(): return {number + n}" for n in range(20))
            await _step(governor, number, tool="read", text=source, path=f"src/app{number}.py")
        else:
            await _step(governor, number, tool="bash", text="compiling unit " * 80, command="make")
        prepared = await governor.prepare()
        if any(edit.by == "digest" for edit in prepared.edits):
            break
    assert any(edit.by == "digest" for edit in prepared.edits)
    shown = _text(prepared.messages)
    assert source in shown
    assert shown.count("compiling unit " * 80) < number
    assert REQUEST in shown


async def test_everything_a_cut_took_out_is_reachable_and_a_second_look_changes_nothing() -> None:
    governor = await _session()
    for number in range(40):
        await _step(
            governor, number, tool="read", text=f"line {number} " * 300, path=f"f{number}.py"
        )
        prepared = await governor.prepare()
        again = await governor.prepare()
        assert again.edits == ()
        assert again.messages == prepared.messages
    found = await reachable(governor.transcript, prepared.messages)
    assert not found.lost
    assert prepared.tokens <= governor.budget.limit_tokens


async def test_the_users_words_stand_in_front_of_the_digest() -> None:
    governor = await _session()
    for number in range(40):
        await _step(
            governor, number, tool="read", text=f"line {number} " * 300, path=f"f{number}.py"
        )
        prepared = await governor.prepare()
    digests = [at for at, m in enumerate(prepared.messages) if m.origin is Origin.SUMMARY]
    assert prepared.messages[0].text == REQUEST
    assert digests == [1]


async def test_a_word_beside_results_stays_when_the_results_go() -> None:
    governor = await _session()
    said = "never touch the billing table"
    mixed = Message(
        role="user", blocks=(result("c0", "old " * 2_400), *user(said).blocks), origin=Origin.USER
    )
    await governor.add([assistant("", call("read", {"path": "x.py"}, id="c0")), mixed])
    for number in range(1, 40):
        await _step(
            governor, number, tool="read", text=f"line {number} " * 300, path=f"f{number}.py"
        )
        prepared = await governor.prepare()
    shown = [m for m in prepared.messages if said in m.text and m.origin is Origin.USER]
    assert len(shown) == 1
    assert "old " * 600 not in _text(prepared.messages)


async def test_a_small_context_is_left_alone() -> None:
    governor = await _session(200_000)
    for number in range(30):
        await _step(governor, number, tool="bash", text="compiling unit " * 80, command="make")
        assert (await governor.prepare()).edits == ()


async def test_a_fold_of_the_log_gives_the_same_request() -> None:
    governor = await _session()
    for number in range(30):
        await _step(
            governor, number, tool="read", text=f"line {number} " * 300, path=f"f{number}.py"
        )
        await governor.prepare()
    before = governor.view.messages()
    await governor.resume()
    assert [m.text for m in governor.view.messages()] == [m.text for m in before]
    edits = [e async for e in governor.transcript.entries() if isinstance(e, EditEntry)]
    assert edits


async def test_results_that_stood_beside_words_which_stay_are_reachable_once_they_left() -> None:
    governor = await _session()
    parted = False
    for number in range(40):
        text = f"line {number} of the output\n" * 200
        asked = call("read", {"path": f"f{number}.py"}, id=f"c{number}")
        reply = assistant(f"step {number}", asked)
        answer = results(result(f"c{number}", text))
        if number % 5 == 4:
            said = user("but also continue your analysis")
            answer = Message(role="user", blocks=(*answer.blocks, *said.blocks), origin=Origin.USER)
        await governor.add([reply, answer])
        prepared = await governor.prepare()
        ops = [op for edit in prepared.edits for op in edit.ops]
        parted = parted or any(isinstance(op, DropBlocks) for op in ops)
        found = await reachable(governor.transcript, prepared.messages)
        assert found.lost == ()
    assert parted
