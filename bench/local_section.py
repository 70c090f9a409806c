"""Section `local-session` of BENCHMARKS.md: 200 steps on the packaged local model."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Final

import anyio

from bench.local_session import BELIEVED_TOKENS, STEPS_A_TURN, Ran, ran
from bench.report import ROOT, Section, table
from bench.side_queries import packaged

STEPS: Final = 200
WINDOW_TOKENS: Final = 8_192
_LINES: Final = 10
_SUMMARY_TOKENS: Final = 300


def section(command: str) -> Section:
    """Whether a long session on a real small window goes through."""
    path = packaged(ROOT)
    title = "A long session on the packaged local model"
    if path is None:
        text = "The packaged model is not on this machine."
    else:
        text = _text(_run(path), path.name)
    return Section(key="local-session", title=title, command=command, text=text)


def _run(path: Path) -> Ran:
    async def run() -> Ran:
        with tempfile.TemporaryDirectory(prefix="local-session-") as folder:
            return await ran(
                path,
                ROOT / "src" / "wayfare" / "context",
                Path(folder),
                steps=STEPS,
                window_tokens=WINDOW_TOKENS,
                lines=_LINES,
                summary_tokens=_SUMMARY_TOKENS,
            )

    return anyio.run(run)


def _text(found: Ran, name: str) -> str:
    failures = ", ".join(f"{kind} {count}" for kind, count in found.failures.most_common())
    edits = ", ".join(f"{by} {count}" for by, count in found.edits.most_common())
    side = len(found.summaries)
    # What was asked and is neither a step that was answered nor a side request was refused.
    refused = found.asked - found.steps - side
    rows = (
        ("steps", f"{found.steps:,}"),
        ("turns, each `done`", f"{found.ended.count('done')} of {len(found.ended)}"),
        ("requests, those for summaries and notes among them", f"{found.asked:,}"),
        ("invalid", len(found.invalid)),
        ("steps refused by the server as too long, each then sent smaller", refused),
        ("window the session believes in at the end", f"{found.window_tokens:,}"),
        ("largest request, tokens by the server", f"{found.largest_tokens:,}"),
        ("edits by pass", edits or "none"),
        ("side requests, for summaries and notes", side),
        ("of these refused as too long", found.refused - refused),
        ("summaries of the model that were good enough to stand", found.edits["summary"]),
        ("summaries that failed, by reason (a digest stood in)", failures or "none"),
        ("the user's rule in the last request", "yes" if found.rule_shown else "no"),
        ("minutes", f"{found.seconds / 60:.0f}"),
    )
    return f"""\
{name} behind llama.cpp's server with its window of {WINDOW_TOKENS:,} tokens, which the session takes for {WINDOW_TOKENS * BELIEVED_TOKENS:,} until a request is refused. It reads every request; the tool calls are scripted ({STEPS_A_TURN} steps a turn) and work on a copy of wayfare's own source; the summaries are the model's.

{table(("", ""), rows)}
"""
