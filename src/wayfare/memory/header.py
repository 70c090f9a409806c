"""Frontmatter, read tolerantly: where a header begins and ends, and what its keys say.

A header YAML cannot read is read line by line; nothing here fails and nothing changes a byte.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, cast

import yaml

from wayfare import json_text
from wayfare.formats.json_reply import without_surrogates

HEADER_CHARS = 65_536
"""A header longer than this is no header: no hand-written one is, and reading must stay cheap."""

_KEY_LINE = re.compile(r"^(?P<indent>[ \t]*)(?P<key>[A-Za-z_][\w-]*)[ \t]*:(?P<value>.*)$")
# Lines that YAML reads as what they look like; most headers are made of nothing else, and reading
# ten thousand of them this way takes a tenth of the time.
_PLAIN_LINES = re.compile(r"(?:[A-Za-z_]\w*: \w(?:[^\n#:]*[^\s#:])?\n)+")
_FENCE = re.compile(r"^---[ \t]*$")
_CLOSE = re.compile(r"^(?:---|\.\.\.)[ \t]*$")
_CLOSES = re.compile(r"^(?:---|\.\.\.)", re.MULTILINE)
_COMMENT = re.compile(r"\A(?:[ \t]*\n|<!--.*?-->[ \t]*(?:\n|\Z))*", re.DOTALL)

# Every scalar stays the text it was: no `no` that is False, no `1.10` that is 1.1, no dates.
_Loader = cast(type[yaml.BaseLoader], getattr(yaml, "CBaseLoader", yaml.BaseLoader))


FIELD_KEYS: dict[str, tuple[tuple[str, ...], ...]] = {
    "name": (("name",), ("title",), ("metadata", "name")),
    "description": (("description",), ("metadata", "description")),
    "type": (("type",), ("metadata", "type")),
    "subject": (("subject",),),
    "created": (("created",), ("metadata", "created")),
    "updated": (("updated",), ("metadata", "updated"), ("metadata", "modified"), ("modified",)),
    "expires": (("expires",), ("metadata", "expires")),
    "supersedes": (("supersedes",),),
    "aliases": (("aliases",),),
    "applies_to": (("applies_to",),),
    "always": (("always",),),
}
"""Where each field may stand in a header, best first. Those under `metadata`, `title` and
`modified` are what other tools' memory folders use."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Something in a file that could not be understood: a short code, and words for a person."""

    code: str
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """A file's text taken apart: `prefix + open + header + close + body` is the text again."""

    prefix: str
    open: str
    header: str
    close: str
    body: str

    @property
    def closed(self) -> bool:
        """Whether the header ends with a fence."""
        return bool(self.close)


def decode(content: bytes) -> tuple[str | None, Problem | None]:
    """The text of a file and what was wrong with its encoding; no text for binary content."""
    if content[:2] in (b"\xff\xfe", b"\xfe\xff") and len(content) % 2 == 0:
        try:
            text = content.decode("utf-16")
        except UnicodeDecodeError:
            text = "\0"
        plain = any(c.isascii() or c.isspace() for c in text)
        if plain and "\0" not in text and sum(map(_odd, text)) * 10 < len(text):
            return text, Problem(code="not_utf8", detail="UTF-16; write it as UTF-8 to edit it")
        return None, Problem(code="binary", detail="neither UTF-8 nor text")
    if b"\0" in content:
        return None, Problem(code="binary", detail="holds NUL bytes")
    try:
        return content.decode("utf-8"), None
    except UnicodeDecodeError as error:
        text = content.decode("utf-8", errors="replace")
        if text.count("\ufffd") * 3 > len(text):
            return None, Problem(code="binary", detail="neither UTF-8 nor text")
        return text, Problem(code="not_utf8", detail=f"not UTF-8 at byte {error.start}")


def body_text(content: bytes) -> str:
    """The text under a file's header, without reading the header; empty for what is no text."""
    text, _ = decode(content)
    layout = lay_out(text or "")
    return (text or "") if layout is None else layout.body


def lay_out(text: str) -> Layout | None:
    """Take a text apart at its frontmatter; None when there is none.

    A byte order mark, blank lines and HTML comments may stand before it.
    """
    bom = "\ufeff" if text.startswith("\ufeff") else ""
    # `\r` counts as trailing blank of a line here, so offsets stay those of the original text.
    flat = text[len(bom) :]
    start = 0
    if not flat.startswith("---"):
        lead = _COMMENT.match(flat[: HEADER_CHARS * 2].replace("\r\n", " \n"))
        start = lead.end() if lead else 0
    opening = _line(flat, start)
    if _FENCE.match(opening.rstrip("\r\n")) is None:
        return None
    prefix = bom + flat[:start]
    first = start + len(opening)
    # The bound may cut a line in two, which then only looks like a fence.
    for found in _CLOSES.finditer(flat, first, first + HEADER_CHARS):
        line = _line(flat, found.start())
        if _CLOSE.match(line.rstrip("\r\n")):
            header, body = flat[first : found.start()], flat[found.start() + len(line) :]
            if _prose_inside(header):
                break
            return Layout(prefix=prefix, open=opening, header=header, close=line, body=body)
    end = _unclosed_end(flat, first)
    if end == first:
        return None
    return Layout(prefix=prefix, open=opening, header=flat[first:end], close="", body=flat[end:])


