"""Entries: the lines of a transcript. Versioned, never changed once written.

Four kinds: a message, an edit (what a pass decided, or an undo), the usage a provider reported,
and a mark (what happened). One line each:

    {"kind":"message","v":1,"id":57,"time":1767225600.0,"origin":"tool","wire":{…}}

`wire` is the message in the session's wire format; a tool result over 2,000 characters stands in
its own file and `wire` holds `{"$blob":{"path":…,"bytes":…,"sha256":…}}` in its place.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

import msgspec

from wayfare import json_text
from wayfare.messages import Message, Origin
from wayfare.model import Usage

VERSION: Final = 1
BLOB: Final = "$blob"


class _Op(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="op", tag=str.lower):
    pass


class SetText(_Op, frozen=True):
    """The content of a result, or of a text block, becomes `text`. Blocks count from 0, as they
    stood in the entry."""

    entry: int
    block: int
    text: str


class SetInput(_Op, frozen=True):
    """The input of a tool call becomes `input`."""

    entry: int
    block: int
    input: Mapping[str, Any]


class DropBlocks(_Op, frozen=True):
    """Blocks leave the request; a message left with none leaves too."""

    entry: int
    blocks: tuple[int, ...]


class Omit(_Op, frozen=True):
    """A message leaves the request."""

    entry: int


class AsText(_Op, frozen=True):
    """A result that answers no call stands as plain text, `lead` before it."""

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
    """What stands from `first` to `last` becomes one message; entries in `keep` stay behind it."""

    first: int
    last: int
    message: Message
    keep: tuple[int, ...] = ()


Op: TypeAlias = (
    SetText | SetInput | DropBlocks | Omit | AsText | Clean | Reorder | Insert | Collapse
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """What a pass decided, before it is committed. At most one of `ops` makes a message.

    `archived` are the entries whose text leaves the view for good behind one address: they get a
    line in the table of contents before the edit is committed.
    """

    by: str
    reason: str
    ops: tuple[Op, ...]
    archived: tuple[int, ...] = field(default=())


class _Entry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="kind"):
    v: int
    id: int
    time: float


class MessageEntry(_Entry, frozen=True, kw_only=True, tag="message"):
    """One message. `format` is empty when it is the session's own; `blobs` counts the results
    that stand in files; `usage` is what the provider reported with an assistant message."""

    origin: Origin
    wire: Any
    format: str = ""
    blobs: int = 0
    usage: Usage | None = None


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

_decoder: Final = msgspec.json.Decoder(Entry)


def encode(entry: Entry) -> bytes:
    """One line, without its end."""
    return json_text.dumps(entry)


def decode(line: bytes) -> Entry:
    """Read one line, older versions included.

    Raises:
        ValueError: not an entry, or one of a newer version; the text says which.
    """
    try:
        return _decoder.decode(line)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        value = json_text.loads(line)
        if isinstance(value, dict) and value.get("v", 0) > VERSION:  # pyright: ignore[reportUnknownMemberType]
            raise ValueError(f"entry of a newer version than {VERSION}; update wayfare") from error
        return msgspec.convert(value, Entry)
