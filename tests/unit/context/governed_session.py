"""A governor over a log in memory, fed with steps, for tests of compaction."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from wayfare.clock import MovableClock
from wayfare.context.budget import Budget
from wayfare.context.pipeline import Governor
from wayfare.context.summarizer import Summarizer
from wayfare.events import Event
from wayfare.messages import assistant, call, result, results, user
from wayfare.providers.script import Turn
from wayfare.providers.scripted import ScriptedModel
from wayfare.session import governed, memory_transcript

SECTIONS = """<analysis>what matters</analysis>
<summary>
## Goal and standing constraints
- "{rule}" (#2)
## Decisions
- parse_date stays where it is, because the tests import it
## Files and functions
- src/dates.py: parse_date
## Errors and corrections
- the build failed with E42 until the lock file was removed
## State of work
- {state}
## Next step
- edit src/dates.py
## Open questions
-
</summary>"""
RULE = "Port the date parser; never touch the vendor folder."


def good_summary(state: str = "five files read", rule: str = RULE) -> str:
    """A reply that is a summary."""
    return SECTIONS.format(state=state, rule=rule)


class Governed:
    """A session's governor, its summarizer and everything they tell."""

    def __init__(self, window_tokens: int = 8_000, **numbers: Any) -> None:
        self.clock = MovableClock()
        self.events: list[Event] = []
        self.transcript = memory_transcript("s", clock=self.clock, watch=self.events.append)
        self.budget = Budget.window(window_tokens, max_output_tokens=1_000).with_(**numbers)
        self.governor: Governor
        self.model: ScriptedModel | None = None

    async def open(self, request: str = RULE) -> Governed:
        """Begin with a request."""
        self.governor = await governed(
            self.transcript, self.budget, clock=self.clock, watch=self.events.append
        )
        if request:
            await self.governor.add([user(request)])
        return self

    async def steps(self, numbers: Iterable[int], chars: int = 2_000) -> None:
        """Steps that read a file each."""
        for number in numbers:
            path = f"src/f{number}.py"
            asked = call("read_file", {"path": path}, id=f"c{number}")
            text = f"content of {path}\n" + "word " * (chars // 5)
            await self.governor.add([assistant(f"reading {path}", asked)])
            await self.governor.add([results(result(f"c{number}", text))])

    def summarizer(self, *script: Turn, always: Turn | None = None, **options: Any) -> Summarizer:
        """A summarizer by a scripted model."""
        size = options.pop("window_tokens", self.budget.window_tokens)
        self.model = ScriptedModel(
            script, always=always, window_tokens=size, max_output_tokens=2_000, refuses=True
        )
        return Summarizer(model=self.model, clock=self.clock, watch=self.events.append, **options)

    @property
    def texts(self) -> list[str]:
        """The texts of the view."""
        return [slot.message.text for slot in self.governor.view]

    def told(self, name: str) -> list[Event]:
        """The events of a name."""
        return [event for event in self.events if event.name == name]