def read_header(
    layout: Layout,
) -> tuple[dict[str, Any], dict[str, tuple[str, ...]], Problem | None]:
    """The header's keys, the places of the known fields, and what was wrong with it."""
    source = layout.header.replace("\r\n", "\n").replace("\r", "\n").replace("\t", "  ")
    if _PLAIN_LINES.fullmatch(source):
        plain = dict(line.split(": ", 1) for line in source.splitlines())
        return plain, _find_places(plain), None
    broken: Problem | None = None
    keys: dict[str, Any]
    try:
        loaded = cast(object, yaml.load(source, Loader=_Loader))
        if loaded is None:
            keys = {}
        elif isinstance(loaded, dict):
            keys = {str(k): v for k, v in cast(dict[Any, Any], loaded).items()}
            _whole_lines(source, keys)
        else:
            raise yaml.YAMLError("not a list of keys")
    except (yaml.YAMLError, ValueError, RecursionError, TypeError) as error:
        reason = str(error).split("\n", 1)[0]
        broken = Problem(code="broken_yaml", detail=reason)
        keys = read_leniently(source)
    return keys, _find_places(keys), broken


def read_leniently(header: str) -> dict[str, Any]:
    """Read `key: value` lines of a header no YAML parser takes.

    A line that is no such line continues the value before it.
    """
    keys: dict[str, Any] = {}
    group: dict[str, Any] | None = None
    last: tuple[dict[str, Any], str] | None = None
    for line in header.split("\n"):
        found = _KEY_LINE.match(line)
        if found is None:
            if last is not None and line.strip() and not line.lstrip().startswith("#"):
                target, key = last
                target[key] = f"{target[key]} {line.strip()}".strip()
            continue
        key, value = found["key"], _bare(found["value"])
        target = keys
        if found["indent"] and group is not None:
            target = group
        if not found["indent"] and not value:
            group = {}
            keys[key] = group
            last = None
            continue
        if not found["indent"]:
            group = None
        target.setdefault(key, value)
        last = (target, key)
    return {k: v for k, v in keys.items() if v != {}}


def _find_places(keys: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """The keys under which each field stands, as they are spelled, where there is something."""
    spelled = _spellings(keys)
    inner_key = spelled.get("metadata")
    inner: object = None if inner_key is None else keys[inner_key]
    nested: Mapping[str, Any] = {}
    if isinstance(inner, Mapping):
        nested = cast("Mapping[str, Any]", inner)
    nested_spelled = _spellings(nested)
    places: dict[str, tuple[str, ...]] = {}
    for name, candidates in FIELD_KEYS.items():
        for candidate in candidates:
            if len(candidate) == 1:
                key = spelled.get(candidate[0])
                if key is not None and keys[key] not in ("", None):
                    places[name] = (key,)
                    break
            elif inner_key is not None:
                key = nested_spelled.get(candidate[1])
                if key is not None and nested[key] not in ("", None):
                    places[name] = (inner_key, key)
                    break
    return places


def _spellings(keys: Mapping[str, Any]) -> dict[str, str]:
    """From a key in lower case to how it is spelled; the lower-case spelling wins."""
    spelled: dict[str, str] = {}
    for key in keys:
        folded = key.casefold()
        if folded == key or folded not in spelled:
            spelled[folded] = key
    return spelled


def _whole_lines(source: str, keys: dict[str, Any]) -> None:
    """Take `name` and `description` up to the line's end.

    By hand one writes `description: fixes #12 # see there` and means all of it; YAML would end
    the text at the first ` #`.
    """
    for line in source.split("\n"):
        found = _KEY_LINE.match(line)
        if found is None or found["indent"] or " #" not in found["value"]:
            continue
        key, raw = found["key"], found["value"].strip()
        value = keys.get(key)
        if (
            key.casefold() in ("name", "description")
            and isinstance(value, str)
            and value
            and raw[0] not in "\"'|>#"
            and raw.startswith(value)
        ):
            keys[key] = raw


def _prose_inside(header: str) -> bool:
    """Whether the fence that was found cannot be the header's: a rule in the body, further down.

    Only where YAML finds no keys in it, or nothing but sentences with a colon in them.
    """
    lines = [line for line in header.splitlines() if line.strip()]
    plain = [s for s in lines if s[0] not in " \t#-" and _KEY_LINE.match(s) is None]
    if not plain:
        return False
    try:
        flat = header.replace("\r\n", "\n").replace("\t", "  ")
        loaded = cast(object, yaml.load(flat, Loader=_Loader))
    except (yaml.YAMLError, ValueError, RecursionError, TypeError):
        return True
    if not isinstance(loaded, dict):
        return True
    keys = {str(key): "x" for key in cast(dict[Any, Any], loaded)}
    return not _find_places(keys) and any(" " in key for key in keys)


def _unclosed_end(flat: str, first: int) -> int:
    """Where a header without an end stops: at the first line that is no known key."""
    known = {c[0] for candidates in FIELD_KEYS.values() for c in candidates}
    at, inside_group = first, False
    while at < len(flat):
        line = _line(flat, at)
        found = _KEY_LINE.match(line.rstrip("\r\n"))
        if found is None or (found["indent"] and not inside_group):
            break
        if not found["indent"]:
            if found["key"].casefold() not in known:
                break
            inside_group = not found["value"].strip()
        at += len(line)
    return at


def _bare(value: str) -> str:
    bare = value.strip()
    if len(bare) >= 2 and bare[0] == bare[-1] and bare[0] in "\"'":
        if bare[0] == '"':
            with suppress(ValueError):
                return without_surrogates(str(json_text.loads(bare)))
        inner = bare[1:-1]
        if bare[0] not in inner:
            return inner
    return bare


def _line(text: str, start: int) -> str:
    end = text.find("\n", start)
    return text[start:] if end < 0 else text[start : end + 1]


def _odd(char: str) -> bool:
    return not (char.isprintable() or char.isspace())
