"""The session on a terminal, driven by keys, seen as a picture."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.cli.terminal import Terminal

from wayfare.cli.screen.slash import COMMANDS

Start = Callable[..., Terminal]
Script = Callable[..., str]

READ = {"name": "read_file", "input": {"path": "a.txt"}}
SLEEP = {"name": "bash", "input": {"command": "sleep 30"}}


def touch(name: str) -> dict[str, Any]:
    """A call that makes a file."""
    return {"name": "bash", "input": {"command": f"touch {name}"}}


TOUCH = touch("made.txt")


def say(text: str = "", *calls: dict[str, Any]) -> dict[str, Any]:
    """A reply of a script."""
    return {"text": text, "tool_use": list(calls)}


def settled(screen: Terminal) -> None:
    """Wait until no turn runs: then the status begins its line, and no time stands before it."""
    screen.wait_for("\nscripted:../script.json · ")


def test_a_turn_is_drawn_with_its_tools_and_the_status(
    terminal: Start, script: Script, workspace: Path
) -> None:
    (workspace / "a.txt").write_text("hello\n")
    model = script(say("I will look.", READ), "# Found\n\nIt says **hello**.\n\n- one\n- two\n")
    screen = terminal("-m", model)
    screen.wait_for("wayfare ", "/help for commands", "0% · ask", "›")
    screen.type("what is in a.txt?\r")
    text = screen.wait_for("› what is in a.txt?", "I will look.", "✓ read_file a.txt", "• two")
    assert "It says hello." in text
    assert text.index("I will look.") < text.index("✓ read_file") < text.index("Found")
    text = screen.wait_for("% of 200k")
    assert re.search(r"script\.json · █░{9} \d% of 200k · cache 0% · ask", text)
    screen.type("q\r")
    assert screen.wait_for_end() == 0
    session = next((workspace / ".transcripts").glob("2*")).name
    assert f"go on with: wayfare resume {session}" in screen.picture.text


def test_leaving_without_a_word_leaves_nothing_behind(
    terminal: Start, script: Script, workspace: Path
) -> None:
    screen = terminal("-m", script())
    screen.wait_for("›")
    screen.type("\x04")
    assert screen.wait_for_end() == 0
    assert list(workspace.iterdir()) == []


def test_permission_is_asked_and_no_means_no(
    terminal: Start, script: Script, workspace: Path
) -> None:
    model = script(
        say("", TOUCH),
        say("", touch("second.txt")),
        say("", touch("third.txt")),
        "Done.",
        "Really.",
    )
    screen = terminal("-m", model)
    screen.wait_for("›")
    screen.type("touch it\r")
    text = screen.wait_for("? bash", "touch made.txt", "y yes  n no")
    assert "a always in this session: bash(touch:*)" in text
    screen.type("x\r")  # neither another letter nor Enter answers
    screen.type("n")
    screen.wait_for("said no to bash", "✗ bash touch made.txt  denied: the person said no")
    assert not (workspace / "made.txt").exists()
    screen.wait_for("  touch second.txt", "y yes")
    screen.type("a")
    screen.wait_for("allowed in this session: bash(touch:*)", "✓ bash touch third.txt")
    assert (workspace / "second.txt").exists()
    screen.type("/permissions\r")
    screen.wait_for("allow bash(touch:*) (session)")
    screen.type("/permissions read\r")
    screen.wait_for("the mode is read-only", "· read-only")


def test_ctrl_c_interrupts_gives_back_what_was_queued_and_leaves_when_pressed_twice(
    terminal: Start, script: Script
) -> None:
    screen = terminal("-m", script(say("Waiting.", SLEEP), "Went on."), "--yes")
    screen.wait_for("›")
    screen.type("wait\r")
    screen.wait_for("Waiting.", "bash sleep 30")
    screen.type("and then this\r")
    screen.wait_for("queued: › and then this")
    screen.type("\x03")
    screen.wait_for("interrupted; say “continue” to go on", "\n› and then this")
    screen.type("\x03")  # empties the line
    screen.wait_until_gone("\n› and then this")
    screen.type("\x03")
    screen.wait_for("Ctrl-C again leaves")
    screen.type("\x03")
    assert screen.wait_for_end() == 0


def test_ctrl_c_answers_a_question_by_ending_the_turn(
    terminal: Start, script: Script, workspace: Path
) -> None:
    screen = terminal("-m", script(say("", TOUCH), "Never said."))
    screen.wait_for("›")
    screen.type("touch it\r")
    screen.wait_for("y yes  n no")
    screen.type("\x03")
    screen.wait_for("interrupted; say “continue” to go on", "\n›")
    assert not (workspace / "made.txt").exists()
    assert "Never said." not in screen.picture.text


def test_a_terminal_made_narrower_is_drawn_anew(terminal: Start, script: Script) -> None:
    screen = terminal("-m", script("First.", "Second " + "word " * 30), COLUMNS="80")
    screen.wait_for("›")
    screen.resize(40, 24)
    screen.type("go\r")
    screen.wait_for("First.")
    screen.type("more\r")
    text = screen.wait_for("Second word word word word word word\n")
    assert max(len(line) for line in text.splitlines()[3:]) <= 40


def test_words_typed_meanwhile_reach_the_same_turn(terminal: Start, script: Script) -> None:
    short = {"name": "bash", "input": {"command": "while [ ! -e go ]; do sleep 0.05; done"}}
    screen = terminal("-m", script(say("Waiting.", short), "Heard both."), "--yes")
    screen.wait_for("›")
    screen.type("wait\r")
    screen.wait_for("while [ ! -e go ]")
    screen.type("one more thing\r")
    screen.wait_for("queued: › one more thing")
    Path("go").touch()
    screen.wait_for("Heard both.")
    log = next(Path(".transcripts").glob("2*/transcript.jsonl")).read_text()
    assert log.index("tool_result") < log.index("one more thing") < log.index("Heard both.")


def test_lines_are_made_with_alt_enter_a_backslash_and_a_paste(
    terminal: Start, script: Script
) -> None:
    screen = terminal("-m", script("Got it."))
    screen.wait_for("›")
    screen.type("first\x1b\rsecond\\\r\x1b[200~third\nfourth\x1b[201~\r")
    screen.wait_for("› first\n  second\n  third\n  fourth\n", "Got it.")
    log = next(Path(".transcripts").glob("2*/transcript.jsonl")).read_text()
    assert r'"first\nsecond\nthird\nfourth"' in log


def test_slash_commands_complete_and_a_slip_is_not_sent(terminal: Start, script: Script) -> None:
    screen = terminal("-m", script("Never said."))
    screen.wait_for("›")
    screen.type("/co")
    screen.wait_for("/compact [FOCUS]", "/context")
    screen.type("\x03/hepl\r")
    screen.wait_for("/hepl is no command; did you mean /help?")
    screen.type("/help\r")
    text = screen.wait_for("/quit", "Ctrl-R")
    assert all(f"/{one.name}" in text for one in COMMANDS)
    screen.type("/context\r/compact\r/notes\r/memory\r")
    screen.wait_for("nothing yet", "nothing is remembered in this workspace yet")
    assert "Never said." not in screen.picture.text


def test_files_complete_after_an_at_sign(terminal: Start, script: Script, workspace: Path) -> None:
    (workspace / "src").mkdir()
    (workspace / "src" / "parser.py").touch()
    (workspace / "src" / "printer.py").touch()
    screen = terminal("-m", script("Read."))
    screen.wait_for("›")
    screen.type("look at @pars")
    screen.wait_for("src/parser.py")
    screen.type("\t")
    screen.wait_for("› look at @src/parser.py")
    assert "printer" not in screen.picture.text


def test_clear_begins_anew_and_resume_goes_back(terminal: Start, script: Script) -> None:
    screen = terminal("-m", script("First answer.", "Second answer.", "Third answer."))
    screen.wait_for("›")
    screen.type("first words\r")
    screen.wait_for("First answer.")
    first = next(Path(".transcripts").glob("2*")).name
    screen.type("/clear\r")
    screen.wait_for("a fresh session")
    screen.type("second words\r")
    screen.wait_for("Second answer.")
    screen.type("/resume\r")
    screen.wait_for(first, "go on with one: /resume SESSION")
    screen.type(f"/resume {first}\r")
    screen.wait_for(f"session {first}, 2 messages")
    screen.type("third words\r")
    screen.wait_for("Third answer.")
    log = (Path(".transcripts") / first / "transcript.jsonl").read_text()
    assert "Third answer." in log
    assert "Second answer." not in log
    assert len(list(Path(".transcripts").glob("2*"))) == 2


def test_resume_shows_where_it_stood_and_goes_on_with_an_open_turn(
    terminal: Start, script: Script, workspace: Path
) -> None:
    model = script(say("Waiting.", SLEEP), "Went on to the end.")
    screen = terminal("-m", model, "--yes")
    screen.wait_for("›")
    screen.type("a long task\r")
    screen.wait_for("bash sleep 30")
    screen.type("\x03\x03")
    assert screen.wait_for_end() == 0
    again = terminal("resume", "-m", script("Went on to the end."), "--yes")
    again.wait_for("› a long task", "its last turn did not end (interrupted)")
    again.type("continue\r")
    again.wait_for("Went on to the end.")
    log = next(Path(".transcripts").glob("2*/transcript.jsonl")).read_text()
    assert '"continue"' not in log


def test_compact_and_undo_say_what_they_did(terminal: Start, script: Script) -> None:
    long = "word " * 3_000
    model = script(*[f"Answer {n}. {long}" for n in range(3)], "Last.")
    screen = terminal("-m", model, "--set", "context.tail_share=0.02", rows=200)
    screen.wait_for("›")
    for n in range(3):
        screen.type(f"question {n}\r")
        screen.wait_for(f"Answer {n}.")
        settled(screen)
    screen.type("/compact the parser\r")
    screen.wait_for("▾ compact", "tokens")
    screen.type("/undo\r")
    screen.wait_for("taken back: ")
    screen.type("/undo\r")
    screen.wait_for("✗ no edit to undo")


def test_a_compaction_that_takes_long_says_so_and_can_be_interrupted(
    terminal: Start, script: Script
) -> None:
    long = "word " * 3_000
    slow = {"text": "A summary nobody waits for.", "delay_seconds": 60}
    model = script(*[f"Answer {n}. {long}" for n in range(3)], slow, "Still here.")
    screen = terminal(
        *("-m", model, "--set", "context.tail_share=0.02"),
        rows=200,
        WAYFARE_CONTEXT_SUMMARIES="true",
    )
    screen.wait_for("›")
    for n in range(3):
        screen.type(f"question {n}\r")
        screen.wait_for(f"Answer {n}.")
        settled(screen)
    screen.type("/compact\r")
    screen.wait_for(" compacting · ")
    screen.type("\x03")
    screen.wait_for("not compacted: interrupted")
    screen.type("and now\r")
    screen.wait_for("Still here.")


def test_notes_are_shown_even_before_a_model_wrote_any(terminal: Start, script: Script) -> None:
    screen = terminal("-m", script("Noted."))
    screen.wait_for("›")
    screen.type("remember the milk\r")
    screen.wait_for("Noted.")
    screen.type("/notes\r")
    screen.wait_for("no notes yet; made from the log")


def test_the_model_can_be_asked_for_and_changed(
    terminal: Start, script: Script, tmp_path: Path
) -> None:
    (tmp_path / "other.json").write_text('["From the other one."]')
    screen = terminal("-m", script("From the first."))
    screen.wait_for("›")
    screen.type("one\r")
    screen.wait_for("From the first.")
    screen.type("/model\r")
    screen.wait_for("scripted:../script.json: window 200,000 tokens")
    screen.type("/model scripted:../missing.json\r")
    screen.wait_for("✗ no script at ../missing.json")
    screen.type("/model scripted:../other.json\r")
    screen.wait_for("the model is scripted:../other.json")
    screen.type("two\r")
    screen.wait_for("From the other one.")


def test_twenty_columns_are_enough(terminal: Start, script: Script, workspace: Path) -> None:
    """Nothing wraps by itself: every line was cut or broken to fit."""
    (workspace / "a.txt").write_text("hello\n")
    model = script(
        say("I will look at the file and then say what is in it.", READ, TOUCH),
        "It says **hello** and 中文字符也在这里 and nothing else at all.\n",
    )
    screen = terminal("-m", model, columns=20, rows=24)
    screen.wait_for("›")
    screen.type("what is in it?\r")
    screen.wait_for("✓ read_file a.txt", "y yes  n no")
    screen.type("y")
    screen.wait_for("else at all.")
    assert screen.picture.wrapped == 0
    assert all(len(line) <= 20 for line in screen.picture.text.splitlines())
    screen.type("q\r")
    assert screen.wait_for_end() == 0


def test_control_codes_of_models_and_tools_do_nothing(terminal: Start, script: Script) -> None:
    evil = "\x1b[31mred\x1b[0m \x1b]0;owned\x07\x1b[2J\x1b[10A\x9b31m\u202etxt"
    command = {
        "name": "bash",
        "input": {"command": r"printf '\033[2J\033]0;owned\007bad\n'; false"},
    }
    screen = terminal("-m", script(say(evil, command), evil, evil), "--yes")
    screen.wait_for("›")
    screen.type("go\r")
    screen.wait_for("red ", "✗ bash printf")
    screen.type("q\r")
    screen.wait_for_end()
    assert "\x1b]0;owned" not in screen.raw
    assert "\x1b[2J" not in screen.raw
    assert "\x1b[10A" not in screen.raw
    assert "\x1b[31mred" not in screen.raw
    assert "\u202e" not in screen.raw


def test_no_color_shows_no_colours_and_markdown_as_it_is(terminal: Start, script: Script) -> None:
    screen = terminal("-m", script("It says **hello**."), NO_COLOR="1")
    screen.wait_for("›")
    screen.type("go\r")
    screen.wait_for("It says **hello**.")
    screen.type("q\r")
    assert screen.wait_for_end() == 0
    assert not re.findall(r"\x1b\[(?:[0-9]+;)*(?:3[0-9]|4[0-9]|9[0-7])m", screen.raw)


def test_a_dumb_terminal_gets_lines_without_a_single_code(
    terminal: Start, script: Script, workspace: Path
) -> None:
    model = script(say("Touching.", TOUCH), "It says **hello**.")
    screen = terminal("-m", model, TERM="dumb")
    screen.wait_for("›")
    screen.type("go\n")
    screen.wait_for("? bash", "y yes")
    screen.type("y\n")
    screen.wait_for("✓ bash touch made.txt", "It says **hello**.")
    screen.type("q\n")
    assert screen.wait_for_end() == 0
    assert "\x1b" not in screen.raw
    assert (workspace / "made.txt").exists()


def test_a_model_that_cannot_be_reached_is_told_and_the_session_goes_on(
    terminal: Start, script: Script
) -> None:
    screen = terminal(
        *("-m", "openai-chat:x", "--set", "model.base_url=http://127.0.0.1:9/v1"),
        *("--set", "retry.attempts=1"),
    )
    screen.wait_for("›")
    screen.type("hello\r")
    screen.wait_for("✗ openai-chat:x: cannot connect to http://127.0.0.1:9")
    screen.type(f"/model {script('Here I am.')}\r")
    screen.wait_for("the model is scripted")
    screen.type("again\r")
    screen.wait_for("Here I am.")


def test_a_workspace_that_brings_hooks_is_asked_about_once(
    terminal: Start, script: Script, workspace: Path
) -> None:
    (workspace / "wayfare.toml").write_text(
        '[[hooks]]\nevent = "SessionStart"\ncommand = "touch ../started"\n'
        '[[hooks]]\nevent = "UserPromptSubmit"\ncommand = "touch ../hooked"\n'
    )
    first = terminal("-m", script("One."))
    first.wait_for("brings settings and hooks and is not trusted", "Do you trust it? [y/N]")
    first.type("n\r")
    first.wait_for("›")
    first.type("hello\r")
    first.wait_for("One.")
    assert not (workspace.parent / "hooked").exists()
    second = terminal("-m", script("Two."))
    second.wait_for("Do you trust it? [y/N]")
    second.type("y\r")
    second.wait_for("›")
    second.type("hello\r")
    second.wait_for("Two.")
    assert (workspace.parent / "hooked").exists()
    second.type("q\r")
    assert second.wait_for_end() == 0
    third = terminal("-m", script("Three."))
    third.wait_for("›")
    assert "trust" not in third.picture.text
