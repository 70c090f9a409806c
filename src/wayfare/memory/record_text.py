"""Writing records: whole new ones, and edits that leave everything else byte for byte.

An edit replaces the value of a header key where it stands and nothing around it, so unknown keys,
key order, comments, quoting and line ends survive. Only a header that no YAML parser takes is
written anew; what could not be understood of it is kept as comments.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import fields
from typing import Any, cast

import yaml

from wayfare.errors import RecordError
from wayfare.memory.header import FIELD_KEYS, Layout, decode, lay_out, read_header
from wayfare.memory.record import Record, RecordFile, one_line, read_record

_WRITTEN = ("name", "description", "type", "subject", "created", "updated", "expires")
_LISTS = ("supersedes", "aliases", "applies_to")
_RESERVED = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null", "none", "nan"})
# A letter first and none of what YAML reads as structure: such a text is the same in YAML 1.1,
# YAML 1.2 and every line-based reader.
_PLAIN = re.compile(
    r"^[^\W\d_]"
    r"(?:[\w .,;!?/()+='’“”—–&@$%*<>|~-]|[^\x00-\x7f\u0085\u2028\u2029]|:(?=\S)|(?<=\S)#)*$"
)
_UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def scalar(text: str) -> str:
    """A text as a YAML value on one line that every YAML version reads as that very text."""
    if (
        _PLAIN.match(text)
        and not text.endswith((" ", ":"))
        and text.casefold() not in _RESERVED
        and "\n" not in text
        and not _UNSAFE.search(text)
    ):
        return text
    return _quoted(text)


def render(record: Record) -> str:
    """A new file for a record: known keys in a fixed order, then unknown ones, then the body."""
    lines = ["---"]
    for name in _WRITTEN:
        value = one_line(str(getattr(record, name)))
        if value or name in ("name", "description", "type"):
            lines.append(f"{name}: {scalar(value)}")
    for name in _LISTS:
        items = cast(tuple[str, ...], getattr(record, name))
        if items:
            lines.append(f"{name}: {_list(items)}")
    if record.always:
        lines.append("always: true")
    extra = {k: v for k, v in record.extra.items() if _kept(k, v, record)}
    if extra:
        dumped = yaml.safe_dump(extra, allow_unicode=True, sort_keys=False, width=1_000_000)
        lines.append(dumped.rstrip("\n"))
    lines.append("---")
    return "\n".join(lines) + f"\n\n{record.body.strip(chr(10))}\n"


def rewrite(file: str, content: bytes, record: Record) -> bytes:
    """The file's content with what `record` says otherwise put in, and nothing else touched.

    Raises:
        RecordError: the present content is no text wayfare could give back whole.
    """
    present = read_record(file, content)
    if not present.rewritable:
        raise RecordError(
            f"{file} is not written over: {present.problems[0].detail}", path=file, field="encoding"
        )
    text, _ = decode(content)
    layout = lay_out(text or "")
    changed = changed_fields(present.record, record)
    if not changed:
        return content
    if layout is None or not layout.closed:
        return _anew(present, layout, record)
    newline = "\r\n" if layout.open.endswith("\r\n") else "\n"
    header, body = layout.header, layout.body
    if changed - {"body"}:
        header = _edit_header(header, present, record, changed - {"body"}, newline)
    if "body" in changed:
        body = _new_body(layout.body, record.body, newline)
    result = (layout.prefix + layout.open + header + layout.close + body).encode()
    if changed_fields(read_record(file, result).record, record):
        return _anew(present, layout, record)
    return result


def changed_fields(old: Record, new: Record) -> set[str]:
    """Names of the fields in which two records differ, unknown keys left out."""
    names = [f.name for f in fields(Record) if f.name != "extra"]
    return {name for name in names if getattr(old, name) != getattr(new, name)}


def _edit_header(
    header: str, present: RecordFile, record: Record, changed: set[str], newline: str
) -> str:
    """The header with some values replaced where they stand."""
    text = header.replace("\r\n", "\n")
    for name in sorted(changed):
        place, value = present.places.get(name), getattr(record, name)
        try:
            text = _set(text, place, name, value)
        except (yaml.YAMLError, KeyError, ValueError):
            text = _set_line(text, place, name, value)
    return text.replace("\n", newline)


def _set(text: str, place: tuple[str, ...] | None, name: str, value: object) -> str:
    rendered = _value(value)
    if place is None:
        if not rendered:
            return text
        gap = "" if text.endswith("\n") or not text else "\n"
        return f"{text}{gap}{name}: {rendered}\n"
    node = _mapping(cast(object, yaml.compose(text, Loader=_Composer)))  # pyright: ignore[reportUnknownMemberType]
    key: yaml.Node | None = None
    inner: yaml.Node = node
    for part in place:
        key, inner = _member(_mapping(inner), part)
    if key is None:
        raise KeyError(name)
    key_end, value_end = _index(key.end_mark), _index(inner.end_mark)
    if not rendered and len(place) == 1:
        start = _index(key.start_mark)
        stop = text.find("\n", value_end - 1 if text[value_end - 1] == "\n" else value_end)
        return text[:start] + ("" if stop < 0 else text[stop + 1 :])
    colon = text.index(":", key_end)
    value_start = _index(inner.start_mark)
    own_line = "\n" in text[colon:value_start] or isinstance(inner, yaml.MappingNode)
    start = colon + 1 if own_line else value_start
    tail = text[value_end:]
    ended = text[value_start:value_end].endswith("\n")
    return text[:start] + (" " if own_line else "") + rendered + ("\n" if ended else "") + tail


def _set_line(text: str, place: tuple[str, ...] | None, name: str, value: object) -> str:
    """Replace one `key: value` line, and what continues it, in a header YAML does not take."""
    key = name if place is None else place[-1]
    rendered = _value(value)
    lines = text.splitlines(keepends=True)
    wanted = re.compile(rf"^(?P<indent>[ \t]*){re.escape(key)}[ \t]*:")
    for at, line in enumerate(lines):
        found = wanted.match(line)
        if place is None or found is None or bool(found["indent"]) != (len(place) > 1):
            continue
        end = at + 1
        while end < len(lines) and lines[end].strip() and ":" not in lines[end]:
            end += 1
        new = [f"{found['indent']}{key}: {rendered}\n"] if rendered else []
        return "".join([*lines[:at], *new, *lines[end:]])
    gap = "" if text.endswith("\n") or not text else "\n"
    return f"{text}{gap}{name}: {rendered}\n" if rendered else text


def _anew(present: RecordFile, layout: Layout | None, record: Record) -> bytes:
    """A fresh header over the record's text; lines of the old one that meant nothing are kept."""
    text = render(record)
    if layout is None:
        return text.encode()
    keys, places, _ = read_header(layout)
    known = {p[0].casefold() for p in places.values()} | {k.casefold() for k in keys}
    lost = [
        line
        for line in layout.header.splitlines()
        if line.strip()
        and line.split(":", 1)[0].strip().casefold() not in known
        and f"\n{line.strip()}\n" not in text
    ]
    if layout.prefix.strip("\ufeff").strip():
        text = layout.prefix + text
    if not lost:
        return text.encode()
    kept = "".join(f"# {line.strip().removeprefix('# ')}\n" for line in lost)
    head, fence, rest = text.partition("\n---\n")
    return f"{head}\n{kept}---\n{rest}".encode() if fence else text.encode()


