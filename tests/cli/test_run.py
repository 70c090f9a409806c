"""`wayfare run`: what goes where, exit statuses, events, and everything that can be wrong."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from tests.cli.session_fixtures import Ran
from tests.cli.starting import command_line, environment

Command = Callable[..., Ran]
Script = Callable[..., str]

READ = {"name": "read_file", "input": {"path": "a.txt"}}
TOUCH = {"name": "bash", "input": {"command": "touch made.txt"}}


def test_the_answer_is_all_of_stdout_and_progress_is_on_stderr(
    process: Command, script: Script, workspace: Path
) -> None:
    (workspace / "a.txt").write_text("hello\n")
    model = script({"text": "I will look.", "tool_use": READ}, "# Found\n\nIt says **hello**.\n")
    ran = process("run", "-m", model, "what is in a.txt?")
    assert ran.status == 0
    assert ran.out == "# Found\n\nIt says **hello**.\n"
    assert "I will look." in ran.err
    assert "✓ read_file a.txt" in ran.err
    assert "Found" not in ran.err
    assert "\x1b" not in ran.out + ran.err


def test_the_task_may_come_from_standard_input(command: Command, script: Script) -> None:
    ran = command("run", "-m", script("Yes."), "-", stdin="a task\nof two lines\n")
    assert (ran.status, ran.out) == (0, "Yes.\n")
    log = next(Path(".transcripts").glob("2*/transcript.jsonl")).read_text()
    assert r"a task\nof two lines" in log


def test_quiet_says_nothing_but_the_answer(command: Command, script: Script) -> None:
    ran = command("run", "-q", "-m", script({"text": "Hm.", "tool_use": TOUCH}, "No."), "try")
    assert (ran.out, ran.err) == ("No.\n", "")


def test_nobody_can_be_asked_so_what_needs_a_yes_is_denied(
    command: Command, script: Script, workspace: Path
) -> None:
    replies = ({"tool_use": TOUCH}, "I could not.", "Really not.")
    ran = command("run", "-m", script(*replies), "touch it")
    assert "✗ bash touch made.txt  denied" in ran.err
    assert not (workspace / "made.txt").exists()
    ran = command("run", "--yes", "-m", script({"tool_use": TOUCH}, "Done."), "touch it")
    assert "✓ bash touch made.txt" in ran.err
    assert (workspace / "made.txt").exists()


def test_a_session_is_gone_on_with(command: Command, script: Script) -> None:
    first = command("run", "--json", "-m", script("One."), "first words").json
    name = first[0]["session"]
    again = command("run", "--json", "-s", "newest", "-m", script("Two."), "more words").json
    assert (again[0]["session"], again[0]["how"]) == (name, "resumed")
    log = Path(".transcripts", name, "transcript.jsonl").read_text()
    assert log.index("first words") < log.index("One.") < log.index("more words")
    part = name.rpartition("-")[2]
    more = command("run", "--json", "-s", part, "-m", script("Three."), "and more").json
    assert more[0]["session"] == name
    ran = command("run", "-s", "nosuch", "-m", script("Three."), "more")
    assert ran.status == 1
    assert name in ran.err


def test_json_tells_every_event_on_a_line_of_its_own(
    command: Command, script: Script, workspace: Path
) -> None:
    (workspace / "a.txt").write_text("hello\n")
    usage = {"input_tokens": 100, "cache_read_input_tokens": 40, "output_tokens": 7}
    model = script(
        {"text": "I will look.", "tool_use": READ}, {"text": "It says hello.", "usage": usage}
    )
    ran = command("run", "--json", "-m", model, "what is in a.txt?")
    events = ran.json
    assert ran.err == ""
    assert [event["event"] for event in events] == [
        *("session.opened", "turn.begun", "answer", "step.replied", "tool.begun", "tool.ended"),
        *("answer", "step.replied", "turn.ended", "run.ended"),
    ]
    assert events[2]["text"] == "I will look."
    ended = events[5]
    assert (ended["tool"], ended["main"], ended["is_error"]) == ("read_file", "a.txt", False)
    assert ended["call_id"] == events[4]["call_id"]
    last = events[-1]
    assert last["text"] == "It says hello."
    assert (last["ended"], last["exit_status"], last["steps"]) == ("done", 0, 2)
    assert last["usage"]["cache_read_tokens"] == 40
    assert last["session"] == events[0]["session"]


def test_partial_tells_the_answer_as_it_streams_in(command: Command, script: Script) -> None:
    text = "A long answer that comes in pieces. " * 4
    events = command("run", "--json", "--partial", "-m", script(text), "go").json
    pieces = [event["text"] for event in events if event["event"] == "stream.text"]
    assert len(pieces) > 1
    assert "".join(pieces) == text == events[-1]["text"]


def test_a_limit_is_status_3_and_says_how_to_go_on(command: Command, script: Script) -> None:
    model = script({"tool_use": READ}, "Never said.")
    ran = command("run", "-m", model, "--set", "limits.steps_per_turn=1", "go")
    assert (ran.status, ran.out) == (3, "")
    assert "stopped at the limit steps_per_turn" in ran.err
    assert "go on with: wayfare resume 2" in ran.err
    last = command("run", "--json", "-m", model, "--set", "limits.steps_per_turn=1", "go").json[-1]
    assert (last["ended"], last["exit_status"]) == ("steps_per_turn", 3)


def test_an_interrupt_is_status_130_and_the_session_stays_whole(
    workspace: Path, script: Script
) -> None:
    wait = {"name": "bash", "input": {"command": "sleep 60"}}
    model = script({"text": "Waiting.", "tool_use": wait}, "Never said.")
    started = subprocess.Popen(
        [*command_line(), "run", "--json", "--yes", "-m", model, "wait"],
        cwd=workspace,
        env=environment(),
        stdout=subprocess.PIPE,
        text=True,
    )
    assert started.stdout is not None
    events: list[dict[str, Any]] = []
    for line in started.stdout:
        events.append(json.loads(line))
        if events[-1]["event"] == "tool.begun":
            started.send_signal(signal.SIGINT)
    assert started.wait() == 130
    started.stdout.close()
    assert (events[-1]["ended"], events[-1]["exit_status"]) == ("interrupted", 130)
    log = next(Path(".transcripts").glob("2*/transcript.jsonl")).read_text()
    assert "[interrupted]" in log


def test_a_reader_that_leaves_is_no_traceback(workspace: Path, script: Script) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    ran = subprocess.run(
        [*command_line(), "run", "--json", "-m", script("Yes."), "go"],
        cwd=workspace,
        env=environment(),
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writing)
    assert ran.returncode == 1
    assert ran.stderr == ""


@pytest.mark.parametrize("task", ["", "  \n", "-"])
def test_an_empty_task_is_status_2(command: Command, script: Script, task: str) -> None:
    ran = command("run", "-m", script("Yes."), task, stdin=" \n")
    assert ran.status == 2
    assert "the task is empty" in ran.err


def test_without_a_key_three_lines_say_what_to_do(process: Command) -> None:
    for arguments in (("run", "hello"), ()):
        ran = process(*arguments)
        assert (ran.status, ran.out) == (1, "")
        lines = ran.err.splitlines()
        assert len(lines) == 3
        assert "ANTHROPIC_API_KEY" in lines[0]
        assert "wayfare -m" in lines[1]
        assert "wayfare local install" in lines[2]
        assert "wayfare -m local" in lines[2]


def test_a_named_model_without_its_key_says_which_one(command: Command) -> None:
    ran = command("run", "-m", "deepseek:x", "hello")
    assert ran.status == 1
    assert "DEEPSEEK_API_KEY" in ran.err


def test_the_packaged_model_that_is_not_installed_says_how(command: Command) -> None:
    ran = command("run", "-m", "local", "hello")
    assert ran.status == 2
    assert "wayfare local install" in ran.err


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("claude-sonnet-5", "did you mean anthropic:claude-sonnet-5?"),
        ("antropic:claude-sonnet-5", "did you mean anthropic:MODEL?"),
        ("scripted:missing.json", "missing.json"),
        ("local:missing.gguf", "missing.gguf"),
    ],
)
def test_an_unknown_model_is_status_2_with_the_nearest_one(
    command: Command, model: str, said: str
) -> None:
    ran = command("run", "-m", model, "hello")
    assert ran.status == 2
    assert said in ran.err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[limits]\nsteps_per_trun = 3", "did you mean limits.steps_per_turn?"),
        ('[limits]\nsteps_per_turn = "few"', "must be a whole number"),
        ('[permissions]\ndeny = ["bash("]', "'bash(' is not a rule"),
        ("model = [", "wayfare.toml is not TOML"),
        ("[model]\nprices = {input = 'x'}", "model.prices.input must be a number"),
        ("[model]\nwindow_tokens = 10", "too small to govern"),
    ],
)
def test_invalid_settings_are_status_2_and_named(
    command: Command, script: Script, workspace: Path, text: str, said: str
) -> None:
    (workspace / "wayfare.toml").write_text(text)
    command("trust")
    model = "openai-chat:x" if "[model]" in text else script("Yes.")
    ran = command("run", "--set", "model.base_url=http://127.0.0.1:9", "-m", model, "hello")
    assert ran.status == 2
    assert said in ran.err


def test_an_invalid_flag_is_status_2(command: Command, script: Script) -> None:
    for flags, said in (
        (("--mode", "reed-only"), "did you mean read-only?"),
        (("--set", "limits.retries_=1"), "is no setting"),
        (("--set", "limits"), "write --set NAME=VALUE"),
        (("--yes", "--mode", "ask"), "--yes is --mode full"),
        (("--nosuch",), "No such option"),
        (("-C", "nowhere"), "nowhere is no folder"),
    ):
        ran = command("run", *flags, "-m", script("Yes."), "hello")
        assert ran.status == 2, flags
        assert said in ran.err


def test_a_workspace_that_cannot_be_written_still_answers(
    command: Command, script: Script, workspace: Path
) -> None:
    (workspace / ".transcripts").write_text("in the way")
    ran = command("run", "-m", script("Yes."), "hello")
    assert (ran.status, ran.out) == (0, "Yes.\n")
    assert "it goes on in memory alone" in " ".join(ran.err.split())


def test_control_codes_reach_no_pipe(command: Command, script: Script) -> None:
    evil = "\x1b[31mred\x1b[0m \x1b]0;owned\x07\x9b2J\u202e done\ta"
    print_evil = {"name": "bash", "input": {"command": r"printf '\033[2Jbad\007\n' >&2; false"}}
    ran = command(
        "run", "--yes", "-m", script({"text": evil, "tool_use": print_evil}, evil, evil), "go"
    )
    assert "red " in ran.out
    assert "done\ta" in ran.out
    assert not set("\x1b\x07\x9b\u202e") & set(ran.out + ran.err)


@contextmanager
def answering(answer: Callable[[BaseHTTPRequestHandler], None]) -> Iterator[str]:
    """A server on loopback that answers every request alike; its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("content-length", 0)))
            answer(self)

        def log_message(self, format: str, *args: object) -> None:
            """Not wanted in the output of tests."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/v1"
        finally:
            server.shutdown()


def send(status: int, body: bytes, kind: str) -> Callable[[BaseHTTPRequestHandler], None]:
    """An answer of one piece."""

    def answer(to: BaseHTTPRequestHandler) -> None:
        to.send_response(status)
        to.send_header("content-type", kind)
        to.end_headers()
        to.wfile.write(body)

    return answer


def chunk(text: str) -> bytes:
    """One event of a chat stream."""
    choice = {"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": None}
    value = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return b"data: " + json.dumps({**value, "choices": [choice]}).encode() + b"\n\n"


STREAM = "text/event-stream"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (send(200, b"<html>not an API</html>", "text/html"), "openai-chat:m"),
        (send(200, b"data: {{{ garbage\n\n" * 3, STREAM), "openai-chat:m"),
        (send(200, b"\x00\xff\xfe" * 400, STREAM), "openai-chat:m"),
        (send(200, chunk("Half an ans"), STREAM), "openai-chat:m"),
        (send(404, b'{"error":{"message":"no model m"}}', "application/json"), "no model m"),
        (send(500, b"oops", "text/plain"), "openai-chat:m"),
    ],
)
def test_a_server_that_answers_nonsense_is_one_clear_error(
    command: Command, answer: Callable[[BaseHTTPRequestHandler], None], said: str
) -> None:
    with answering(answer) as address:
        ran = command(
            *("run", "-m", "openai-chat:m", "--set", f"model.base_url={address}"),
            *("--set", "retry.attempts=2", "--set", "retry.first_seconds=0"),
            "hello",
        )
    assert (ran.status, ran.out) == (1, "")
    assert said in ran.err
    assert "Traceback" not in ran.err


def test_a_wrong_key_names_where_it_came_from_and_never_the_key(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "sk-very-secret-key")
    body = b'{"error":{"message":"Incorrect API key provided: sk-very-secret-key"}}'
    with answering(send(401, body, "application/json")) as address:
        ran = command(
            *("run", "-m", "openai-chat:m", "--set", f"model.base_url={address}"),
            *("--set", "model.key_variable=MY_KEY", "hello"),
        )
    assert ran.status == 1
    assert "MY_KEY" in ran.err
    assert "sk-very-secret-key" not in ran.err
    log = next(Path(".transcripts").glob("2*/transcript.jsonl")).read_text()
    assert "sk-very-secret-key" not in log


def test_a_server_that_is_not_there_is_tried_again_and_then_told(command: Command) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{held.getsockname()[1]}/v1"
        ran = command(
            *("run", "-m", "openai-chat:m", "--set", f"model.base_url={address}"),
            *("--set", "retry.attempts=2", "--set", "retry.first_seconds=0", "hello"),
        )
    assert ran.status == 1
    assert "attempt 2" in ran.err
    assert ran.err.count("cannot connect to") == 2


def test_a_workspace_that_is_not_trusted_is_said_once_and_only_narrows(
    command: Command, script: Script, workspace: Path
) -> None:
    (workspace / "wayfare.toml").write_text(
        '[permissions]\nmode = "full"\n[[hooks]]\nevent = "Stop"\ncommand = "touch ../hooked"\n'
    )
    ran = command("run", "-m", script({"tool_use": TOUCH}, "I could not.", "Really."), "go")
    assert "brings settings and hooks and is not trusted; 2 settings are left out" in ran.err
    assert "✗ bash touch made.txt  denied" in ran.err
    assert not (workspace.parent / "hooked").exists()
    assert command("trust").status == 0
    ran = command("run", "-m", script({"tool_use": TOUCH}, "Done."), "go")
    assert "not trusted" not in ran.err
    assert "✓ bash touch made.txt" in ran.err
    assert (workspace.parent / "hooked").exists()


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_what_is_held_for_a_reader_that_left_is_an_error_and_not_a_crash_at_exit(
    stream: str,
) -> None:
    program = (
        "import sys, wayfare.cli as cli\n"
        f"def _status(arguments): sys.{stream}.write('held'); return 0\n"
        "cli._status = _status; sys.stdin.read(); cli.main()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program],
        env={**environment(), "PYTHONUNBUFFERED": ""},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as running:
        assert running.stdout is not None
        assert running.stdin is not None
        running.stdout.close()
        running.stdin.close()
        assert running.wait(60) == 1


@pytest.mark.parametrize("told", [("--json",), ()], ids=["events", "plain"])
def test_a_reader_that_leaves_during_the_turn_ends_it_without_a_traceback(
    told: tuple[str, ...], script: Script, workspace: Path
) -> None:
    """As `wayfare run … 2>&1 | head -1`: the first line is read, then nobody listens any more."""
    wait = {"name": "bash", "input": {"command": "until [ -e go ]; do sleep 0.01; done"}}
    model = script({"tool_use": wait}, "Never read.")
    with subprocess.Popen(
        [*command_line(), "run", "-y", "-m", model, *told, "wait"],
        cwd=workspace,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE if told else subprocess.STDOUT,
    ) as running:
        assert running.stdout is not None
        assert b"session" in running.stdout.readline()
        running.stdout.close()
        (workspace / "go").touch()
        errors = running.stderr.read() if running.stderr is not None else b""
        assert running.wait(60) == 1
    assert errors == b""
