"""`wayfare replay` as somebody starts it: what it prints where, and with which exit status."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.cli.starting import (
    Command,
    call,
    command_line,
    environment,
    reading_session,
    result,
    written,
)

SHIPPED = Path(__file__).parents[2] / "recordings"
FIELDS = {
    "file", "format", "budget", "window", "steps", "requests", "invalid", "refused", "recoverable",
    "active_request_visible", "needed_files", "needed_identifiers", "needed_content",
    "tokens_sent", "cost", "cost_ungoverned", "summaries", "edits", "bytes_written_ratio",
    "governance_ms",
}  # fmt: skip
SHARES = (
    "recoverable", "active_request_visible", "needed_files", "needed_identifiers", "needed_content"
)  # fmt: skip


def sessions(done: subprocess.CompletedProcess[bytes]) -> list[dict[str, Any]]:
    assert done.returncode == 0, done.stderr
    value = json.loads(done.stdout)
    assert list(value) == ["sessions"]
    return value["sessions"]


def test_json_is_one_object_with_every_field_for_each_budget(
    wayfare: Command, recording: Path
) -> None:
    done = wayfare("replay", recording, "--window", 6000, "--compare", "window,classic", "--json")
    rows = sessions(done)
    assert [row["budget"] for row in rows] == ["window", "classic"]
    for row in rows:
        assert row.keys() >= FIELDS
        assert (row["format"], row["window"], row["steps"]) == ("anthropic", 6000, 31)
        assert row["requests"] == 31
        assert (row["invalid"], row["refused"]) == (0, 0)
        assert all(0 <= row[name] <= 1 for name in SHARES)
        assert row["recoverable"] == 1
        assert row["edits"], "a session that outgrows its window is edited"
        assert row["governance_ms"].keys() == {"median", "p99", "last"}
        assert row["cost"] > 0
    assert rows[0]["cost_ungoverned"] == rows[1]["cost_ungoverned"] > 0


def test_a_pipe_gets_a_plain_table_with_a_line_for_every_session_and_their_sum(
    wayfare: Command, recording: Path, tmp_path: Path
) -> None:
    other = written(tmp_path / "short.json", reading_session(steps=2))
    done = wayfare("replay", recording, other, "--window", 6000)
    assert done.returncode == 0
    assert b"\x1b" not in done.stdout + done.stderr
    lines = done.stdout.decode().splitlines()
    assert lines[0].split()[:4] == ["session", "budget", "requests", "sent"]
    assert [line.split()[0] for line in lines[1:3]] == ["reading.json", "short.json"]
    assert lines[3].startswith("sum of 2")
    assert int(lines[3].split()[4]) == 31 + 3
    told = done.stderr.decode().splitlines()
    assert [line.split(" · ")[0] for line in told] == ["reading.json", "short.json"]


def test_shipped_recordings_of_three_formats_go_through_without_a_loss(wayfare: Command) -> None:
    files = sorted(SHIPPED.glob("*_0.json")) + sorted(SHIPPED.glob("*.traj"))
    rows = sessions(wayfare("replay", *files, "--window", 12500, "--json"))
    assert len(rows) == 2
    for row in rows:
        assert (row["invalid"], row["refused"], row["recoverable"]) == (0, 0, 1)
        assert row["stopped"] == ""


def test_out_keeps_the_session_and_says_where_to_look(
    wayfare: Command, recording: Path, tmp_path: Path
) -> None:
    out = tmp_path / "kept"
    first = wayfare("replay", recording, "--window", 6000, "--out", out)
    assert f"wayfare context --root {out}" in first.stdout.decode()
    assert (out / ".transcripts/1-window/transcript.jsonl").is_file()
    again = sessions(wayfare("replay", recording, "--window", 6000, "--out", out, "--json"))
    assert again[0]["session"] == "2-window", "a second replay leaves the first alone"


def test_without_out_nothing_is_left_behind(
    wayfare: Command, recording: Path, tmp_path: Path
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    sessions(wayfare("replay", recording, "--json", TMPDIR=str(scratch)))
    assert list(scratch.iterdir()) == []


def test_side_chains_are_counted_and_replayed_only_when_asked(
    wayfare: Command, tmp_path: Path
) -> None:
    def line(uuid: str, parent: str | None, side: bool, kind: str, content: Any) -> dict[str, Any]:
        return {
            "type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "s", "isSidechain": side,
            "timestamp": "2026-01-01T00:00:00.000Z",
            "message": {"role": kind, "content": content},
        }  # fmt: skip

    log = tmp_path / "claude.jsonl"
    rows = [
        line("a", None, False, "user", "find the fault"),
        line("b", "a", False, "assistant", [call("t1", "Task", prompt="look around")]),
        line("c", None, True, "user", "look around"),
        line("d", "c", True, "assistant", [{"type": "text", "text": "nothing here"}]),
        line("e", "b", False, "user", [result("t1", "nothing here")]),
        line("f", "e", False, "assistant", [{"type": "text", "text": "no fault"}]),
    ]
    log.write_text("".join(json.dumps(row) + "\n" for row in rows))
    without = wayfare("replay", log)
    assert "1 side chain" in without.stdout.decode()
    assert len(sessions(wayfare("replay", log, "--json"))) == 1
    assert len(sessions(wayfare("replay", log, "--side-chains", "--json"))) == 2


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_at_once_and_shows_what_is_done(
    number: signal.Signals, recording: Path, tmp_path: Path
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    long = written(tmp_path / "long.json", reading_session(steps=1_500, result_chars=2_000))
    running = subprocess.Popen(
        [*command_line(), "replay", str(recording), str(long), "--window", "6000"],
        env=environment(TMPDIR=str(scratch)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert running.stderr is not None
    assert running.stderr.readline().startswith(b"reading.json")
    running.send_signal(number)
    output, errors = running.communicate(timeout=60)
    assert running.returncode == 130
    assert b"stopped after 1 session" in errors
    assert b"Traceback" not in errors
    assert b"reading.json" in output
    assert b"long.json" not in output
    assert list(scratch.iterdir()) == []


def test_a_reader_that_goes_away_is_no_crash(recording: Path, tmp_path: Path) -> None:
    command = " ".join(command_line())
    done = subprocess.run(
        ["sh", "-c", f"{command} replay {recording} --json | head -c 1"],
        env=environment(),
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.stdout == b"{"
    assert b"Traceback" not in done.stderr
