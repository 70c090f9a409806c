"""Must-keep facts: which there are, and who finds room where there is little."""

from __future__ import annotations

from tests.unit.context.governed_session import RULE

from wayfare.context.facts import Ledger
from wayfare.context.must_keep import listed, must_keep
from wayfare.messages import Message, assistant, call, result, results, user
from wayfare.transcript import Entered


def ledger_of(*messages: Message) -> Ledger:
    ledger = Ledger()
    for at, message in enumerate(messages, 1):
        ledger.add(Entered(id=at, time=0.0, message=message))
    return ledger


def test_a_cure_said_after_an_error_and_a_choice_after_a_question_are_kept() -> None:
    ledger = ledger_of(
        user("Build it."),
        assistant("", call("bash", {"command": "make"}, id="c1")),
        results(result("c1", "E42: stale lock", is_error=True)),
        assistant("Deleting build.lock made it build. Let me go on."),
        user("Which queue do we take?"),
        assistant("The one in Postgres."),
        user("Go on."),
        assistant("Nothing of note is said here."),
    )
    kept = [fact.probe for fact in must_keep(ledger) if fact.kind == "conclusion"]
    assert kept == ["The one in Postgres.", "Deleting build.lock made it build."]


def test_what_is_only_announced_after_an_error_is_no_conclusion() -> None:
    ledger = ledger_of(
        user("Build it."),
        assistant("", call("bash", {"command": "make"}, id="c1")),
        results(result("c1", "E42: stale lock", is_error=True)),
        assistant("Let me look at the lock."),
        assistant("The lock is from yesterday."),
    )
    assert not [fact for fact in must_keep(ledger) if fact.kind == "conclusion"]


def test_talk_pasted_text_and_bare_exit_codes_find_room_after_the_rest() -> None:
    ledger = ledger_of(
        user("hm, we need to look at that one day"),
        user("Never push to main."),
        user("The port is 8443."),
        user("at run (/srv/app/theme.ts:213:9)"),
        assistant("", call("bash", {"command": "grep x"}, id="c1")),
        results(result("c1", "Command exited with code 1", is_error=True)),
    )
    facts = must_keep(ledger)
    first = {fact.probe for fact in facts if not fact.later}
    assert {"Never push to main.", "8443"} <= first
    assert "213" not in first
    assert "Command exited with code 1" not in first
    room = sum(len(fact.text) + 8 for fact in facts if not fact.later) + 90
    text, taken = listed(facts, room_chars=room)
    assert {fact for fact in facts if not fact.later} <= set(taken)
    assert "hm, we need" not in text


def test_room_one_kind_leaves_goes_to_the_others_and_is_never_overrun() -> None:
    asks = [user(f"Never touch module_{at}.") for at in range(60)]
    facts = must_keep(ledger_of(*asks))
    for room in (0, 40, 400, 1_000, 10_000):
        text, taken = listed(facts, room_chars=room)
        assert len(text) <= room
        assert len(taken) == len([line for line in text.splitlines() if line.startswith("- ")])
    assert len(taken) == len(facts)


def test_a_rule_in_words_nobody_foresaw_is_kept_before_talk_and_questions_are_not() -> None:
    said = [RULE, "Two reviewers sign off each change to billing.", "ok, go on with that then"]
    ledger = ledger_of(*map(user, [*said, "Which of them is faster?", "Go on."]))
    rules = [fact for fact in must_keep(ledger) if fact.kind == "rule"]
    assert [fact.probe for fact in rules] == said
    assert [fact.later for fact in rules] == [False, False, True]
    again = Ledger.restored(ledger.saved())
    assert must_keep(again) == must_keep(ledger)


def test_what_the_user_typed_is_not_crowded_out_by_a_pasted_document() -> None:
    typed = ["Hands off lib/third_party, please.", "Two reviewers sign off each change to billing."]
    lines = [f"- Use the table of section {at} to keep rows in order" for at in range(80)]
    document = "\n".join(["# When to use it", "## Rules:", *lines, "Never skip the last section."])
    ledger = ledger_of(*map(user, typed), user(document), user("Always sign commits."))
    facts = must_keep(ledger)
    _, taken = listed(facts, room_chars=400)
    kept = [fact.probe for fact in taken]
    assert kept[:4] == ["Always sign commits.", "Never skip the last section.", *reversed(typed)]
    assert "When to use it" not in " ".join(fact.text for fact in facts)


def test_rules_of_a_pasted_document_push_no_typed_rule_out_of_the_ledger() -> None:
    document = "\n".join(f"- Never touch table {at} of the schema" for at in range(140))
    later = document.replace("table", "view")
    ledger = ledger_of(user("Never push to main."), user(document), user(later))
    assert "Never push to main." in [fact.probe for fact in must_keep(ledger)]
