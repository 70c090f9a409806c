"""What can be said of sessions without opening them, read from their logs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from wayfare import json_text
from wayfare.cli.printing import plain, short
from wayfare.cli.screen.spans import cut, one_line
from wayfare.clock import moment
from wayfare.messages import Origin
from wayfare.session import Places, session_names
from wayfare.settings.keys import as_table
from wayfare.transcript.entries import MessageEntry, decode

if TYPE_CHECKING:
    from wayfare.session.session import Session

_HEAD_BYTES: Final = 1 << 18
"""The first words of a session stand in its first lines."""
_OTHER: Final = b'\n{"kind":'
"""How entries begin that are no messages."""
_USAGE: Final = re.compile(rb'"usage":\[(\d{1,18}),(\d{1,18}),(\d{1,18}),(\d{1,18})\]\}\n')
_MODEL: Final = re.compile(rb'"name":"model","detail":\{"model":("(?:[^"\\]|\\.)*")')
_TURN: Final = re.compile(rb'"name":"turn","detail":\{"ended":"(\w+)"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """One session: its name, when it was written last (unix seconds), its first words, its size,
    the tokens its context took at the last reply, the model that answered last, how its last turn
    ended."""

    session: str
    time: float
    first_words: str
    messages: int
    bytes: int
    context_tokens: int
    model: str
    ended: str


def listed(places: Places, name: str) -> Listed:
    """What the list says of a session, read from its log without opening it; of a log that cannot
    be read only its name."""
    log = places.log(name)
    content, time = b"", 0.0
    with suppress(OSError):
        content, time = log.read_bytes(), log.stat().st_mtime
    usages = _USAGE.findall(content)
    turns = _TURN.findall(content)
    return Listed(
        session=name,
        time=time,
        first_words=_first_words(content[:_HEAD_BYTES]),
        messages=content.count(b"\n") - content.count(_OTHER) - content.startswith(_OTHER[1:]),
        bytes=len(content),
        context_tokens=sum(map(int, usages[-1])) if usages else 0,
        model=_last_model(content),
        ended=turns[-1].decode() if turns else "",
    )


def _last_model(content: bytes) -> str:
    """The model that answered last, as the log says; empty where that is no text."""
    models = _MODEL.findall(content)
    try:
        return str(json_text.loads(models[-1])) if models else ""
    except ValueError:
        return ""


def named_session(places: Places, wanted: str) -> str:
    """The session that is meant: by its name or by a part that only one has; else the newest.

    Raises:
        NotFound: there is no such session; names those there are.
    """
    from wayfare.cli.addresses import chosen_session

    fits = [name for name in session_names(places) if wanted in name] if wanted else []
    return chosen_session(places, fits[0] if len(fits) == 1 else wanted)


def _first_words(head: bytes) -> str:
    """The first thing the person said."""
    for line in head.splitlines():
        try:
            entry = decode(line)
        except ValueError:
            continue
        if not isinstance(entry, MessageEntry) or entry.origin not in (None, Origin.USER):
            continue
        wire = as_table(entry.wire) or {}
        words = " ".join(_texts(wire)) if wire.get("role") == "user" else ""
        if words.strip():
            return one_line(words).strip()
    return ""


def _texts(value: Any) -> Iterator[str]:
    """The texts of a message in any wire format."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in cast("list[Any]", value):
            yield from _texts(item)
    elif isinstance(value, Mapping):
        table = cast("Mapping[str, Any]", value)
        if "content" in table:
            yield from _texts(table["content"])
        elif isinstance(table.get("text"), str):
            yield table["text"]


def lines(found: list[Listed], width: int | None) -> list[str]:
    """The list; `width` is the terminal's, None: nothing is cut."""
    rows: list[str] = []
    for one in found:
        when = moment(one.time, zone=None)
        size = f"{short(one.context_tokens)} tokens" if one.context_tokens else short(one.bytes)
        facts = [f"{one.messages} msgs", size, one.model]
        if one.ended not in ("", "done"):
            facts.append(one.ended)
        row = plain(f"{one.session}  {when}  {', '.join(fact for fact in facts if fact)}")
        said = f"    {one.first_words or '(nothing said yet)'}"
        rows += [
            row if width is None else cut(row, width),
            said if width is None else cut(said, width),
        ]
    return rows


async def note_model(session: Session) -> None:
    """Note in the log which model answers, where it is another than the last one noted."""
    log = session.places.log(session.name)
    known = ""
    if session.how == "resumed" and log.is_file():
        known = _last_model(log.read_bytes())
    if known != session.model.name:
        await session.governor.transcript.mark("model", {"model": session.model.name})
