"""One word of a bash line: what bash would pass, as far as the text alone tells.

The syntax tree says where words are; this file reads their quoting again on its own, character by
character, and refuses (`Unparsable`) wherever the two could disagree. A wrong "I do not know" costs
a question; a wrong "I know" costs the machine.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from wayfare.agent.shell.values import Unparsable, Word

if TYPE_CHECKING:
    from tree_sitter import Node

METACHARACTERS = frozenset(" \t\n;|&<>()")
_BRACES = re.compile(r"\{[^{}]*(?:,|\.\.)[^{}]*\}")
_EXPANSION_START = re.compile(r"\$[\w({\[@*#?$!-]|`")
_ANSI_C = re.compile(
    r"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})|c(.)|(.))",
    re.DOTALL,
)
_ANSI_C_SINGLE = dict(zip("abeEfnrtv\\'\"?", "\a\b\x1b\x1b\f\n\r\t\v\\'\"?", strict=True))
SUBSTITUTED_FILE = "/dev/fd/63"
"""What `<(…)` and `>(…)` become: a path to a pipe. The number is the one bash uses first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Piece:
    text: str
    known: bool = True
    quoted: bool = False
    obscured: bool = False
    variable: str | None = None


def read_word(node: Node, source: bytes) -> Word:
    """Reads the word that `node` spans.

    Raises:
        Unparsable: when the text and the syntax tree could disagree about it.
    """
    while node.type == "command_name" and node.child_count == 1:
        node = node.child(0)
    pieces, tilde = _home_first(tuple(p for p in _pieces(node, source) if p.text))
    text = "".join(p.text for p in pieces)
    skeleton = "".join(p.text if p.known and not p.quoted else "\0" * len(p.text) for p in pieces)
    braces, wildcard = _BRACES.search(skeleton), re.search(r"[*?\[]", skeleton)
    cuts = [m.start() for m in (braces, wildcard) if m]
    runtime = _first_unknown(pieces)
    if skeleton.startswith("~"):
        tilde = skeleton[1:2] in ("", "/")
        # ~user, ~+ and ~- name folders only the shell knows.
        runtime = runtime if tilde else 0
    if runtime is not None:
        cuts.append(runtime)
    sole = pieces[0].variable if len(pieces) == 1 and not pieces[0].known else None
    mixed = node.type == "concatenation" and any("string" in c.type for c in node.children)
    return Word(
        text=text,
        literal=not cuts,
        stem=text[: min(cuts)] if cuts else text,
        glob=wildcard is not None and braces is None and runtime is None,
        tilde=tilde,
        obscured=mixed or any(p.obscured for p in pieces),
        variables=tuple(p.variable for p in pieces if p.variable),
        sole_variable=sole,
    )


def _home_first(pieces: tuple[_Piece, ...]) -> tuple[tuple[_Piece, ...], bool]:
    """Writes a leading `$HOME` as `~` and a leading `$PWD` as `.`: both are known folders."""
    known = {"HOME": "~", "PWD": "."}
    if not pieces:
        return pieces, False
    first, rest = pieces[0], pieces[1:]
    name = first.variable
    if name not in known or first.known or (rest and not rest[0].text.startswith("/")):
        return pieces, False
    return (_Piece(text=known[name], quoted=True, variable=name), *rest), name == "HOME"


def _first_unknown(pieces: tuple[_Piece, ...]) -> int | None:
    at = 0
    for piece in pieces:
        if not piece.known:
            return at
        at += len(piece.text)
    return None


def _text(node: Node, source: bytes) -> str:
    return source[node.start_byte : node.end_byte].decode()


