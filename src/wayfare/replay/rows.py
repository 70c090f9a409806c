"""A replay's result as one plain row: what `--json` prints and the report embeds."""

from __future__ import annotations

from typing import Any

from wayfare.replay.replay import Result


def row(result: Result) -> dict[str, Any]:
    """The row of one session under one budget; shares are 0 to 1, costs in input tokens."""
    return {
        "file": result.file,
        "format": result.format,
        "budget": result.budget,
        "window": result.window,
        "session": result.session,
        "steps": result.steps,
        "requests": result.requests,
        "invalid": result.invalid,
        "refused": result.refused,
        "recoverable": result.recoverable,
        "active_request_visible": result.active_request_visible,
        "needed_files": result.needed_files,
        "needed_identifiers": result.needed_identifiers,
        "needed_content": result.needed_content,
        "tokens_sent": result.tokens_sent,
        "cost": round(result.cost, 1),
        "cost_ungoverned": round(result.cost_ungoverned, 1),
        "summaries": result.summaries,
        "edits": dict(result.edits),
        "bytes_written_ratio": round(result.bytes_written_ratio, 4),
        "governance_ms": dict(result.governance_ms),
        "stopped": result.stopped,
    }
