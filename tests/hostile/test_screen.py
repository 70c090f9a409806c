"""The screen as a whole: whoever's words are on it, no control sequence reaches the terminal that is not
the program's own, and what a person decides about is seen whole."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from tests.cli.session_fixtures import Ran
from tests.cli.session_fixtures import process as process
from tests.cli.session_fixtures import terminal as terminal
from tests.cli.terminal import Terminal
from tests.hostile.steering import STEERING, steering, unsteered

from wayfare.agent.consent import Question
from wayfare.agent.policy import Policy, ToolUse
from wayfare.cli.printing import plain
from wayfare.cli.screen.lines import lines_of
from wayfare.cli.screen.markdown import rendered
from wayfare.cli.screen.question import always, question_lines, squeezed
from wayfare.cli.screen.spans import Line, ansi_of, joined, line_width, text_of
from wayfare.cli.screen.status import Status, status_line
from wayfare.events import Event

Command = Callable[..., Ran]
Start = Callable[..., Terminal]
Script = Callable[..., str]
COLUMNS: Final = (20, 80, 200)
MOVES: Final = (
    "\x1b[97;97H\x1b[66A\x1b[3J\x1b[?1049h\x1b[5i\x1b[6n\x1b]8;;x\x07\x1b]1337;File=x:y\x07"
)
"""Sequences a line editor never writes itself: far cursor moves, another screen, the printer,
questions the terminal answers by typing, links, files."""
STORM: Final = "e" + "\u0301\u0334\u0e49" * 3_000 + "\u200b" * 3_000
EVIL: Final = f"{STEERING}{MOVES}\rover"
NAME: Final = "".join(char for char in EVIL if char not in "\0/\n")[:80]
"""What a file can be called."""
ENTITIES: Final = "&#x1b;[2J &#27;]52;c;x&#7; &#155;31m &#x202e;txt &#13;over &#x9d;0;t&#x9c;"
_OWN: Final = re.compile(
    r"\x1b\[(?:[\d;]{0,8}[ABCDJKm]|\d{0,2}(?:;\d{1,3})?H|\?(?:7|12|25|2004|1|1000|1003|1006|1015)[hl])"
    r"|\x1b[=>]|(?<!\x08)\x08(?!\x08)"
)
"""What the program writes: moves within its own lines (one column back is a backspace), colours,
wrapping, the cursor, pasting."""


def own_alone(raw: str) -> None:
    """Fails when anything reached a terminal that neither draws nor is the program's own."""
    for sequence in re.findall(r"\x1b\[[0-9;?]*[@-~]|\x1b\][^\x07]*|\x1b[PX^_]", MOVES + STEERING):
        if not re.fullmatch(r"\x1b\[[\d;]*[AJm]", sequence) or sequence in ("\x1b[66A", "\x1b[8m"):
            assert sequence not in raw, sequence
    left = _OWN.sub("", raw).replace("\r", "")
    assert not steering(left), (steering(left), [left[max(left.find("\x1b") - 60, 0) :][:200]])
    assert "\u0301" * 20 not in left


def say(text: str, *calls: dict[str, Any]) -> dict[str, Any]:
    return {"text": text, "tool_use": list(calls)}


def call(name: str, **given: Any) -> dict[str, Any]:
    return {"name": name, "input": given}


@pytest.fixture
def odd(workspace: Path, command: Command, script: Script) -> str:
    """A workspace whose every name and text steers; the name of the newest session in it."""
    (workspace / f"odd{NAME}.txt").write_text(EVIL)
    (workspace / "a.txt").write_text(f"before\n{EVIL}\n{STORM}\nafter\n")
    (workspace / "AGENTS.md").write_text(EVIL)
    ran = command("run", "--yes", "-q", "-m", script(f"Said. {EVIL} {STORM}"), f"Do it. {EVIL}")
    assert ran.status == 0, ran.err
    transcripts = workspace / ".transcripts"
    source = next(transcripts.glob("2*"))
    target = transcripts / "20200101-000000-\x1b[2J\u202e\x9b1m"
    shutil.copytree(source, target)
    log = target / "transcript.jsonl"
    lines = [json.loads(line) for line in log.read_text("utf-8").split("\n")[:-1]]
    for line in lines:
        if line.get("kind") == "mark" and line["name"] in ("model", "turn"):
            line["detail"] = {key: f"{value}{EVIL}" for key, value in line["detail"].items()}
    log.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), "utf-8")
    (target / "notes.md").write_text(f"# Current State\n\nOwned. {EVIL}\n", "utf-8")
    memory = workspace / ".memory"
    memory.mkdir()
    (memory / "MEMORY.md").write_text(f"- [x](spy.md) mirror {EVIL}\n", "utf-8")
    (memory / f"spy{NAME}.md").write_text(f"---\nname: spy {EVIL}\n---\nmirror\n")
    command("trust")
    return target.name


