"""`wayfare run` where the system prompt leaves no room: one line with the sizes, no call, no traceback."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.session_fixtures import Ran

Command = Callable[..., Ran]
Script = Callable[..., str]
LONG = "Always answer in full sentences. " * 1_500


@pytest.mark.parametrize("summaries", ["true", "false"])
def test_the_run_ends_with_status_1_and_the_sizes(
    summaries: str, process: Command, script: Script
) -> None:
    model = script("never asked")
    small = ("--set", "model.window_tokens=8000", "--set", f"prompt.role={LONG}")
    ran = process("run", "-m", model, *small, "begin", WAYFARE_CONTEXT_SUMMARIES=summaries)
    assert (ran.status, ran.out) == (1, "")
    assert "Traceback" not in ran.err
    assert "does not fit a window of 8,000 tokens" in ran.err
    (taken,) = re.findall(r"kept for the reply: system prompt (\d+,\d+), tools [\d,]+", ran.err)
    assert int(taken.replace(",", "")) > 8_000
    # The script was not touched: the session goes on where the room is.
    again = process("run", "-m", model, "--session", "newest", "again")
    assert (again.status, again.out) == (0, "never asked\n")
    (log,) = Path(".transcripts").glob("2*/transcript.jsonl")
    wires = [json.loads(line).get("wire", {}) for line in log.read_text().splitlines()]
    assert [wire["role"] for wire in wires if wire] == ["user", "user", "assistant"]
