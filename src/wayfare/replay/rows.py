"""A replay's result as one plain row: what `--json` prints, and what the tables are made of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import reduce
from operator import add
from typing import Any

from wayfare.replay.needed import Shares
from wayfare.replay.replay import Result

Row = Mapping[str, Any]


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
        "problems": [*result.unread, *result.problems],
    }


def totals(results: Sequence[Result]) -> list[dict[str, Any]]:
    """One row a budget that adds up its sessions, in the order the budgets first occur.

    Counts and costs are sums; shares are those of all sessions taken as one, so a long session
    weighs more than a short one. What does not add up (times, bytes written) is left out.
    """
    budgets = dict.fromkeys((result.budget, result.window) for result in results)
    return [
        _total([r for r in results if (r.budget, r.window) == budget], *budget)
        for budget in budgets
    ]


def _total(results: Sequence[Result], budget: str, window: int) -> dict[str, Any]:
    needed = reduce(add, (result.shares for result in results), Shares())
    edits: Counter[str] = Counter()
    for result in results:
        edits.update(result.edits)
    counted = ("steps", "requests", "invalid", "refused", "tokens_sent", "summaries")
    return {
        "budget": budget,
        "window": window,
        "sessions": len(results),
        **{name: sum(getattr(result, name) for result in results) for name in counted},
        "recoverable": _share(
            sum(r.reach.visible + r.reach.recovered for r in results),
            sum(r.reach.texts for r in results),
        ),
        "active_request_visible": _share(
            sum(r.kept for r in results), sum(r.promised for r in results)
        ),
        "needed_files": _share(needed.files, needed.files_total),
        "needed_identifiers": _share(needed.identifiers, needed.identifiers_total),
        "needed_content": _share(needed.content_chars, needed.content_chars_total),
        "cost": round(sum(result.cost for result in results), 1),
        "cost_ungoverned": round(sum(result.cost_ungoverned for result in results), 1),
        "edits": dict(edits),
    }


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0