@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize("color", ["always", "never"])
def test_a_session_where_everybody_tries_to_steer_the_terminal(
    terminal: Start, script: Script, workspace: Path, odd: str, columns: int, color: str
) -> None:
    model = script(
        say(f"# {EVIL}\n\n`{EVIL}` **{EVIL}** {ENTITIES}\n\n```{EVIL}\n{EVIL}\n```\n\n{STORM}\n\n"
            f"| {EVIL} | b |\n|---|---|\n| {ENTITIES} | [l](http://x/%1b%5b2J \"{EVIL}\") |\n",
            call("read_file", path="a.txt"), call("glob", pattern="*"),
            call(f"no{EVIL}", **{EVIL: EVIL})),
        say("Asking.", call("bash", command=f"cat a.txt >b; printf '\\033]0;t\\007\\233' # {NAME}")),
        say("Writing.", call("write_file", path=f"n{NAME}", content=EVIL + STORM)),
        "All done.",
        "Really done.",
    )  # fmt: skip
    screen = terminal("-m", model, "--set", f"terminal.color={color}", "--set",
                      "terminal.bell=false", columns=columns, rows=40)  # fmt: skip
    screen.wait_for("›")
    screen.type("go\r")
    screen.wait_for("y yes")
    screen.type("y")
    screen.wait_for("Writing.", "y yes")
    screen.type("n")
    screen.wait_for("All done.")
    for page in ("/context", "/notes", "/memory", "/permissions", "/model", "/resume"):
        screen.type(f"{page}\r")
    screen.wait_for("go on with one")
    screen.type("look at @od")
    screen.wait_for("odd")
    screen.type("\t")
    screen.type("\x03")
    screen.type("/resume 2020\t")
    screen.type("\x03")
    screen.type("\x1b[200~pasted \u202etxt\u2066 \x9b31m\x85 end\x1b[201~")
    screen.wait_for("pasted")
    screen.type("\x03")
    screen.type("/resume 20200101\r")
    screen.wait_for("Do it.")
    screen.type("/context\r/notes\r")
    screen.wait_for("Owned.")
    screen.type("/nothing\r")
    screen.wait_for("/nothing is no")
    screen.type("q\r")
    screen.wait_for_end()
    own_alone(screen.raw)


@pytest.mark.parametrize("columns", COLUMNS)
def test_a_shipped_workspace_is_asked_about_and_resumed_without_being_steered_by_it(
    terminal: Start, script: Script, workspace: Path, command: Command, odd: str, columns: int
) -> None:
    command("trust", "--forget")
    screen = terminal("resume", odd, "-m", script("Went on."), "--set", "terminal.bell=false",
                      columns=columns)  # fmt: skip
    screen.wait_for("Do you trust")
    screen.type("n\r")
    screen.wait_for("Do it.", "›")
    screen.type("go on\r")
    screen.wait_for("Went on.")
    # A line, not Ctrl-D: what is drawn above the prompt takes the terminal for a moment, and a
    # terminal's own line editing then swallows that key.
    screen.type("q\r")
    screen.wait_for_end()
    own_alone(screen.raw)


def test_lines_for_a_pipe_steer_nothing(
    process: Callable[..., Ran], script: Script, workspace: Path, odd: str
) -> None:
    model = script(say(EVIL, call("bash", command=EVIL), call(EVIL, **{EVIL: EVIL})), "x", "x", "x")
    ran = process("-m", model, stdin=f"go {EVIL}\n/context\n/memory\n/resume\n/notes\n{EVIL}\nq\n")
    unsteered(ran.out.replace("\r", ""))
    unsteered(ran.err)


# What a person decides about.


def bash(command: str) -> ToolUse:
    return ToolUse(name="bash", input={"command": command}, command=command)


def asked(use: ToolUse, columns: int = 80, rows: int = 24, reason: str = "it writes") -> list[str]:
    rules = always(use, Policy(workspace=Path("/project")))
    lines = question_lines(Question(use=use, reason=reason), rules, columns, rows)
    assert all(line_width(line) <= columns for line in lines), columns
    shown = joined(lines, color=False)
    unsteered(shown)
    own_alone("".join(map(ansi_of, lines)))
    return [text_of(line) for line in lines]


HIDING: Final = {
    "a title": "echo hi \x1b]0; ; rm -rf ~ #",
    "a title with an end": "echo hi \x1b]0; ; rm -rf ~ #\x07 ok",
    "a device string": "echo hi \x1bP ; rm -rf ~ #",
    "a long sequence": "echo hi \x1b[ ; rm -rf ~ #m",
    "a privacy message": "echo hi \x1b^ ; rm -rf ~ #\x1b\\",
    "one character": "echo hi \x9b;;; rm -rf ~ #m",
    "a carriage return": "rm -rf ~ #\recho hi",
    "a line end": "rm -rf ~\r\necho hi",
    "backspaces": "rm -rf ~ #" + "\b" * 40 + "echo hi",
    "another direction": "echo hi \u202e; rm -rf ~ \u202c",
    "blanks": "echo hi" + " " * 5_000 + "; rm -rf ~",
    "tabs": "echo hi" + "\t" * 900 + "; rm -rf ~",
    "lines": "echo hi\n" + "\n" * 300 + "rm -rf ~",
    "marks": "echo hi" + "\u0301" * 5_000 + "; rm -rf ~",
    "nothing": "echo hi" + "\u200b" * 5_000 + "; rm -rf ~",
    "many words": "echo " + "hi " * 3_000 + "; rm -rf ~",
}
"""Commands that would be read as `echo hi` if anything of them went unseen."""