def _new_body(old: str, body: str, newline: str) -> str:
    """The new body between the blank lines the old one had around it."""
    flat = old.replace("\r\n", "\n")
    lead = flat[: len(flat) - len(flat.lstrip("\n"))] if flat.strip() else "\n"
    return (lead + body.strip("\n") + "\n").replace("\n", newline)


def _kept(key: str, value: Any, record: Record) -> bool:
    """Whether an unknown key is written: a nested name or type must not compete with ours."""
    single = {c[0][0] for c in FIELD_KEYS.values()}
    return key.casefold() not in single and value not in ("", None) and bool(record)


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else ""
    if isinstance(value, tuple):
        items = cast(tuple[str, ...], value)
        return _list(items) if items else ""
    text = one_line(str(value))
    return scalar(text) if text else ""


def _list(items: Sequence[str]) -> str:
    return "[" + ", ".join(_quoted(one_line(item)) for item in items) + "]"


def _quoted(text: str) -> str:
    # JSON leaves some characters bare that YAML reads as line ends or refuses.
    quoted = json.dumps(text, ensure_ascii=False)
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", quoted)


def _mapping(node: object) -> yaml.MappingNode:
    if not isinstance(node, yaml.MappingNode) or node.flow_style:
        raise ValueError("no block of keys")
    return node


def _member(node: yaml.MappingNode, key: str) -> tuple[yaml.Node, yaml.Node]:
    pairs = cast(list[tuple[yaml.Node, yaml.Node]], node.value)
    for key_node, value_node in pairs:
        if key_node.value == key:
            return key_node, value_node
    raise KeyError(key)


def _index(mark: object) -> int:
    return cast(int, getattr(mark, "index", 0))


_Composer = cast(type[yaml.SafeLoader], getattr(yaml, "CSafeLoader", yaml.SafeLoader))
