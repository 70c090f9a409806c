"""Needed references: what of the past the recording is about to use, and whether it is in sight.

For each step: the file names and identifiers in the tool inputs of the recording's next ten
assistant messages that occurred earlier in the session (the last two messages excepted), and for
its edit calls the texts to be replaced that were seen earlier. A measure without a judge.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from wayfare.context import names
from wayfare.messages import Block, Message, Opaque, Text, Thinking, ToolCall, ToolResult

AHEAD: Final = 10
_RECENT: Final = 2
_OLD_TEXT_KEYS: Final = frozenset(("old_string", "old_str", "oldText", "old_text", "search"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Needed:
    """What is needed at one step."""

    files: frozenset[str]
    identifiers: frozenset[str]
    contents: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """How much of it stands in the request; `total` counts are 0 where nothing is needed."""

    files: int = 0
    files_total: int = 0
    identifiers: int = 0
    identifiers_total: int = 0
    content_chars: int = 0
    content_chars_total: int = 0

    def __add__(self, other: Shares) -> Shares:
        return Shares(
            files=self.files + other.files,
            files_total=self.files_total + other.files_total,
            identifiers=self.identifiers + other.identifiers,
            identifiers_total=self.identifiers_total + other.identifiers_total,
            content_chars=self.content_chars + other.content_chars,
            content_chars_total=self.content_chars_total + other.content_chars_total,
        )


class NeededIndex:
    """What each step of a recording will need, computed once a recording."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self._messages = messages
        self._texts = [spoken(m) for m in messages]
        self._assistants = [i for i, m in enumerate(messages) if m.role == "assistant"]
        self._files: dict[int, frozenset[str]] = {}
        self._identifiers: dict[int, frozenset[str]] = {}
        self._old: dict[int, tuple[tuple[str, int], ...]] = {}
        first_file: dict[str, int] = {}
        first_identifier: dict[str, int] = {}
        for at, message in enumerate(messages):
            for name in names.file_names(self._texts[at]):
                first_file.setdefault(name, at)
            for name in names.identifiers(self._texts[at]):
                first_identifier.setdefault(name, at)
            if message.calls:
                said = "\n".join(_strings([dict(c.input) or c.arguments for c in message.calls]))
                self._files[at] = frozenset(names.file_names(said))
                self._identifiers[at] = frozenset(names.identifiers(said))
                self._old[at] = tuple(self._seen(message, at))
        self._first_file, self._first_identifier = first_file, first_identifier

    def _seen(self, message: Message, at: int) -> Iterator[tuple[str, int]]:
        """Texts to be replaced, with the first message that held them, if one before did."""
        for call in message.calls:
            for old in _old_texts(call.input):
                first = next((i for i in range(at) if old in self._texts[i]), None)
                if first is not None:
                    yield old, first

    def needed(self, at: int) -> Needed:
        """What the next assistant messages from position `at` on will use."""
        start = _bisect(self._assistants, at)
        ahead = self._assistants[start : start + AHEAD]
        known = at - _RECENT
        return Needed(
            files=frozenset(
                n for i in ahead for n in self._files.get(i, ()) if self._first_file[n] < known
            ),
            identifiers=frozenset(
                n
                for i in ahead
                for n in self._identifiers.get(i, ())
                if self._first_identifier[n] < known
            ),
            contents=tuple(
                {old: None for i in ahead for old, first in self._old.get(i, ()) if first < at}
            ),
        )


def shares(needed: Needed, request: str) -> Shares:
    """How much of what is needed stands in the text of a request."""
    return Shares(
        files=sum(1 for n in needed.files if n in request),
        files_total=len(needed.files),
        identifiers=sum(1 for n in needed.identifiers if n in request),
        identifiers_total=len(needed.identifiers),
        content_chars=sum(len(old) for old in needed.contents if old in request),
        content_chars_total=sum(len(old) for old in needed.contents),
    )


def spoken(message: Message) -> str:
    """All text of a message as the model reads it, arguments included, unescaped."""
    return "\n".join(text for block in message.blocks for text in leaves(block))


def leaves(block: Block) -> Iterator[str]:
    """The single texts of a block, as they entered."""
    match block:
        case Text() | Thinking():
            yield block.text
        case ToolCall():
            yield block.name
            yield from _strings(dict(block.input) or block.arguments)
        case ToolResult():
            for inner in block.content:
                yield from leaves(inner)
        case Opaque():
            yield block.text or "\n".join(_strings(block.wire))
        case _:
            return


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():  # pyright: ignore[reportUnknownVariableType]
            yield from _strings(inner)
    elif isinstance(value, list | tuple):
        for inner in value:  # pyright: ignore[reportUnknownVariableType]
            yield from _strings(inner)


def _old_texts(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, inner in value.items():  # pyright: ignore[reportUnknownVariableType]
            if key in _OLD_TEXT_KEYS and isinstance(inner, str):
                if inner.strip():
                    yield inner
            else:
                yield from _old_texts(inner)
    elif isinstance(value, list):
        for inner in value:  # pyright: ignore[reportUnknownVariableType]
            yield from _old_texts(inner)


def _bisect(values: Sequence[int], at: int) -> int:
    from bisect import bisect_left

    return bisect_left(values, at)
