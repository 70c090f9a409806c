"""What the report's drawing reads: every request of every session, as compact arrays.

Series are sent as differences from one request to the next, which are short numbers; a session of
5,000 steps takes some 150 kB.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Any, Final

from wayfare.replay.replay import Result
from wayfare.replay.timeline import Point

ORIGINS: Final = ("system", "summary", "notes", "memory", "user", "assistant", "tool")
"""In the order they are stacked, from the axis up: what stays longest stands lowest."""
PASSES: Final = ("repair", "offload", "snip", "microcompact", "fit", "notes", "digest", "summary")
"""In the order the governor runs them."""


def groups(results: Sequence[Result]) -> list[int]:
    """For each result, which session it belongs to: runs of one file under several budgets."""
    found: list[int] = []
    seen: set[tuple[str, int]] = set()
    for at, result in enumerate(results):
        budget = (result.budget, result.window)
        same = at > 0 and results[at - 1].file == result.file and budget not in seen
        if not same:
            seen = set()
        seen.add(budget)
        found.append(found[-1] if same else (found[-1] + 1 if found else 0))
    return found


def chart_data(results: Sequence[Result]) -> str:
    """All sessions as JSON that may stand inside of a `<script>` element."""
    reasons: dict[str, int] = {}
    passes = _passes(results)
    by_run = groups(results)
    runs = [_run(r, group, passes, reasons) for r, group in zip(results, by_run, strict=True)]
    value = {"origins": ORIGINS, "passes": passes, "runs": runs, "reasons": list(reasons)}
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _passes(results: Sequence[Result]) -> list[str]:
    """The passes that did something, in their order."""
    made = {edit.by for r in results for point in r.points for edit in point.edits}
    return [*(name for name in PASSES if name in made), *sorted(made - set(PASSES))]


def _run(
    result: Result, group: int, passes: Sequence[str], reasons: dict[str, int]
) -> Mapping[str, Any]:
    points = result.points
    limit_tokens, limit_chars = limits(result)
    split = [split_tokens(point) for point in points]
    present = [origin for origin in ORIGINS if any(part.get(origin) for part in split)]
    return {
        "group": group,
        "file": result.file,
        "budget": result.budget,
        "window": result.window,
        "limit": limit_tokens,
        "limitChars": limit_chars,
        "tokens": _differences(point.tokens for point in points),
        "believed": _differences(point.believed_tokens for point in points),
        "entered": _differences(point.entered_tokens for point in points),
        "cost": _differences(round(point.cost) for point in points),
        "origins": {o: _differences(part.get(o, 0) for part in split) for o in present},
        "refused": [at for at, point in enumerate(points) if point.refused],
        "edits": [
            _batch(at, point, passes, reasons) for at, point in enumerate(points) if point.edits
        ],
    }


def limits(result: Result) -> tuple[int, int]:
    """Where the passes start: tokens, and the characters that stand for (0: tokens decide).

    A limit in characters is drawn at about as many tokens as so many of this session's hold.
    """
    sizes = [point.tokens / point.chars for point in result.points if point.chars]
    if result.limit_chars is None or not sizes:
        return result.limit, 0
    tokens = round(result.limit_chars * median(sizes))
    return (tokens, result.limit_chars) if tokens < result.limit else (result.limit, 0)


def _batch(at: int, point: Point, passes: Sequence[str], reasons: dict[str, int]) -> list[Any]:
    """The edits of one request: where, tokens before and after, and each pass with its reason."""
    edits: list[int] = []
    for edit in point.edits:
        edits += [passes.index(edit.by), reasons.setdefault(edit.reason, len(reasons))]
    return [at, point.before_tokens, point.after_tokens, edits]


def split_tokens(point: Point) -> Mapping[str, int]:
    """What the provider counted, split by origin as the runtime's meter sees the shares.

    The parts add up to `point.tokens` exactly.
    """
    whole = sum(point.by_origin.values())
    if not whole:
        return {"system": point.tokens} if point.tokens else {}
    parts: dict[str, int] = {}
    so_far = used = 0
    for origin in ORIGINS:
        so_far += point.by_origin.get(origin, 0)
        upto = round(point.tokens * so_far / whole)
        parts[origin] = upto - used
        used = upto
    return parts


def _differences(values: Iterable[int]) -> list[int]:
    last = 0
    found: list[int] = []
    for value in values:
        found.append(value - last)
        last = value
    return found
