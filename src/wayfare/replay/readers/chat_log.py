"""Builds an openai-chat history out of a tool's own events."""

from __future__ import annotations

from typing import Any

from wayfare.replay.readers.fields import mappings, text
from wayfare.replay.recording import Compaction, Wire


class ChatLog:
    """Messages in the order the wire format wants: the results of a call message follow it.

    Tools log what happens when it happens: results in the order of their completion, notices
    between a call and its result. So results wait until the last one of their message is there (or
    the next assistant message comes) and are put in call order, notices after them.
    """

    def __init__(self) -> None:
        self.messages: list[Wire] = []
        self.times: list[float | None] = []
        self.compactions: list[Compaction] = []
        self._open: list[str] = []
        self._results: dict[str, tuple[Wire, float | None]] = {}
        self._waiting: list[tuple[Wire, float | None]] = []

    def add(self, message: Wire, at: float | None) -> None:
        """Any message but a tool result."""
        if message.get("role") == "assistant":
            self.settle()
            self._append(message, at)
            self._open = [text(call.get("id")) for call in mappings(message.get("tool_calls"))]
        elif self._open:
            self._waiting.append((message, at))
        else:
            self._append(message, at)

    def result(self, call_id: str, content: Any, at: float | None) -> None:
        """The result of a call; one that nobody asked for stands where it was recorded."""
        message: Wire = {"role": "tool", "tool_call_id": call_id, "content": content}
        if call_id not in self._open or call_id in self._results:
            self._append(message, at)
            return
        self._results[call_id] = (message, at)
        if len(self._results) == len(self._open):
            self.settle()

    def join(self, call: Wire) -> bool:
        """Put a further call into the last message, when its results are still awaited."""
        if not self._open:
            return False
        last = self.messages[-1]
        self.messages[-1] = {**last, "tool_calls": [*last["tool_calls"], call]}
        self._open.append(text(call.get("id")))
        return True

    def compacted(
        self, summary: str, *, trigger: str | None = None, tokens_before: int | None = None
    ) -> None:
        """The tool shortened its context here."""
        self.settle()
        self.compactions.append(
            Compaction(
                index=len(self.messages),
                summary=summary,
                trigger=trigger,
                tokens_before=tokens_before,
            )
        )

    def settle(self) -> None:
        """Put down what waits; calls without a result stay so."""
        for call_id in self._open:
            if found := self._results.get(call_id):
                self._append(*found)
        waiting, self._waiting, self._open, self._results = self._waiting, [], [], {}
        for message, at in waiting:
            self._append(message, at)

    def _append(self, message: Wire, at: float | None) -> None:
        self.messages.append(message)
        self.times.append(at)
