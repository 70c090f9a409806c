"""Nothing that a model, a tool, a file or a repository says steers the person's terminal."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cli.session_fixtures import Ran
from tests.cli.starting import call, result, written
from tests.hostile.steering import STEERING, unsteered

Command = Callable[..., Ran]
Script = Callable[..., str]
ODD_NAME = "\x1b[2Jodd\u202etxt\x9b1m"


@pytest.fixture
def ran(command: Command, script: Script, workspace: Path) -> Ran:
    """A session in which everybody tries: the person's paste, file names, tools, the model."""
    (workspace / ODD_NAME).write_text(f"before\n{STEERING}\nafter\n")
    (workspace / "AGENTS.md").write_text(STEERING)
    reads = {"name": "read_file", "input": {"path": ODD_NAME}}
    lists = {"name": "glob", "input": {"pattern": "*"}}
    unknown = {"name": "no" + STEERING, "input": {STEERING: STEERING}}
    shell = {"name": "bash", "input": {"command": "cat *; printf '\\033[2J\\233' >&2; exit 3"}}
    edits = {"name": "edit_file", "input": {"path": ODD_NAME, "old": "x", "new": STEERING}}
    replies = [{"text": STEERING, "tool_use": one} for one in (reads, lists, unknown, shell, edits)]
    return command(
        "run", "--yes", "-m", script(*replies, "stopping", f"done {STEERING}"), f"go {STEERING}"
    )


def shipped_session(workspace: Path) -> str:
    """A session that was written by hand: odd texts in marks, edits, notes and its own name."""
    source = next((workspace / ".transcripts").glob("2*"))
    target = source.parent / "20200101-000000-\x1b[2J\u202e"
    shutil.copytree(source, target)
    log = target / "transcript.jsonl"
    lines = [json.loads(line) for line in log.read_text("utf-8").split("\n")[:-1]]
    for line in lines:
        if line.get("kind") == "mark" and line["name"] in ("model", "turn"):
            line["detail"] = {key: f"{value}{STEERING}" for key, value in line["detail"].items()}
    log.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), "utf-8")
    (target / "notes.md").write_text(
        f"# Current State\n\nAll is owned by somebody else now. {STEERING}\n", "utf-8"
    )
    os.utime(log)
    return target.name


def test_a_turn_shows_what_happened_and_steers_nothing(ran: Ran) -> None:
    assert ran.status == 0
    assert "read_file" in ran.err
    assert "done" in ran.out
    unsteered(ran.out)
    unsteered(ran.err)


def test_events_for_scripts_steer_nothing_and_say_it_all(
    command: Command, script: Script, workspace: Path
) -> None:
    (workspace / ODD_NAME).write_text(STEERING)
    reads = {"name": "read_file", "input": {"path": ODD_NAME}}
    done = command("run", "--yes", "--json", "--partial", "-m",
                   script({"tool_use": reads}, f"done {STEERING}"), STEERING)  # fmt: skip
    unsteered(done.out)
    assert done.json[-1]["text"] == f"done {STEERING}"
    assert any(line.get("main") == ODD_NAME for line in done.json)


@pytest.mark.parametrize(
    ("looking", "json_"),
    [("notes", False), *((c, j) for c in ("sessions", "context", "config", "doctor")
                         for j in (False, True))],
)  # fmt: skip
def test_looking_at_a_session_steers_nothing(
    command: Command, ran: Ran, workspace: Path, looking: str, json_: bool
) -> None:
    name = shipped_session(workspace)
    (workspace / "wayfare.toml").write_text(
        '[prompt]\nextra = """' + "".join(f"\\u{ord(c):04x}" for c in STEERING) + '"""\n'
    )
    chosen = [name] if looking in ("context", "notes") else []
    looked = command(looking, *chosen, *(["--json"] if json_ else []))
    assert looked.status in (0, 1)
    assert len(looked.out) > 40
    unsteered(looked.out)
    unsteered(looked.err)
    if json_:
        json.loads(looked.out)


