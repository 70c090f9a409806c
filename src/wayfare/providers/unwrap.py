"""Finding the objects inside texts: JSON in strings, dict reprs, event streams, HTML pages."""

from __future__ import annotations

import ast
import html
import json
import re
from collections.abc import Sequence
from typing import cast

MAX_BODY_CHARS = 400_000
"""A body longer than this is cut to its two ends: an error page never needs more."""

MAX_OBJECTS = 12
"""Objects opened inside one text."""

MAX_TRIES = 16
"""Braces tried as the start of an object; a text of nothing but braces must stay cheap."""

MAX_REPR_CHARS = 20_000
"""Longest dict repr handed to `ast.literal_eval`, whose cost grows fast."""

_DECODER = json.JSONDecoder()
_ODD_ESCAPE = re.compile(r"""\\(?![\\'"abfnrtvxuUN0-7\n])""")
_CLOSER = {"{": "}", "[": "]"}


def as_text(body: object) -> object:
    """Bytes as text (UTF-8, bad bytes replaced, BOM dropped), everything else as it is."""
    if isinstance(body, (bytes, bytearray, memoryview)):
        body = bytes(cast("bytes", body)).decode("utf-8", "replace")
    if isinstance(body, str):
        body = body.lstrip("\ufeff")
        if len(body) > MAX_BODY_CHARS:
            half = MAX_BODY_CHARS // 2
            body = body[:half] + "\n" + body[-half:]
    return body


def is_html(text: str) -> bool:
    """Whether a text is an HTML or XML page of a proxy, also behind a status ("502 <html>")."""
    head = text.lstrip()[:400].lower()
    return bool(re.match(r"(?:\W*\d{3}\W+)?(?:<\?xml[^>]*>\s*)?<(?:!doctype|html|head|body)", head))


def page_text(text: str) -> str:
    """The visible words of a page, title first."""
    without = re.sub(r"(?is)<(script|style)\b.*?</\1\s*>", " ", text[:MAX_BODY_CHARS])
    without = re.sub(r"(?s)<!--.*?-->", " ", without)
    words = html.unescape(re.sub(r"<[^>]*>", " ", without))
    return " ".join(words.split())


def stream_events(text: str) -> tuple[list[object], bool]:
    """The decoded events of server-sent events or of lines of JSON, and whether all decoded.

    An `event: error` whose data is plain text becomes `{"type": "error", "message": data}`.
    Nothing that looks like a stream gives an empty list.
    """
    lines = text.splitlines()
    if not any(line.startswith(("data:", "event:")) for line in lines):
        return _json_lines(lines)
    events: list[object] = []
    is_whole = True
    name = ""
    for line in lines:
        if not line.strip():
            name = ""
        elif line.startswith("event:"):
            name = line[6:].strip()
        elif line.startswith("data:"):
            data = line[5:].strip()
            if data == "[DONE]" or not data:
                continue
            decoded = _loads(data)
            if decoded is None:
                if name == "error":
                    events.append({"type": "error", "message": data})
                else:
                    is_whole = False
            elif name == "error" and isinstance(decoded, dict):
                events.append({"type": "error", **cast("dict[str, object]", decoded)})
            else:
                events.append(decoded)
        elif line.startswith("{") and (decoded := _loads(line)) is not None:
            events.append(decoded)  # an error written into the stream without "data:"
    if not events:
        return [], is_whole
    trailing = "\n".join(line for line in lines if not line.startswith(("data:", "event:", ":")))
    events.extend(embedded_objects(trailing)[1])
    return events, is_whole


def _json_lines(lines: Sequence[str]) -> tuple[list[object], bool]:
    filled = [line for line in lines if line.strip()]
    if len(filled) < 2 or not all(line.lstrip().startswith("{") for line in filled[:2]):
        return [], True
    decoded = [_loads(line) for line in filled]
    found: list[object] = [item for item in decoded if _is_object(item)]
    return (found, len(found) == len(filled)) if len(found) > 1 else ([], True)


def embedded_objects(text: str) -> tuple[str, list[object]]:
    """The objects inside a text and the text around them.

    JSON objects, arrays of objects, Python dict reprs (`str(exception)` of the SDKs) and JSON with
    escaped quotes are opened; what cannot be decoded stays in the text.
    """
    outside: list[str] = []
    objects: list[object] = []
    position = tries = 0
    while tries < MAX_TRIES and len(objects) < MAX_OBJECTS:
        match = re.compile(r"[{\[]").search(text, position)
        if match is None:
            break
        start = match.start()
        tries += 1
        found = _object_at(text, start)
        if found is None:
            outside.append(text[position : start + 1])
            position = start + 1
            continue
        outside.append(text[position:start])
        objects.append(found[0])
        position = found[1]
    outside.append(text[position:])
    return "".join(outside), objects


def _object_at(text: str, start: int) -> tuple[object, int] | None:
    try:
        value, end = cast("tuple[object, int]", _DECODER.raw_decode(text, start))
    except (ValueError, RecursionError):
        return _loose_object(text, start)
    return (value, end) if _is_object(value) else None


def _is_object(value: object) -> bool:
    if isinstance(value, dict):
        return bool(cast("dict[object, object]", value))
    if isinstance(value, list) and value:
        return all(isinstance(item, dict) for item in cast("list[object]", value))
    return False


def _loose_object(text: str, start: int) -> tuple[object, int] | None:
    """A Python repr, or JSON with escaped quotes, between balanced brackets."""
    end = _balanced_end(text, start)
    if end is None or end - start > MAX_REPR_CHARS:
        return None
    part = text[start:end]
    if _ODD_ESCAPE.search(part):  # would make Python warn about an invalid escape
        part = part.replace("\\", "\\\\")
    try:
        value = cast("object", ast.literal_eval(part))
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        value = _loads(part.replace('\\"', '"')) if '\\"' in part else None
    return (value, end) if value is not None and _is_object(value) else None


def _balanced_end(text: str, start: int) -> int | None:
    opener = text[start]
    closer = _CLOSER[opener]
    depth = 0
    for index in range(start, min(len(text), start + MAX_REPR_CHARS)):
        char = text[index]
        if char == opener:
            depth += 1
        elif char == closer:
            depth -= 1
            if depth == 0:
                return index + 1
    return None


def _loads(text: str) -> object:
    try:
        return cast("object", json.loads(text))
    except (ValueError, RecursionError):
        return None
