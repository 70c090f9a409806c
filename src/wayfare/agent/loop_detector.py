"""The loop detector: the same call with the same input and the same result, again and again."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass

from wayfare import json_text
from wayfare.messages import ToolCall, ToolResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeat:
    """A call that came again with nothing new in between: how often, and a line about it."""

    call: ToolCall
    times: int

    @property
    def text(self) -> str:
        """What the model is told."""
        return (
            f"The same call of {self.call.name} with the same input gave the same result "
            f"{self.times} times and nothing else happened in between. Repeating it will not "
            "change anything: use what it already told you, try something else, or say what is "
            "in the way."
        )


class LoopDetector:
    """Counts calls that repeat.

    A call with a result never seen in this turn is news and starts the count anew, so running the
    same test between edits is no loop, and going back and forth between two calls is one.
    """

    def __init__(self) -> None:
        self._known: set[bytes] = set()
        self._since: Counter[bytes] = Counter()

    def seen(self, call: ToolCall, result: ToolResult) -> Repeat:
        """Take note of a call and its result; says how often it came since the last news."""
        mark = _mark(call, result)
        if mark not in self._known:
            self._known.add(mark)
            self._since.clear()
        self._since[mark] += 1
        return Repeat(call=call, times=self._since[mark])


def _mark(call: ToolCall, result: ToolResult) -> bytes:
    asked = call.input or call.arguments or ""
    whole = json_text.dumps([call.name, asked, result.is_error, result.content])
    return hashlib.blake2b(whole, digest_size=16).digest()
