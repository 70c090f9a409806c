"""Section `compaction` of BENCHMARKS.md: planted facts over five chained compactions."""

from __future__ import annotations

from collections.abc import Sequence

from bench.planted_facts import GENERATIONS, WINDOW_TOKENS, Found, measured
from bench.recordings import Recording
from bench.report import Section, table

_KINDS = ("rule", "version", "number", "todo", "path", "error", "decision")


def section(recordings: Sequence[Recording], command: str) -> Section:
    """Visible, by address and lost after each generation; by kind after the last."""
    ways = measured(recordings)
    count = len(next(iter(ways.values())))
    rows = [
        (
            name,
            *(_percent(_share(found, g)) for g in range(1, GENERATIONS + 1)),
            _percent(_share(found, GENERATIONS, what="by_address")),
            sum(f.total(f.lost, GENERATIONS) for f in found),
            _percent(min(f.share(f.visible, GENERATIONS) for f in found)),
        )
        for name, found in ways.items()
    ]
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
Twenty facts laid into each of {count} recorded sessions, {GENERATIONS} compactions each, a window of {WINDOW_TOKENS:,} tokens. *Summaries, half forgotten*: a scripted summarizer that leaves out every other fact it is shown. *Digest alone*: no model. *Plain*: the same summarizer, its summary in place of the history. By address: found by the independent reader in at most two reads from the request. {asked} summaries were asked for in {steps:,} steps ({100 * asked / max(steps, 1):.1f} per 100 steps, the forced ones among them).

{table(head, rows)}

Visible after the last, by kind:

{table(("", *_KINDS), by_kind)}
"""
    title = "What compactions leave of planted facts"
    return Section(key="compaction", title=title, command=command, text=text)


def _share(
    found: Sequence[Found], generation: int, kind: str = "", *, what: str = "visible"
) -> float:
    every = sum(
        f.total(one, generation, kind) for f in found for one in (f.visible, f.by_address, f.lost)
    )
    return sum(f.total(getattr(f, what), generation, kind) for f in found) / max(every, 1)


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
