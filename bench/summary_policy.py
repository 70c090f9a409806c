"""wayfare with a summarizer, with and without session notes, as policies like the others.

Summaries and notes are scripted: half of the facts shown, so what is measured is the machinery and
not a model's prose. What the side calls cost is counted at the prices of the main model.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from bench.judges.provider import Prices
from bench.planted_facts import forgetful
from bench.policy import Setting
from bench.wayfare_policy import Governed
from wayfare.backends import InMemoryDocs
from wayfare.context.summarizer import Summarizer, due
from wayfare.events import ignore
from wayfare.model import Request
from wayfare.notes.keeper import Keeper
from wayfare.providers.replying import estimated_tokens
from wayfare.providers.scripted import ScriptedModel

_PLAIN: Final = Prices()
_REPLY_TOKENS: Final = 1_200
"""What a side call is taken to write, whatever the script says."""


class Summarized(Governed):
    """The preset `window` with summaries, and with notes where they are asked for."""

    def __init__(self, setting: Setting, *, notes: bool) -> None:
        super().__init__(setting, "window")
        self._side = ScriptedModel(always=forgetful(()), window_tokens=setting.window_tokens)
        self._writer = ScriptedModel(always=_sections, window_tokens=setting.window_tokens)
        self._keeper: Keeper | None = None
        if notes:
            self._keeper = Keeper(
                governor=self._governor,
                docs=InMemoryDocs(),
                address=f".transcripts/{setting.session}/notes.md",
                model=self._writer,
                watch=ignore,
            )
        self._summarizer = Summarizer(
            model=self._side,
            clock=self._clock,
            watch=ignore,
            notes=self._keeper.now if self._keeper is not None else None,
        )

    async def _before_call(self) -> None:
        if self._keeper is not None:
            await self._keeper.before_call()
        if due(self._governor):
            for entry in await self._summarizer(self._governor, trigger="auto"):
                self._edits[entry.by] = self._edits.get(entry.by, 0) + 1

    def report(self) -> dict[str, Any]:
        """Summaries, updates of the notes, and what both cost beside the session's own calls."""
        calls = [*self._side.requests, *self._writer.requests]
        cost = sum(
            estimated_tokens(r) * _PLAIN.plain + _REPLY_TOKENS * _PLAIN.output for r in calls
        )
        return {
            **super().report(),
            "summaries": len(self._side.requests),
            "note_updates": len(self._writer.requests),
            "side_cost": cost,
        }


def _sections(request: Request) -> str:
    """Notes as code alone would write them: the facts it was shown, half of them."""
    text = request.messages[0].text
    facts = text.partition("<facts>\n")[2].partition("\n</facts>")[0].splitlines()
    recent = re.findall(r"(?m)^#\d+ assistant: (.{20,200})$", text)[-3:]
    half = "\n".join(line for at, line in enumerate(facts) if at % 2 == 0)
    return f"# Current State\n{chr(10).join(recent) or 'at work'}\n# Learnings\n{half[:4_000]}"


def with_summaries(setting: Setting) -> Summarized:
    """`window` with summaries."""
    return Summarized(setting, notes=False)


def with_notes(setting: Setting) -> Summarized:
    """`window` with summaries and session notes."""
    return Summarized(setting, notes=True)


SUMMARIZED: Final[dict[str, Callable[[Setting], Summarized]]] = {
    "window, summaries": with_summaries,
    "window, summaries and notes": with_notes,
}
