"""Recordings that are odd, huge or hostile go through the installed command, or are told."""

from __future__ import annotations

import json
import resource
import shutil
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

BIG_CHARS = 50_000_000
BIG_MEMORY_KB = 1_200_000
"""Measured: 415 MB for a text of many lines; a copy more of it is a fault, a busy machine none."""


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def assistant(content: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content}


ODD = {
    "one_user": ([user("hi")], 0),
    "one_reply": ([assistant("hi")], 0),
    "nul_bytes": ([user("a\0b"), assistant("c\0d"), user("e\0"), assistant("f")], 2),
    "surrogates": (
        [
            user("a \ud83d b"),
            assistant([{"type": "text", "text": "x \udc00"}, call("t1", "read", path="a\ud800")]),
            user([result("t1", "z\udfff" * 3_000)]),
            assistant("done"),
        ],
        2,
    ),
    "opens_with_a_reply": ([assistant("I begin"), user("go"), assistant("ok")], 1),
    "opens_with_a_developer": (
        [{"role": "developer", "content": "rules"}, user("hi"), assistant("ok")],
        1,
    ),
    "empty_contents": ([user([]), assistant([]), user("go"), assistant("ok"), user([])], 2),
    "a_call_without_a_result": (
        [user("go"), assistant([call("t1", "read", path="a")]), user("well?"), assistant("no")],
        2,
    ),
}


def test_odd_histories_give_legal_requests_under_both_budgets(
    wayfare: Command, tmp_path: Path
) -> None:
    """One command for all of them: a session that broke would take the others along."""
    files = [written(tmp_path / f"{name}.json", messages) for name, (messages, _) in ODD.items()]
    options = ("--window", 3000, "--compare", "window,classic", "--json", "--html", "report.html")
    done = wayfare("replay", *files, *options)
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["sessions"]
    assert len(rows) == 2 * len(ODD)
    for row in rows:
        name = row["file"].removesuffix(".json")
        assert (name, row["requests"]) == (name, ODD[name][1])
        assert (row["invalid"], row["refused"], row["stopped"]) == (0, 0, "")
    (tmp_path / "report.html").read_text(encoding="utf-8")


def test_hostile_names_reach_no_terminal_and_no_page(wayfare: Command, tmp_path: Path) -> None:
    name = "[bold]\x1b[31m\u202e<img src=x onerror=alert(1)>.json"
    written(tmp_path / name, [user("hi"), assistant("yes"), user("x"), assistant("y")])
    done = wayfare("replay", name, "--html", "report.html")
    assert done.returncode == 0
    for printed in (done.stdout, done.stderr):
        assert b"\x1b" not in printed
        assert "\u202e".encode() not in printed
    assert b"[bold]" in done.stdout
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<img" not in page
    assert "\x1b" not in page


def test_a_result_of_50_mb_is_offloaded_in_sane_memory(tmp_path: Path) -> None:
    line = "2026-01-01T00:00:00 some line of a log with words and a number 12345\n"
    text = (line * (BIG_CHARS // len(line) + 1))[:BIG_CHARS]
    big = written(
        tmp_path / "big.json",
        [
            user("read the log"),
            assistant([call("t1", "read", path="big.log")]),
            user([result("t1", text)]),
            assistant("It is long."),
        ],
    )
    out = tmp_path / "out"
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    done = subprocess.run(
        [*command_line(), "replay", str(big), "--json", "--out", str(out)],
        env=environment(),
        capture_output=True,
        timeout=150,
        check=False,
    )
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    (row,) = json.loads(done.stdout)["sessions"]
    assert (row["invalid"], row["refused"], row["recoverable"]) == (0, 0, 1)
    assert row["tokens_sent"] < 20_000
    (blob,) = (out / ".task_outputs/tool-results/1-window").glob("*.txt")
    assert blob.read_bytes() == text.encode()
    if sys.platform == "linux":
        assert peak == before or peak < BIG_MEMORY_KB


def test_an_archive_that_was_deleted_is_told_and_the_session_goes_on(
    wayfare: Command, tmp_path: Path
) -> None:
    messages = reading_session(result_chars=4_000)
    written(tmp_path / "reading.json", messages)
    assert wayfare("replay", "reading.json", "--window", 6000, "--out", ".").returncode == 0
    shutil.rmtree(tmp_path / ".task_outputs")
    done = wayfare("context", "--json")
    assert done.returncode == 0
    assert b"archived results, such as .task_outputs/" in done.stderr
    assert len(json.loads(done.stdout)["missing"]) == 30
    resumed = subprocess.run(
        [sys.executable, "-c", _RESUME, str(tmp_path)],
        env=environment(),
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert resumed.returncode == 0, resumed.stderr
    how, told = resumed.stdout.decode().splitlines()
    assert how == "resumed 1-window, one request prepared"
    assert "missing" in told


_RESUME = """
import sys
from pathlib import Path
from wayfare.context.budget import Budget
from wayfare.messages import user
from wayfare.session import Places, open_session, run_sync

async def go_on(root):
    events = []
    begun = await open_session(
        Places(workspace=Path(root)), "1-window", budget=Budget.window(6000), watch=events.append
    )
    await begun.governor.add([user("go on")])
    prepared = await begun.governor.prepare()
    assert prepared.messages
    print(f"{begun.how} {begun.session}, one request prepared")
    print([event.text for event in events if "missing" in event.text][0])

run_sync(go_on, sys.argv[1])
"""

_HOLD = """
import sys
from pathlib import Path
from wayfare.context.budget import Budget
from wayfare.session import Places, open_session, run_sync

async def hold(root):
    begun = await open_session(Places(workspace=Path(root)), "1-window", budget=Budget.window(6000))
    print(begun.how, flush=True)
    sys.stdin.readline()
    await begun.governor.transcript.close()

run_sync(hold, sys.argv[1])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="locks of POSIX")
def test_the_second_process_on_a_session_is_refused_and_told_who_holds_it(
    wayfare: Command, recording: Path, tmp_path: Path
) -> None:
    assert wayfare("replay", recording, "--window", 6000, "--out", ".").returncode == 0
    arguments = [sys.executable, "-c", _HOLD, str(tmp_path)]
    pipe = subprocess.PIPE
    first = subprocess.Popen(arguments, env=environment(), stdin=pipe, stdout=pipe)
    try:
        assert first.stdout is not None
        assert first.stdout.readline() == b"resumed\n"
        second = subprocess.run(
            arguments,
            env=environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=60,
            check=False,
        )
        assert second.returncode != 0
        assert b"LeaseHeld" in second.stderr
        assert str(first.pid).encode() in second.stderr
        looked = wayfare("context", "--json")
        assert looked.returncode == 0, "looking needs no lock"
        again = wayfare("replay", recording, "--window", 6000, "--out", ".", "--json")
        assert json.loads(again.stdout)["sessions"][0]["session"] == "2-window"
    finally:
        first.communicate(b"\n", timeout=60)
