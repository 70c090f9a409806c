"""`wayfare run` with real things behind it: the packaged model, a server of MCP tools."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.session_fixtures import Ran

from wayfare.providers.local_install import PACKAGED

Command = Callable[..., Ran]
Script = Callable[..., str]
SERVER = Path(__file__).parents[1] / "flow" / "mcp_server.py"


@pytest.mark.local_model
def test_a_whole_turn_on_the_packaged_model(command: Command, packaged_model: Path) -> None:
    models = Path(os.environ["XDG_DATA_HOME"]) / "wayfare" / "models"
    models.mkdir(parents=True)
    (models / PACKAGED.model).symlink_to(packaged_model)
    Path("notes.txt").write_text("The secret word is apple.\n")
    short = ("--set", "model.max_output_tokens=24", "--set", "limits.steps_per_turn=2")
    ran = command("run", "-m", "local", "--mode", "read-only", "--json", *short, "Read notes.txt")
    events = ran.json
    (ended,) = [event for event in events if event["event"] == "turn.ended"]
    # What so small a model says is its own affair: the turn ends, by its word or by a limit.
    assert ended["ended"] in ("done", "steps_per_turn", "length", "repeating")
    assert ran.status == (0 if ended["ended"] == "done" else 3)
    (log,) = Path(".transcripts").glob("2*/transcript.jsonl")
    entries = [json.loads(line) for line in log.read_text().splitlines()]
    replies = [e for e in entries if e.get("wire", {}).get("role") == "assistant"]
    assert replies
    assert all(any(reply["usage"]) for reply in replies)


def test_tools_of_a_server_in_the_settings_are_called(
    process: Command, script: Script, workspace: Path
) -> None:
    (workspace / "wayfare.toml").write_text(
        f"[mcp.sums]\ncommand = {json.dumps(sys.executable)}\n"
        f"args = [{json.dumps(str(SERVER))}, 'stdio']\nread_only_tools = ['add']\n"
    )
    call = {"name": "mcp__sums__add", "input": {"a": 2, "b": 40}, "id": "c1"}
    model = script({"tool_use": call}, "It is 42.", "Really 42.")
    # The file came with the workspace: its servers are not started before it is trusted.
    closed = process("run", "-m", model, "add")
    assert "✗ mcp__sums__add" in closed.err
    assert process("trust").status == 0
    ran = process("run", "-m", model, "add")
    assert (ran.status, ran.out) == (0, "It is 42.\n")
    assert "mcp__sums__add" in ran.err
    logs = sorted(workspace.glob(".transcripts/2*/transcript.jsonl"), key=os.path.getmtime)
    wires = [json.loads(line).get("wire", {}) for line in logs[-1].read_text().splitlines()]
    answers = [
        block
        for wire in wires
        if isinstance(wire.get("content"), list)
        for block in wire["content"]
        if block.get("type") == "tool_result"
    ]
    assert [(a["tool_use_id"], a.get("is_error", False)) for a in answers] == [("c1", False)]
    assert "42" in json.dumps(answers[0]["content"])
    servers = list(workspace.glob(".transcripts/2*/mcp*"))
    assert all(server.stat().st_mode & 0o077 == 0 for server in servers)
