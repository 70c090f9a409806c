"""Entries: the lines of a transcript. Versioned, never changed once written.

An edit says *what* was decided, not the text it shows: texts are stored once, and the fold renders
previews, stubs and digests again from them, always alike. Only what no code can make again, such
as a model's summary, is stored in the edit itself.

Four kinds: a message, an edit (what a pass decided, or an undo), the usage a provider reported,
and a mark (what happened). One line each, messages as short as they can be because there are most
of them: a line without a kind is a message, its origin is named only where the wire message does
not tell it, and the operations of edits are written as lists.

    {"v":1,"id":57,"time":1767225600.0,"wire":{…}}
    {"kind":"edit","v":1,"id":58,"time":1767225600.5,"by":"microcompact","ops":[["stub",12,0]],…}

`wire` is the message in the session's wire format; a tool result over 2,000 characters stands in
its own file and `wire` holds `{"$blob":{"path":…,"bytes":…,"sha256":…}}` in its place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, TypeAlias, cast

import msgspec

from wayfare import json_text
from wayfare.messages import Message, Origin
from wayfare.model import Usage

VERSION: Final = 1
BLOB: Final = "$blob"


class _Op(msgspec.Struct, frozen=True, array_like=True, omit_defaults=True, tag=str.lower):
    pass


class Preview(_Op, frozen=True):
    """A result shows its address and its first `chars` characters (0: its address alone)."""

    entry: int
    block: int
    chars: int


class Stub(_Op, frozen=True):
    """A result shows one line that says what it was and where it stands."""

    entry: int
    block: int


class HeadTail(_Op, frozen=True):
    """A text shows how it begins and ends, `chars` characters together, and its address."""

    entry: int
    block: int
    chars: int


class ShortInput(_Op, frozen=True):
    """The strings of a call's input over `over_chars` show how they begin, and the address; with
    `replaced` only those an edit took out of its file."""

    entry: int
    block: int
    over_chars: int
    replaced: bool = False


class Silent(_Op, frozen=True):
    """A result that says nothing says so."""

    entry: int
    block: int


class DropBlocks(_Op, frozen=True):
    """Blocks leave the request; a message left with none leaves too."""

    entry: int
    blocks: tuple[int, ...]


class Omit(_Op, frozen=True):
    """A message leaves the request."""

    entry: int


class AsText(_Op, frozen=True):
    """A result that answers no call, or a call whose id its message has already, stands as plain
    text, `lead` before it."""

    entry: int
    block: int
    lead: str


class Clean(_Op, frozen=True):
    """Characters that are no valid Unicode are shown as U+FFFD."""

    entry: int


class Reorder(_Op, frozen=True):
    """The blocks of a message stand in the order of these original numbers."""

    entry: int
    blocks: tuple[int, ...]


class Insert(_Op, frozen=True):
    """A message made here stands after `after` (0: at the front)."""

    after: int
    message: Message


class Collapse(_Op, frozen=True):
    """What stands from `first` to `last` becomes one message. Entries in `front` stay in front of
    it, those in `keep` behind it, both in their order.

    The message is `message`, or, where that is None, what `form` renders to from the facts of
    the session up to here: `"digest"`, `"reactive"` (a digest made because a request was refused)
    or `"snip"`, with room for so many characters in all, of file names and of identifiers.
    """

    first: int
    last: int
    message: Message | None = None
    keep: tuple[int, ...] = ()
    form: str = "digest"
    room: tuple[int, int, int] = (0, 0, 0)
    front: tuple[int, ...] = ()


ShorteningOp: TypeAlias = Preview | Stub | HeadTail | ShortInput
Op: TypeAlias = (
    Preview
    | Stub
    | HeadTail
    | ShortInput
    | Silent
    | DropBlocks
    | Omit
    | AsText
    | Clean
    | Reorder
    | Insert
    | Collapse
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """What a pass decided, before it is committed. At most one of `ops` makes a message."""

    by: str
    reason: str
    ops: tuple[Op, ...]


class MessageEntry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One message. `origin` is None where the wire message tells it, `format` empty when it is the
    session's own; `blobs` counts the results that stand in files; `usage` is what the provider
    reported with an assistant message: tokens of plain input, read from the cache, written to the
    cache, of output."""

    v: int
    id: int
    time: float
    origin: Origin | None = None
    wire: Any
    format: str = ""
    blobs: int = 0
    usage: tuple[int, int, int, int] | None = None


class _Entry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="kind"):
    v: int
    id: int
    time: float


class EditEntry(_Entry, frozen=True, kw_only=True, tag="edit"):
    """A committed edit. `before` and `after` are the context's tokens around its batch;
    `undoes` names the edits that count no longer."""

    by: str
    reason: str = ""
    ops: tuple[Op, ...] = ()
    batch: int = 0
    before: int = 0
    after: int = 0
    undoes: tuple[int, ...] = ()


class UsageEntry(_Entry, frozen=True, kw_only=True, tag="usage"):
    """Usage of a call that added no message (a side query, a refused call)."""

    purpose: str
    model: str = ""
    usage: Usage = Usage()


class MarkEntry(_Entry, frozen=True, kw_only=True, tag="mark"):
    """Something that happened: the session's head, a turn's begin and end, a failed summary."""

    name: str
    detail: dict[str, Any] = {}


Entry: TypeAlias = MessageEntry | EditEntry | UsageEntry | MarkEntry

_messages: Final = msgspec.json.Decoder(MessageEntry)
_others: Final = msgspec.json.Decoder(EditEntry | UsageEntry | MarkEntry)


def encode(entry: Entry) -> bytes:
    """One line, without its end."""
    return json_text.dumps(entry)


def decode(line: bytes) -> Entry:
    """Read one line, older versions included.

    Raises:
        ValueError: not an entry, or one of a newer version; the text says which.
    """
    decoder = _others if line.startswith(b'{"kind":') else _messages
    try:
        entry = decoder.decode(line)
    except json_text.UNREADABLE as error:
        entry = _converted(json_text.loads(line), error)
    if isinstance(entry, MessageEntry) and not isinstance(entry.wire, dict):
        raise ValueError("a message entry without a message")
    return entry


def _converted(value: Any, error: Exception) -> Entry:
    """A line that the fast way refused: its keys in another order, lone surrogates, or no entry."""
    fields = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    version: object = fields.get("v", 0)
    if isinstance(version, int) and version > VERSION:
        raise ValueError(f"entry of a newer version than {VERSION}; update wayfare") from error
    try:
        if "kind" in fields:
            return msgspec.convert(value, EditEntry | UsageEntry | MarkEntry)
        return msgspec.convert(value, MessageEntry)
    except json_text.UNREADABLE as refused:
        raise ValueError(f"no entry: {refused}") from refused


def counts(usage: Usage) -> tuple[int, int, int, int]:
    """Usage as a message entry stores it."""
    return (
        usage.input_tokens,
        usage.cache_read_tokens,
        usage.cache_write_tokens,
        usage.output_tokens,
    )


def usage_of(stored: tuple[int, int, int, int] | None) -> Usage | None:
    """Usage as a message entry stores it, read back."""
    if stored is None:
        return None
    plain, read, written, output = stored
    return Usage(
        input_tokens=plain,
        cache_read_tokens=read,
        cache_write_tokens=written,
        output_tokens=output,
    )
