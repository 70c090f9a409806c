"""All but the last 3 tool results are blanked, on every step; nothing else is done."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bench.policy import Setting
from bench.wire import RESPONSES_RESULTS, Format, Wire, is_object, results

KEPT_RESULTS = 3
STUB = "[Old tool result content cleared]"


class StubResults:
    """Blanks by counting results, so a batch of more than 3 loses some before they were read."""

    def __init__(self, setting: Setting) -> None:
        self._format: Format = setting.format
        self._view: list[Wire] = []
        # (index of the message, how many of its results are still whole), oldest first
        self._whole: list[tuple[int, int]] = []

    def prepare(self, history: Sequence[Wire]) -> list[Wire]:
        """The history with older results replaced by a stub."""
        for index in range(len(self._view), len(history)):
            self._view.append(history[index])
            held = len(results(history[index], self._format))
            if held:
                self._whole.append((index, held))
        surplus = sum(held for _, held in self._whole) - KEPT_RESULTS
        while surplus > 0:
            index, held = self._whole.pop(0)
            blanked = min(held, surplus)
            total = len(results(history[index], self._format))
            self._view[index] = blank(history[index], total - held + blanked)
            if blanked < held:
                self._whole.insert(0, (index, held - blanked))
            surplus -= blanked
        return list(self._view)


def blank(message: Wire, count: int) -> Wire:
    """A copy of a message whose first `count` results are stubs."""
    if message.get("role") == "tool":
        return {**message, "content": STUB}
    if message.get("type") in RESPONSES_RESULTS:
        return {**message, "output": STUB}
    content: list[Any] = []
    for block in message["content"]:
        if is_object(block) and block.get("type") == "tool_result" and count > 0:
            content.append({**block, "content": STUB})
            count -= 1
        else:
            content.append(block)
    return {**message, "content": content}