def test_why_steers_nothing_for_any_entry(command: Command, ran: Ran, workspace: Path) -> None:
    name = shipped_session(workspace)
    log = workspace / ".transcripts" / name / "transcript.jsonl"
    count = len(log.read_text("utf-8").split("\n")) - 1
    for entry in (*range(1, count + 1), f"1-{count}"):
        told = command("why", f".transcripts/{name}/transcript.jsonl#{entry}")
        assert told.status == 0, told.err
        unsteered(told.out)
    missing = command("why", f".transcripts/{name}/\x1b[2J.txt")
    assert missing.status == 1
    unsteered(missing.err)


@pytest.fixture
def on_terminal(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Makes standard output a terminal from now on."""
    return lambda: monkeypatch.setattr(sys.stdout, "isatty", lambda: True)


def test_show_gives_a_pipe_the_exact_bytes_and_a_terminal_harmless_ones(
    command: Command, ran: Ran, workspace: Path, on_terminal: Callable[[], None]
) -> None:
    results = workspace / ".task_outputs/tool-results"
    folder = results / next((workspace / ".transcripts").glob("2*")).name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "evil.txt").write_text(f"before\n{STEERING}\nafter\n", "utf-8")
    address = (folder / "evil.txt").relative_to(workspace).as_posix()
    assert command("show", address).out == f"before\n{STEERING}\nafter\n"
    on_terminal()
    shown = command("show", address)
    assert "before\n" in shown.out
    assert "\nafter\n" in shown.out
    unsteered(shown.out)


@pytest.mark.parametrize("asked", [("show", "spy"), ("export",)], ids=lambda asked: asked[0])
def test_a_record_is_exact_in_a_pipe_and_harmless_on_a_terminal(
    command: Command, workspace: Path, asked: tuple[str, ...], on_terminal: Callable[[], None]
) -> None:
    (workspace / ".memory").mkdir()
    text = f"mirror{STEERING.replace(chr(0), '')}"
    (workspace / ".memory/spy.md").write_text(f"---\nname: spy\n---\n{text}\n", "utf-8")
    assert text in command("memory", *asked).out
    on_terminal()
    shown = command("memory", *asked)
    assert "mirror" in shown.out
    unsteered(shown.out)


@pytest.mark.parametrize(
    "asked",
    [("list",), ("search", "mirror"), ("log",), ("review",), ("doctor",), ("forget", "spy")],
    ids=lambda asked: asked[0],
)  # fmt: skip
@pytest.mark.parametrize("json_", [False, True])
def test_memories_that_came_with_a_repository_steer_nothing(
    command: Command, workspace: Path, asked: tuple[str, ...], json_: bool
) -> None:
    folder = workspace / ".memory"
    folder.mkdir()
    (folder / "spy.md").write_text(
        f"---\nname: spy\ndescription: mirror {STEERING}\ntype: project\n---\nmirror {STEERING}\n",
        "utf-8",
    )
    (folder / f"{ODD_NAME}.md").write_text(f"---\nname: {ODD_NAME}\n---\nmirror\n", "utf-8")
    (folder / "MEMORY.md").write_text(f"- [x](spy.md) mirror {STEERING}\n", "utf-8")
    told = command("memory", *asked, *(["--json"] if json_ else []))
    assert told.status in (0, 1, 2)
    unsteered(told.out)
    unsteered(told.err)


def test_replay_of_a_strangers_recording_steers_nothing(command: Command, workspace: Path) -> None:
    messages: list[Any] = [{"role": "user", "content": STEERING}]
    for number in range(3):
        id = f"t{number}{STEERING}"
        messages += [
            {"role": "assistant", "content": [call(id, STEERING, path=STEERING)]},
            {"role": "user", "content": [result(id, STEERING)]},
        ]
    file = written(workspace / f"{ODD_NAME}.json", messages)
    broken = workspace / f"{ODD_NAME}2.json"
    broken.write_text(f'{{"messages": [{{"role": "{ODD_NAME}"')
    for options in ((), ("--json",), ("--html", "r.html"), ("--out", f"o{ODD_NAME}")):
        told = command("replay", str(file), str(broken), *options)
        unsteered(told.out)
        unsteered(told.err)
    unsteered((workspace / "r.html").read_text("utf-8"))
