"""The digest: a summary made by code alone, from the ledger. Deterministic; nothing invented.

Used when there is no model to ask, when summaries keep failing, as the last rung of the ladder,
and as the seed of the session notes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from wayfare.context import names
from wayfare.context.compacted import REFERENCE, compacted, request_shown
from wayfare.context.facts import Ledger, Said
from wayfare.context.rendering import Rendering
from wayfare.context.stubs import Addresses, cut
from wayfare.messages import Message, Origin, Text
from wayfare.transcript import Collapse

_REQUEST_CHARS: Final = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """How long a digest may be, in characters: all of it, and its two lists of names."""

    chars: int
    file_name_chars: int
    identifier_chars: int


def digest(ledger: Ledger, addresses: Addresses, room: Room) -> str:
    """What happened so far: requests, files, commands, errors, todos, last words, names."""
    sections = list(_sections(ledger, addresses))
    listed = list(name_index(ledger, room))
    left = room.chars - sum(len(line) + 1 for line in listed)
    text: list[str] = []
    for title, lines in sections:
        taken = _fitting(lines, max(left - len(title) - 1, 0) // 2)
        if taken:
            text += [title, *taken]
            left -= len(title) + 1 + sum(len(line) + 1 for line in taken)
    return "\n".join([*text, *listed])


def _fitting(lines: list[str], room_chars: int) -> list[str]:
    """The newest of `lines` that fit, in their order; lines come oldest first."""
    taken: list[str] = []
    for line in reversed(lines):
        room_chars -= len(line) + 1
        if room_chars < 0:
            break
        taken.append(line)
    return taken[::-1]


def _sections(ledger: Ledger, addresses: Addresses) -> Iterator[tuple[str, list[str]]]:
    at = addresses.transcript
    todos = [
        f"- [{t.get('status', '?')}] {t.get('content', t.get('text', ''))}" for t in ledger.todos
    ]
    yield "Task list:", todos
    yield (
        "Errors that stand:",
        [f"- {cut(e.use, 80)}: {e.text} ({at}#{e.entry})" for e in ledger.errors.values()],
    )
    yield (
        "The user laid down:",
        [f'- "{said.text}" ({at}#{said.entry})' for said in ledger.rules.values()],
    )
    yield (
        "The user said:",
        [
            f'- "{_quote(said)}" ({at}#{said.entry})'
            for said in ledger.requests.values()
            if _quote(said) not in ledger.rules
        ],
    )
    if ledger.last_words is not None:
        words = " ".join(ledger.last_words.text.split())
        yield "The assistant said last:", [f'"{words}" ({at}#{ledger.last_words.entry})']
    yield (
        "The assistant concluded:",
        [f'- "{said.text}" ({at}#{said.entry})' for said in ledger.conclusions.values()],
    )
    yield "Files written:", _files(ledger, written=True)
    commands = [
        f"- {c.command}: {'failed' if c.failed else 'ok' if c.failed is not None else 'no result'}"
        for c in ledger.commands.values()
    ]
    yield "Commands:", commands
    yield "Files read:", _files(ledger, written=False)


def _quote(said: Said) -> str:
    return " ".join(said.text.split()) + (" …" if said.cut else "")


def _files(ledger: Ledger, *, written: bool) -> list[str]:
    return [f"- {fact.path}" for fact in ledger.files.values() if bool(fact.written) is written]


def name_index(ledger: Ledger, room: Room, extra: Iterable[str] = ()) -> Iterator[str]:
    """Two lines of names in use, last used first; `extra` fills what room is left."""
    files = names.listed([*reversed(ledger.file_names), *extra], room.file_name_chars)
    if files:
        yield f"File names: {files}"
    identifiers = names.listed(reversed(ledger.identifiers), room.identifier_chars)
    if identifiers:
        yield f"Identifiers: {identifiers}"


def marker(
    op: Collapse, span: tuple[int, int], request: str, rendering: Rendering, carried: str = ""
) -> Message:
    """The message that stands for what a `Collapse` took out of the context.

    `carried` is the summary among what it took out: half of the room is the summary's.
    """
    addresses, ledger = rendering.addresses, rendering.ledger
    room = Room(chars=op.room[0], file_name_chars=op.room[1], identifier_chars=op.room[2])
    if op.form == "snip":
        first, last = span
        lines = [
            f"[{last - first + 1} messages archived at {addresses.run(first, last)}]",
            f"Table of contents: {addresses.contents}",
            *name_index(ledger, room),
        ]
    else:
        request_chars = min(_REQUEST_CHARS, max(room.chars // 3, 200))
        prose = cut(carried, room.chars // 2)
        own = replace(room, chars=room.chars - len(prose))
        if prose:
            return compacted(
                prose=prose,
                request=request,
                facts=digest(ledger, addresses, own),
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
            digest(ledger, addresses, room),
            f"Full transcript: {addresses.run(1, span[1])} (table of contents: {addresses.contents})",
        ]
    text = "\n".join(lines)
    return Message(role="user", blocks=(Text(text=text),), origin=Origin.SUMMARY)
