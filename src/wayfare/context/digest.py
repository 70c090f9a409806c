"""The digest: a summary made by code alone, from the ledger. Deterministic; nothing invented.

Used when there is no model to ask, when summaries keep failing, as the last rung of the ladder,
and as the seed of the session notes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from os.path import commonpath
from typing import Final

from wayfare.context import names
from wayfare.context.compacted import (
    LEAST_REQUEST_CHARS,
    REFERENCE,
    compacted,
    request_shown,
)
from wayfare.context.facts import CommandFact, ErrorFact, FileFact, Ledger, Said
from wayfare.context.laid_down import Rank, laid_down
from wayfare.context.names import InSight
from wayfare.context.rendering import Rendering
from wayfare.context.slot import Slot
from wayfare.context.stubs import Addresses, cut
from wayfare.context.summary_reply import bounded
from wayfare.messages import Message, Opaque, Origin, Text, Thinking, ToolCall, ToolResult, walk
from wayfare.redaction import scrub
from wayfare.transcript import Collapse

_QUOTE_CHARS: Final = 240
_COMMAND_CHARS: Final = 120
_ERROR_CHARS: Final = 160
_MOST_OF_LEFT: Final = 0.5
"""No section takes more than this share of the room that is left when its turn comes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """How long a digest may be, in characters: all of it, and its two lists of names."""

    chars: int
    file_name_chars: int
    identifier_chars: int

    @classmethod
    def of(cls, chars: int) -> Room:
        """The usual division: an eighth for file names, 11 of 16 parts for identifiers, the rest
        prose; what prose or file names leave goes to identifiers."""
        return cls(chars=chars, file_name_chars=chars // 8, identifier_chars=chars * 11 // 16)


def digest(ledger: Ledger, addresses: Addresses, room: Room, seen: InSight | None = None) -> str:
    """What happened so far: task list, errors, requests, files, commands, last words, names.

    The names come last and fill what room the rest leaves. `seen` are the names that stand in the
    context beside the digest and need not stand in it again.
    """
    left = room.chars - room.file_name_chars - room.identifier_chars
    prose: list[str] = []
    for title, lines in _sections(ledger, addresses):
        taken = _fitting(lines, int(max(left - len(title) - 1, 0) * _MOST_OF_LEFT))
        if taken:
            prose += [title, *taken]
            left -= len(title) + 1 + sum(len(line) + 1 for line in taken)
    text = scrub("\n".join(prose))[0]
    told = InSight([text]) if seen is None else seen.with_text(text)
    listed = name_index(ledger, room, told, room.chars - len(text) - 1)
    return "\n".join([text, *listed]) if text else "\n".join(listed)


def _fitting(lines: Sequence[str], room_chars: int) -> list[str]:
    """The newest of `lines` that fit, in their order; lines come oldest first."""
    taken: list[str] = []
    for line in reversed(lines):
        room_chars -= len(line) + 1
        if room_chars < 0:
            break
        taken.append(line)
    return taken[::-1]


def _sections(ledger: Ledger, addresses: Addresses) -> Iterator[tuple[str, list[str]]]:
    yield (
        "Task list:",
        [f"- [{t.get('status', '?')}] {t.get('content', t.get('text', ''))}" for t in ledger.todos],
    )
    yield "Errors that stand:", [_error(e, addresses) for e in ledger.errors.values()]
    formed = [one.said for one in laid_down(ledger) if one.rank not in (Rank.WISH, Rank.ASIDE)]
    yield "The user laid down:", [_quote(said, addresses) for said in reversed(formed)]
    yield (
        "The user said:",
        [
            _quote(said, addresses)
            for said in ledger.requests.values()
            if " ".join(said.text.split()) not in ledger.rules
        ],
    )
    files = list(ledger.files.values())
    yield "Files written:", list(_paths([f for f in files if f.written]))
    yield "Files read:", list(_paths([f for f in files if not f.written]))
    yield "Commands:", [_command(c) for c in ledger.commands.values()]
    if ledger.last_words is not None:
        yield "The assistant said last:", [_quote(ledger.last_words, addresses)]
    yield (
        "The assistant concluded:",
        [_quote(said, addresses) for said in ledger.conclusions.values()],
    )


def _error(error: ErrorFact, addresses: Addresses) -> str:
    said = cut(error.text, _ERROR_CHARS)
    return f"- {cut(error.use, 80)}: {said} ({addresses.entry(error.entry)})"


def _quote(said: Said, addresses: Addresses) -> str:
    words = " ".join(said.text.split())
    shown = cut(words, _QUOTE_CHARS)
    if not said.cut and shown == words:
        return f'- "{words}"'
    return f'- "{shown} …" ({addresses.entry(said.entry)})'


def _command(command: CommandFact) -> str:
    ended = "no result" if command.failed is None else "failed" if command.failed else "ok"
    return f"- {cut(command.command, _COMMAND_CHARS)}: {ended}"


def _paths(files: Sequence[FileFact]) -> Iterator[str]:
    """Paths, oldest use first, below the folder all of them share."""
    paths = [file.path for file in files]
    shared = _shared_folder(paths)
    for path in paths:
        yield f"- {path.removeprefix(shared)}"
    if shared:
        yield f"(all below {shared})"


def _shared_folder(paths: Sequence[str]) -> str:
    if len(paths) < 2 or not all(path.startswith("/") for path in paths):
        return ""
    folder = commonpath(paths)
    return f"{folder}/" if len(folder) > 1 and folder not in paths else ""


def name_index(
    ledger: Ledger, room: Room, seen: InSight | None = None, most_chars: int | None = None
) -> Iterator[str]:
    """Two lines of names, those most likely to be used again first; `most_chars` is for both."""
    left = room.file_name_chars + room.identifier_chars if most_chars is None else most_chars
    files = names.listed(ledger.file_names.ranked(), min(room.file_name_chars, left), seen)
    if files:
        line = f"File names: {files}"
        left -= len(line) + 1
        yield scrub(line)[0]
    listed = names.listed(ledger.identifiers.ranked(), left - 14, seen)
    if listed:
        yield scrub(f"Identifiers: {listed}")[0]


def marker(
    op: Collapse,
    span: tuple[int, int],
    request: str,
    seen: Sequence[Slot],
    rendering: Rendering,
    carried: str = "",
) -> Message:
    """The message that stands for what a `Collapse` took out of the context.

    `span` are the first and last entry taken out, `request` the user's words that hold now,
    `seen` the messages that stay, `carried` the summary among what was taken out: half of the
    room is the summary's.
    """
    addresses, ledger = rendering.addresses, rendering.ledger
    room = Room(chars=op.room[0], file_name_chars=op.room[1], identifier_chars=op.room[2])
    in_sight = InSight(text for slot in seen for text in texts(slot.message))
    if op.form == "snip":
        first, last = span
        lines = [
            f"[{last - first + 1} messages archived at {addresses.run(first, last)}]",
            f"Table of contents: {addresses.contents}",
            *name_index(ledger, room, in_sight),
        ]
    else:
        # All of the request stands in the context; a digest needs its beginning only.
        request_chars = LEAST_REQUEST_CHARS
        prose = bounded(carried, len, room.chars // 2)
        own = replace(room, chars=room.chars - len(prose))
        if prose:
            return compacted(
                prose=prose,
                request=request,
                facts=digest(ledger, addresses, own, in_sight),
                last_entry=span[1],
                addresses=addresses,
                reactive=op.form == "reactive",
                request_chars=request_chars,
            )
        lines = [
            "[Reactive compact]" if op.form == "reactive" else "[Compacted]",
            "Current user request:",
            request_shown(request, request_chars),
            REFERENCE,
            digest(ledger, addresses, room, in_sight),
            f"Full transcript: {addresses.run(1, span[1])} (table of contents: {addresses.contents})",
        ]
    # Quotations may hold halves of characters, which no provider takes.
    text = "\n".join(lines).encode("utf-8", "replace").decode("utf-8")
    return Message(role="user", blocks=(Text(text=text),), origin=Origin.SUMMARY)


def texts(message: Message) -> Iterator[str]:
    """The texts of a message as a model reads them, the strings of calls as JSON."""
    for block in walk(message.blocks):
        match block:
            case Text() | Thinking() | Opaque():
                yield block.text
            case ToolCall():
                yield block.arguments or ""
                yield from _strings(block.input)
            case ToolResult() | _:
                pass


def _strings(value: object) -> Iterator[str]:
    stack: list[object] = [value]
    while stack:
        one = stack.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            stack.extend(one.values())  # pyright: ignore[reportUnknownArgumentType]
        elif isinstance(one, list):
            stack.extend(one)  # pyright: ignore[reportUnknownArgumentType]
