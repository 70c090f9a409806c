"""The real command in the middle of a compaction: killed, with a second one on the same session,
with a summary model that is away; the session is whole and goes on."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from tests.cli.session_fixtures import GIVE_UP_SECONDS, Ran
from tests.cli.starting import command_line, environment
from tests.unit.context.governed_session import good_summary

Command = Callable[..., Ran]
Script = Callable[..., str]
TASK = "Port the date parser; never touch the vendor folder."
READS = 14


class Summaries:
    """A server that summarizes when it is let; what it was asked stands in `asked`."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.waiting = Event()
        self.go_on = Event()
        own = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers.get("content-length", 0))
                body = json.loads(self.rfile.read(length))
                if body.get("tools"):
                    # Notes: they are no part of this.
                    own.send(self, "done")
                    return
                own.asked.append(json.dumps(body["messages"]))
                own.waiting.set()
                own.go_on.wait(GIVE_UP_SECONDS)
                try:
                    own.send(self, good_summary(rule=TASK))
                except OSError:
                    return  # Whoever asked was killed.

            def log_message(self, format: str, *args: object) -> None:
                """Not wanted in the output of tests."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}/v1"

    def send(self, to: BaseHTTPRequestHandler, text: str) -> None:
        """A whole chat stream."""
        value = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        delta = {"role": "assistant", "content": text}
        to.send_response(200)
        to.send_header("content-type", "text/event-stream")
        to.end_headers()
        said: dict[str, Any] = {"delta": delta}
        ended: dict[str, Any] = {"delta": {}, "finish_reason": "stop"}
        for choice in (said, ended):
            chunk: dict[str, Any] = {
                **value,
                "choices": [{"index": 0, "finish_reason": None, **choice}],
            }
            to.wfile.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")
        to.wfile.write(b"data: [DONE]\n\n")


@pytest.fixture
def summaries() -> Iterator[Summaries]:
    made = Summaries()
    thread = Thread(target=made.server.serve_forever, daemon=True)
    thread.start()
    yield made
    made.go_on.set()
    made.server.shutdown()
    made.server.server_close()
    thread.join()


@pytest.fixture
def model(script: Script, workspace: Path) -> str:
    """A model that reads more than its window holds."""
    for number in range(READS):
        text = f"file {number}\n" + f"line {number} of it, as it is\n" * 180
        (workspace / f"f{number}.txt").write_text(text)
    calls = [
        {
            "text": f"reading {n}",
            "tool_use": {"name": "read_file", "input": {"path": f"f{n}.txt"}, "id": f"c{n}"},
        }
        for n in range(READS)
    ]
    return script(*calls, "All is read.", "One more.")


def arguments(model: str, summaries: Summaries) -> list[str]:
    return [
        *("-m", model, "--set", "model.window_tokens=16000"),
        *("--set", "model.max_output_tokens=1000"),
        *("--set", "side_model.name=openai-chat:m"),
        *("--set", f"side_model.base_url={summaries.address}"),
        *("--set", "side_model.window_tokens=16000"),
    ]


def started(workspace: Path, *given: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*command_line(), "run", "--json", *given],
        cwd=workspace,
        env=environment(WAYFARE_CONTEXT_SUMMARIES="true"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def log_of(workspace: Path) -> Path:
    (log,) = workspace.glob(".transcripts/2*/transcript.jsonl")
    return log


def edits(log: Path) -> list[str]:
    entries = [json.loads(line) for line in log.read_text().splitlines()]
    return [entry["by"] for entry in entries if "ops" in entry and "by" in entry]


def test_killed_while_the_summary_is_waited_for_nothing_is_replaced_and_it_goes_on(
    workspace: Path, process: Command, model: str, summaries: Summaries
) -> None:
    given = arguments(model, summaries)
    running = started(workspace, *given, TASK)
    assert summaries.waiting.wait(GIVE_UP_SECONDS)
    running.send_signal(signal.SIGKILL)
    running.communicate()
    assert running.returncode == -signal.SIGKILL
    left = log_of(workspace).read_bytes()
    assert not {"summary", "notes", "digest"} & set(edits(log_of(workspace)))
    summaries.go_on.set()
    again = process(
        *("run", "--json", *given, "--session", "newest", "go on"),
        WAYFARE_CONTEXT_SUMMARIES="true",
    )
    assert again.status == 0, again.err
    assert log_of(workspace).read_bytes().startswith(left)
    assert "summary" in edits(log_of(workspace))
    done = [e for e in again.json if e["event"] == "compaction.done"]
    assert done[0]["by"] == "summary"
    assert done[0]["after_tokens"] < done[0]["before_tokens"]
    assert TASK in summaries.asked[-1]


def test_a_second_command_on_a_session_that_is_being_compacted_is_refused_and_harms_nothing(
    workspace: Path, process: Command, model: str, summaries: Summaries
) -> None:
    given = arguments(model, summaries)
    running = started(workspace, *given, TASK)
    assert summaries.waiting.wait(GIVE_UP_SECONDS)
    before = log_of(workspace).read_bytes()
    for _ in range(2):
        second = process(
            *("run", *given, "--session", "newest", "me too"), WAYFARE_CONTEXT_SUMMARIES="true"
        )
        assert second.status in (1, 2)
        assert second.out == ""
        assert f"process {running.pid}" in second.err
        assert "Traceback" not in second.err
    assert log_of(workspace).read_bytes() == before
    summaries.go_on.set()
    out, _ = running.communicate(timeout=GIVE_UP_SECONDS)
    told: list[dict[str, Any]] = [json.loads(line) for line in out.splitlines()]
    assert running.returncode == 0
    assert told[-1]["text"] == "All is read."
    assert edits(log_of(workspace)).count("summary") == len(
        [e for e in told if e["event"] == "compaction.done" and e["by"] == "summary"]
    )
    third = process(*("run", *given, "--session", "newest", "and now"))
    assert third.status == 0


def test_a_summary_model_that_is_away_is_said_and_a_digest_stands_in(
    workspace: Path, process: Command, model: str, summaries: Summaries
) -> None:
    given = arguments(model, summaries)
    summaries.server.server_close()
    ran = process(
        *("run", "--json", *given, "--set", "retry.attempts=1", TASK),
        WAYFARE_CONTEXT_SUMMARIES="true",
    )
    assert ran.status == 0, ran.err
    assert ran.json[-1]["text"] == "All is read."
    failed = [e for e in ran.json if e["event"] == "compaction.failed"]
    assert failed[0]["kind"] == "ModelUnreachable"
    assert failed[0]["trigger"] == "auto"
    assert "digest" in edits(log_of(workspace))