def _pieces(node: Node, source: bytes) -> Iterator[_Piece]:
    kind = node.type
    text = _text(node, source)
    if kind in ("word", "number", "variable_name", "brace_expression", "special_variable_name"):
        yield from _unquoted(text)
    elif kind == "raw_string":
        if len(text) < 2 or "'" in text[1:-1]:
            raise Unparsable("a quoted string that does not end where it should")
        yield _Piece(text=text[1:-1], quoted=True)
    elif kind == "string":
        yield from _double_quoted(node, source)
    elif kind == "ansi_c_string":
        yield _ansi_c(text[2:-1])
    elif kind == "simple_expansion":
        yield _Piece(text=text, known=False, variable=text[1:])
    elif kind == "expansion":
        name = next((c for c in node.children if c.type == "variable_name"), None)
        plain_form = name is not None and text == "${" + _text(name, source) + "}"
        shown = text if not plain_form or name is None else "$" + _text(name, source)
        variable = _text(name, source) if name is not None else "?"
        yield _Piece(text=shown, known=False, variable=variable if plain_form else variable + "…")
    elif kind == "process_substitution":
        yield _Piece(text=SUBSTITUTED_FILE, quoted=True)
    elif kind in ("command_substitution", "arithmetic_expansion", "extglob_pattern", "array"):
        yield _Piece(text=text, known=False)
    elif kind in ("concatenation", "command_name"):
        yield from _joined(node, source)
    else:
        raise Unparsable(f"a word of the unknown kind {kind}")


def _joined(node: Node, source: bytes) -> Iterator[_Piece]:
    at = node.start_byte
    for child in node.children:
        if child.start_byte != at:
            raise Unparsable("a word with a gap in it")
        at = child.end_byte
        if child.type == "$":
            raise Unparsable("a translated string or a lone $ inside a word")
        else:
            yield from _pieces(child, source)
    if at != node.end_byte:
        raise Unparsable("a word with a gap in it")


def _unquoted(text: str) -> Iterator[_Piece]:
    run = ""
    at = 0
    while at < len(text):
        char = text[at]
        if char == "\\":
            if run:
                yield _Piece(text=run)
                run = ""
            escaped = text[at + 1 : at + 2]
            if not escaped:
                raise Unparsable("a backslash at the end")
            if escaped != "\n":
                yield _Piece(text=escaped, quoted=True, obscured=True)
            at += 2
            continue
        if char in METACHARACTERS or char in "'\"`" or _EXPANSION_START.match(text, at):
            raise Unparsable(f"an unexpected {char!r} inside a word")
        if not char.isprintable():
            raise Unparsable("an invisible character outside quotes")
        run += char
        at += 1
    if run:
        yield _Piece(text=run)


def _double_quoted(node: Node, source: bytes) -> Iterator[_Piece]:
    inside = [c for c in node.children if c.type not in ('"', "string_content", "$")]
    at, end = node.start_byte + 1, node.end_byte - 1
    for child in inside:
        yield from _quoted_text(source[at : child.start_byte].decode())
        for piece in _pieces(child, source):
            yield replace(piece, quoted=True)
        at = child.end_byte
    yield from _quoted_text(source[at:end].decode())


def _quoted_text(text: str) -> Iterator[_Piece]:
    value = ""
    at = 0
    while at < len(text):
        if text[at] == "\\" and text[at + 1 : at + 2] in ("$", "`", '"', "\\", "\n"):
            value += "" if text[at + 1] == "\n" else text[at + 1]
            at += 2
            continue
        if text[at] == '"' or _EXPANSION_START.match(text, at):
            raise Unparsable("an expansion inside quotes that the parser did not see")
        value += text[at]
        at += 1
    if value:
        yield _Piece(text=value, quoted=True)


def _ansi_c(text: str) -> _Piece:
    """`$'…'`. Bytes above ASCII and NUL, which bash treats by locale, make the value unknown."""
    certain = True

    def decoded(match: re.Match[str]) -> str:
        nonlocal certain
        hex2, hex4, hex8, octal, control, single = match.groups()
        digits = hex2 or hex4 or hex8
        if control or not (digits or octal):
            return (
                chr(ord(control) & 0x1F) if control else _ANSI_C_SINGLE.get(single, "\\" + single)
            )
        code = int(digits, 16) if digits else int(octal, 8)
        certain = certain and 0 < code < 0x80
        return chr(code & 0x7F)

    value = _ANSI_C.sub(decoded, text)
    return _Piece(text=value, known=certain, quoted=True, obscured=True)
