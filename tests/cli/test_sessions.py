"""`wayfare sessions` and `resume`, the options of a session, help and completion."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.session_fixtures import Ran
from tests.cli.starting import command_line, environment

from wayfare.cli.options import behind_the_command, plain_options

Command = Callable[..., Ran]
Script = Callable[..., str]

COMMANDS = (
    "run", "resume", "sessions", "config", "doctor", "trust", "local", "replay", "context", "why",
    "show",
)  # fmt: skip


def test_sessions_are_listed_with_time_first_words_size_and_model(
    command: Command, script: Script
) -> None:
    assert "no sessions in" in command("sessions").out
    command("run", "-m", script("One."), "the first task\nwith a second line")
    limited = ("--set", "limits.steps_per_turn=0")
    command("run", *limited, "-m", script("Two."), "the \x1b[31msecond\x1b[0m task")
    value = json.loads(command("sessions", "--json").out)
    assert [one["first_words"] for one in value] == [
        "the second task", "the first task with a second line",
    ]  # fmt: skip
    second, first = value
    assert (first["model"], first["messages"], first["ended"]) == (
        "scripted:../script.json", 2, "done",
    )  # fmt: skip
    assert first["context_tokens"] > 0
    assert second["ended"] == "steps_per_turn"
    text = command("sessions").out
    assert text.index(second["session"]) < text.index(first["session"])
    assert "    the first task with a second line\n" in text
    assert "steps_per_turn" in text
    assert "\x1b" not in text


def test_only_the_newest_are_listed_unless_all_are_wanted(
    command: Command, script: Script, workspace: Path
) -> None:
    command("run", "-m", script("One."), "a task")
    whole = next((workspace / ".transcripts").glob("2*"))
    for number in range(25):
        copy = workspace / ".transcripts" / f"copy-{number:02}"
        copy.mkdir()
        (copy / "transcript.jsonl").write_bytes((whole / "transcript.jsonl").read_bytes())
    text = command("sessions").out
    assert text.count("a task") == 20
    assert "and 6 older ones: wayfare sessions --all" in text
    assert command("sessions", "--all").out.count("a task") == 26


def test_resume_without_a_session_says_so(command: Command) -> None:
    ran = command("resume", "-m", "openai-chat:x")
    assert ran.status == 1
    assert "no session under" in ran.err


def test_lines_from_a_pipe_are_turns(process: Command, script: Script) -> None:
    model = script("First.", "Second **answer**.")
    ran = process("-m", model, stdin="one\n/nope\ntwo\nq\nnever\n")
    assert ran.status == 0
    assert ran.out.index("First.") < ran.out.index("/nope is no") < ran.out.index("Second **")
    assert "never" not in ran.out
    assert "\x1b" not in ran.out + ran.err


def test_a_session_whose_output_nobody_reads_ends_without_a_traceback(
    script: Script, workspace: Path
) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    ran = subprocess.run(
        [*command_line(), "-m", script("One.")],
        cwd=workspace,
        env=environment(),
        input="hello\n",
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writing)
    assert ran.returncode == 1
    assert ran.stderr == ""


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(command: Command, name: str) -> None:
    ran = command(name, "--help")
    assert ran.status == 0
    assert "Usage:" in ran.out


def test_help_lists_every_command(command: Command) -> None:
    ran = command("--help")
    assert ran.status == 0
    assert all(f"\n  {name} " in ran.out for name in COMMANDS)


def test_the_shell_completes_commands(process: Command) -> None:
    ran = process("--show-completion", "bash", _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    assert "_WAYFARE_COMPLETE" in ran.out
    ran = process(_WAYFARE_COMPLETE="complete_bash", COMP_WORDS="wayfare doc", COMP_CWORD="1")
    assert ran.out.split() == ["doctor"]


def test_the_shell_completes_modes_and_sessions(
    process: Command, command: Command, script: Script
) -> None:
    name = command("run", "--json", "-m", script("One."), "hello").json[0]["session"]
    for words, completed in (
        ("wayfare --mode acc", ["accept-edits"]),
        ("wayfare resume 2", [name]),
    ):
        ran = process(
            _WAYFARE_COMPLETE="complete_bash",
            COMP_WORDS=words,
            COMP_CWORD=str(len(words.split()) - 1),
        )
        assert ran.out.split() == completed


def test_options_without_a_command_are_read_without_the_command_library() -> None:
    found = plain_options(
        ["-m", "a:b", "--mode=ask", "-y", "--set", "x.y=1", "--set=z=2", "-C", "/somewhere"]
    )
    assert found is not None
    assert (found.model, found.mode, found.yes) == ("a:b", "ask", True)
    assert (found.others, str(found.root)) == (["x.y=1", "z=2"], "/somewhere")
    assert plain_options([]) is not None


@pytest.mark.parametrize(
    "line", ["run", "--help", "-m", "-m --mode", "-mX", "--version", "--yes=1", "-- x", "-"]
)
def test_any_other_line_is_left_to_it(line: str) -> None:
    assert plain_options(line.split()) is None


@pytest.mark.parametrize(
    ("line", "moved"),
    [
        ("-m a:b run --json hi", "run -m a:b --json hi"),
        ("-y --set x.y=1 run --set x.y=2 hi", "run -y --set x.y=1 --set x.y=2 hi"),
        ("--mode=ask resume 2", "resume --mode=ask 2"),
        ("-C /x memory list --json", "memory list -C /x --json"),
        ("run -m a:b hi", "run -m a:b hi"),
        ("-C /x memory --help", "-C /x memory --help"),
        ("-m a:b --help", "-m a:b --help"),
        ("--version", "--version"),
        ("-m", "-m"),
        ("", ""),
    ],
)
def test_options_before_the_command_count_as_behind_it(line: str, moved: str) -> None:
    assert behind_the_command(line.split(), ["memory", "local"]) == moved.split()


def test_a_model_named_before_the_command_answers(process: Command, tmp_path: Path) -> None:
    (tmp_path / "answer.json").write_text('["From the script."]')
    ran = process("-m", f"scripted:{tmp_path / 'answer.json'}", "run", "hi")
    assert (ran.status, ran.out) == (0, "From the script.\n")
    refused = process("-m", "scripted:x", "sessions")
    assert refused.status == 2
    assert "No such option: -m" in refused.err