@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize("how", HIDING)
def test_no_part_of_a_command_is_hidden_from_who_decides(how: str, columns: int) -> None:
    shown = asked(bash(HIDING[how]), columns)
    assert shown[0].startswith("? bash")
    assert "rm -rf ~" in " ".join(line.strip() for line in shown)
    assert any("y yes" in line for line in shown)


@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize("rows", [10, 24, 60])
def test_neither_reason_nor_rules_push_the_command_out_of_sight(columns: int, rows: int) -> None:
    many = " && ".join(f"tool{n} x" for n in range(300))
    shown = asked(bash(f"rm -rf ~ && {many}"), columns, rows, reason="because " * 4_000)
    assert "rm -rf ~" in shown[1]
    assert not any("always" in line for line in shown)
    lines: list[Line] = [(("", line),) for line in shown]
    kept = [text_of(line) for line in squeezed(lines, max(rows - 5, 4))]
    assert len(kept) <= max(rows - 5, 4)
    assert "bash" in kept[0]
    assert "rm -rf ~" in kept[1]
    assert "y yes" in kept[-1]


@pytest.mark.parametrize("columns", COLUMNS)
def test_arguments_are_seen_whole_however_they_are_written(columns: int) -> None:
    evil = "../../home/me/.bashrc"
    given = {
        "path": f"{evil}\rREADME.md",
        "far": f"{'a/' * 60}{evil}",
        "title": f"x\x1b]0;{evil}",
        f"name\x1b]0; {evil}": "x",
        "wide": "\u4e2d" * 300 + evil,
        "list": [evil, EVIL],
    }
    for name, value in given.items():
        shown = asked(ToolUse(name="write_file", input={name: value}), columns, rows=60)
        together = "".join(line.strip() for line in shown)
        assert evil in together or evil in together.replace("…", "") or name.startswith("name")
    shown = asked(ToolUse(name=f"t{EVIL}", input={f"n{n}": "x" * 300 for n in range(400)}), columns)
    assert len(shown) <= 24
    assert any("more lines" in line for line in shown)


@pytest.mark.parametrize("pair", ["git\u200bstatus", "rm\u2060 x", "ls\ufeff", "a\u00adb", "a\u3164b",
                                  "a\U000e0041b"])  # fmt: skip
def test_what_cannot_be_seen_is_shown_as_a_mark(pair: str) -> None:
    assert "\ufffd" in "".join(asked(bash(pair)))


@pytest.mark.parametrize("columns", COLUMNS)
def test_a_line_of_a_call_names_all_of_its_argument(columns: int) -> None:
    event = Event(name="tool.ended", text="ok", fields={
        "tool": "bash", "main": "rm -rf ~ #\recho hi", "call_id": "1", "is_error": False,
        "seconds": 0.0, "chars": 1})  # fmt: skip
    (line,) = lines_of(event, columns)
    assert "rm" in text_of(line)
    own_alone(ansi_of(line))


# The seams where texts become what is written.


@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize("color", [True, False])
def test_markdown_makes_no_characters_that_steer(columns: int, color: bool) -> None:
    every = "".join(
        f"&#{code}; " for code in (*range(32), *range(127, 160), 0x202E, 0x2066, 0x200F)
    )
    for text in (
        every, ENTITIES, f"[{EVIL}]({EVIL})", f"![{ENTITIES}]({EVIL})", f"<{EVIL}>", f"> {every}",
        f"```{ENTITIES}\n{EVIL}\n```", f"# {every}", f"| {every} |\n|---|\n| {EVIL} |", STORM,
        "> " * 300 + "x", "- " * 300 + "x", "*" * 5_000, "[" * 3_000, "`" * 3_000,
    ):  # fmt: skip
        made = rendered(text, columns, color=color)
        left = re.sub(r"\x1b\[[\d;]*m", "", made)
        assert not steering(left), text[:80]


@pytest.mark.parametrize("columns", COLUMNS)
def test_no_span_of_a_line_steers_whoever_made_it(columns: int) -> None:
    own_alone(joined([(("bold", EVIL), ("", EVIL), ("dim", "a\nb\tc"))], color=True))
    assert joined([(("", "a\nb"),)], color=False).count("\n") == 1
    line = status_line(Status(model=EVIL, mode=EVIL), columns, note=EVIL)
    own_alone(ansi_of(line))


def test_marks_are_heaped_as_high_as_a_script_needs_and_no_higher() -> None:
    for word in ("Việt Nam", "ཧྐྵྨླྺྼྻྂ", "นํ้า", "שָׁלוֹם", "é", "👩‍👩‍👧‍👦", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "❤️"):
        assert plain(word) == word
    assert len(plain(STORM)) < 20
