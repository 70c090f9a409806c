"""The nine headings, whatever a reply does to them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from wayfare.context.facts import Ledger
from wayfare.messages import assistant, call, result, results, user
from wayfare.notes.seed import last_work, seeded
from wayfare.notes.template import ERRORS, HEADINGS, covers, merged, parsed, rendered, without_empty
from wayfare.transcript import Entered


def words(text: str) -> int:
    return len(text.split())


def test_a_file_has_all_headings_in_their_order_and_reads_back() -> None:
    text = rendered({"Worklog": "- one", "Current State": "at work"}, 41)
    assert [line[2:] for line in text.splitlines() if line.startswith("# ")] == list(HEADINGS)
    assert covers(text) == 41
    assert parsed(text)["Worklog"] == "- one"
    assert without_empty(text) == "# Current State\nat work\n# Worklog\n- one"


def test_headings_of_other_forms_are_known() -> None:
    found = parsed(
        "## current state\na\n**Errors and Corrections**\nb\n### FILES AND FUNCTIONS:\nc"
    )
    assert found["Current State"] == "a"
    assert found[ERRORS].startswith("b")


@given(st.lists(st.sampled_from((*HEADINGS, "Invented", "")), max_size=12), st.text(max_size=40))
def test_no_reply_breaks_the_headings(titles: list[str], body: str) -> None:
    reply = "\n".join(f"# {title}\n{body}" for title in titles)
    made = merged({ERRORS: "- E42: cured"}, parsed(reply), count=words, most_tokens=900)
    text = rendered(made, 7)
    assert tuple(parsed(text)) == HEADINGS
    assert "- E42: cured" in parsed(text)[ERRORS]


def test_an_update_replaces_its_sections_and_leaves_the_others() -> None:
    old = {"Current State": "old", "Learnings": "keep", ERRORS: "- first"}
    made = merged(old, {"Current State": "new", ERRORS: "- second"}, count=words, most_tokens=900)
    assert made["Current State"] == "new"
    assert made["Learnings"] == "keep"
    assert made[ERRORS] == "- first\n- second"


def test_a_section_is_held_to_its_budget_but_errors_are_not() -> None:
    long = "\n".join(f"- line {number} with five words" for number in range(400))
    made = merged(
        {}, {"Worklog": long, "Learnings": long, ERRORS: long}, count=words, most_tokens=900
    )
    assert words(made["Worklog"]) <= 100
    assert "line 399" in made["Worklog"]
    assert "line 0 " in made["Learnings"]
    assert made[ERRORS].count("\n") == 399


def ledger(failed: bool) -> Ledger:
    made = Ledger()
    messages = [
        user("Fix the build."),
        assistant("", call("bash", {"command": "make"}, id="c1")),
        results(result("c1", "E42: no rule\nexit code: 2", is_error=True)),
        assistant("The root cause was a stale lock file."),
    ]
    if not failed:
        messages += [
            assistant("", call("bash", {"command": "make"}, id="c2")),
            results(result("c2", "built")),
        ]
    for number, message in enumerate(messages, 1):
        made.add(Entered(id=number, time=0.0, message=message))
    return made


def test_code_alone_keeps_errors_results_and_worklog_current() -> None:
    first = seeded({}, ledger(failed=True), count=words, most_tokens=2_000)
    assert "stands: bash make: E42" in first[ERRORS]
    assert "stale lock file" in first[ERRORS]
    assert "make: failed" in first["Key results"]
    assert '#1 "Fix the build."' in first["Worklog"]
    assert '"Fix the build."' in first["Task specification"]
    second = seeded(first, ledger(failed=False), count=words, most_tokens=2_000)
    assert "cured: bash make: E42" in second[ERRORS]
    assert "make: ok" in second["Key results"]
    assert second["Worklog"].count("Fix the build") == 1


def test_errors_known_cured_leave_first_and_their_section_stays_bounded() -> None:
    sections: dict[str, str] = {ERRORS: "- written by hand: never touch the lock"}
    made = Ledger()
    for number in range(1, 2_000, 2):
        tried = call("bash", {"command": f"make {number}"}, id=f"c{number}")
        failed = result(f"c{number}", f"E{number}: no rule\nexit code: 2", is_error=True)
        made.add(Entered(id=number, time=0.0, message=assistant("", tried)))
        made.add(Entered(id=number + 1, time=0.0, message=results(failed)))
        if number % 99 == 0:
            sections = seeded(sections, made, count=words, most_tokens=9_000)
    sections = seeded(sections, made, count=words, most_tokens=9_000)
    lines = sections[ERRORS].splitlines()
    assert words(sections[ERRORS]) <= 1_000
    assert lines[0] == "- written by hand: never touch the lock"
    stand = [line for line in lines if line.startswith("- stands: ")]
    assert len(stand) == len(made.errors), "what stands is not what leaves"
    cured = [line for line in lines if line.startswith("- cured: ")]
    assert cured, "the latest stay while there is room"
    assert cured == sorted(cured, key=lambda line: int(line.rpartition("#")[2].rstrip(")")))


@given(st.lists(st.text(min_size=1, max_size=300), max_size=60))
def test_errors_that_nobody_knows_cured_are_bounded_too(written: list[str]) -> None:
    sections = {ERRORS: "\n".join(written)}
    for _ in range(3):
        sections = seeded(sections, Ledger(), count=len, most_tokens=900)
        assert len(sections[ERRORS]) <= 3 * 100


def test_last_work_is_one_line() -> None:
    text = last_work(ledger(failed=True))
    assert "\n" not in text
    assert "last command: make (failed)" in text
