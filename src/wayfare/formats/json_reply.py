"""JSON out of a model's reply, however it is wrapped: prose, fences, text after it, cut off.

What a side query asks for is a list of objects or a list of numbers. Models give it with a
sentence before, with an example before, inside of an object, as one object, as a string that holds
JSON, or without its end. These functions find it; what cannot be found is a `ValueError`, which
callers tell apart from a valid empty answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

_THOUGHT = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_OPEN = re.compile(r"[\[{]")
_FENCE = re.compile(r"\A\s*(?:```[\w-]*\s*)?")
_TRAILING_COMMA = re.compile(r'("(?:[^"\\]|\\.)*")|,(?=\s*[\]}])', re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")

_TRIES = 400
"""So many brackets that begin no JSON are looked at; prose with more of them holds no answer."""
_MENDS = 20
"""For so many of them a comma before a closing bracket is forgiven, which reads the whole rest."""
_REPLY_CHARS = 400_000
"""A longer reply is read up to here: no side query asks for a tenth of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A JSON value in a text; `leads` says that nothing but a fence stands before it, `cut` that
    it was put together from the whole items of a list that has no end."""

    value: object
    leads: bool
    cut: bool = False


def json_values(reply: str) -> list[Found]:
    """Every JSON object and list of a reply that is not inside of another, in order."""
    text = _THOUGHT.sub("", reply).lstrip("\ufeff")[:_REPLY_CHARS]
    lead = _FENCE.match(text)
    start = lead.end() if lead else 0
    decoder = json.JSONDecoder(strict=False, parse_constant=_no_constant)
    whole = _string_of_json(text[start:], decoder)
    if whole is not None:
        return [Found(value=whole, leads=True)]
    found: list[Found] = []
    tries, at = 0, 0
    cut_at: int | None = None
    while tries < _TRIES and (opening := _OPEN.search(text, at)):
        begin = opening.start()
        value, end = _decode(decoder, text, begin, mend=tries < _MENDS)
        if end < 0:
            tries += 1
            if opening[0] == "[" and cut_at is None and re.match(r"\[\s*\{", text[begin:]):
                cut_at = len(found)
            at = begin + 1
            continue
        found.append(Found(value=_whole(value), leads=begin == start))
        at = end
    if cut_at is not None and len(found) > cut_at:
        items = [f.value for f in found[cut_at:]]
        found[cut_at:] = [Found(value=items, leads=False, cut=True)]
    return found


def reply_value(reply: str, accepts: Callable[[object], bool]) -> object:
    """The answer among a reply's JSON values: of those `accepts` takes, the one it begins with,
    else the last that is not empty, else the last.

    Raises:
        ValueError: the reply holds nothing of the kind.
    """
    fitting = [f for f in json_values(reply) if accepts(f.value)]
    if not fitting:
        raise ValueError(f"no usable JSON in {_shown(reply)}")
    if fitting[0].leads:
        return fitting[0].value
    filled = [f for f in fitting if f.value]
    return (filled or fitting)[-1].value


def reply_objects(reply: str, *, keys: Sequence[str] = ()) -> list[dict[str, Any]]:
    """The objects a reply lists: a list of them, a list under one of `keys`, or a single one.

    A list may hold other things beside objects; they are left out. A lone object counts when it
    has none of `keys`.

    Raises:
        ValueError: there is no such list and no object; an empty list is an answer.
    """
    value = reply_value(reply, lambda v: _objects(v, keys) is not None)
    return _objects(value, keys) or []


def reply_indices(reply: str, count: int, *, keys: Sequence[str] = ()) -> tuple[int, ...]:
    """The numbers from 0 to `count` - 1 a reply lists, each once, in the reply's order.

    Booleans, floats, strings and numbers out of range are dropped.

    Raises:
        ValueError: there is no list, or nothing in a list that is not empty is such a number.
    """
    value = reply_value(reply, lambda v: _list(v, keys) is not None)
    items = _list(value, keys) or []
    valid = [i for i in items if type(i) is int and 0 <= i < count]
    if items and not valid:
        raise ValueError(f"no index from 0 to {count - 1} in {_shown(reply)}")
    return tuple(dict.fromkeys(valid))


def without_surrogates(text: str) -> str:
    """The text with each half of a broken surrogate pair replaced by U+FFFD."""
    return _SURROGATE.sub("\ufffd", text)


def _objects(value: object, keys: Sequence[str]) -> list[dict[str, Any]] | None:
    if isinstance(value, dict):
        inner = cast(dict[str, Any], value)
        listed = _list(inner, keys)
        if listed is None:
            return None if any(k in inner for k in keys) else [inner]
        value = listed
        if not listed:
            return []
    if not isinstance(value, list):
        return None
    items = cast(list[object], value)
    objects = [cast(dict[str, Any], item) for item in items if isinstance(item, dict)]
    return objects if objects or not items else None


def _list(value: object, keys: Sequence[str]) -> list[object] | None:
    if isinstance(value, list):
        return cast(list[object], value)
    if isinstance(value, Mapping):
        inner = cast(Mapping[str, object], value)
        for key in keys:
            if isinstance(inner.get(key), list):
                return cast(list[object], inner[key])
    return None


def _decode(decoder: json.JSONDecoder, text: str, begin: int, *, mend: bool) -> tuple[object, int]:
    """The value that begins there and where it ends, or -1; `mend` forgives commas at ends."""
    try:
        return decoder.raw_decode(text, begin)
    except (ValueError, RecursionError):
        if not mend:
            return None, -1
    mended = _TRAILING_COMMA.sub(lambda m: m[1] or "", text[begin:])
    if len(mended) == len(text) - begin:
        return None, -1
    try:
        value, length = decoder.raw_decode(mended)
    except (ValueError, RecursionError):
        return None, -1
    # The end in the text as it was: so many characters of it make the mended value.
    left, end = length, begin
    for piece in _TRAILING_COMMA.finditer(text, begin):
        plain = piece.start() - end
        if plain >= left:
            return value, end + left
        left -= plain
        end = piece.end()
        left -= len(piece[1] or "")
        if left <= 0:
            return value, end
    return value, end + left


def _string_of_json(text: str, decoder: json.JSONDecoder) -> object | None:
    """What a reply says that is one JSON string with JSON in it."""
    bare = text.strip()
    if not bare.startswith('"'):
        return None
    try:
        inner, _ = decoder.raw_decode(bare)
        value = cast(object, decoder.decode(str(inner)))
    except (ValueError, RecursionError):
        return None
    return _whole(cast(object, value)) if isinstance(value, list | dict) else None


def _whole(value: object) -> object:
    """The value with every text free of broken surrogate pairs."""
    if isinstance(value, str):
        return without_surrogates(value)
    if isinstance(value, list):
        return [_whole(item) for item in cast(list[object], value)]
    if isinstance(value, dict):
        pairs = cast(dict[str, object], value)
        return {without_surrogates(k): _whole(v) for k, v in pairs.items()}
    return value


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is no JSON")


def _shown(reply: str) -> str:
    flat = " ".join(reply.split())
    return repr(flat[:120] + ("…" if len(flat) > 120 else "")) if flat else "an empty reply"
