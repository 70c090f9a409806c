"""Where the syntax tree of a bash line may not be believed.

A parser that reads a line differently from bash hides commands. These checks compare the tree with
the text itself and refuse the line when text is covered by no node, a comment begins in the middle
of a word, or a here-document ends elsewhere than bash would end it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from wayfare.agent.shell.values import Unparsable

if TYPE_CHECKING:
    from tree_sitter import Node

# A continued line joins words unless a blank stands before it, and cannot follow a line's end.
_GAP = re.compile(rb"(?:[ \t]|(?<=[ \t])\\\n)*[ \t\n]*")
_KEYWORDS_IN = frozenset(
    {
        "test_command",
        "negated_command",
        "compound_statement",
        "if_statement",
        "elif_clause",
        "else_clause",
        "while_statement",
        "for_statement",
        "c_style_for_statement",
        "do_group",
        "case_statement",
        "function_definition",
    }
)
_KEYWORD = re.compile(r"[a-z]+|\[\[?|\]\]?|!|[{}]")
_VARIABLE = re.compile(rb"\$(?:[A-Za-z_][A-Za-z_0-9]*|[0-9*@#?$!-])")
_REDIRECTS = frozenset({"file_redirect", "herestring_redirect"})
_ENDS_WORD = b" \t\n;|&()<>"
_BEFORE_COMMENT = b" \t\n;&|()"
_LEAVES = frozenset({"raw_string", "ansi_c_string", "comment"})
_TEXT = frozenset({"string", "heredoc_body"})
_CONTINUED = re.compile(r"(?<!\\)((?:\\\\)*)\\\n")
_RUNS = re.compile(r"\$[({\[]|`")


def check_text(line: str) -> None:
    """Refuses control characters, which terminals and parsers show and read differently.

    Raises:
        Unparsable: naming what is in the way.
    """
    if any((ord(char) < 32 and char not in "\t\n") or ord(char) == 127 for char in line):
        raise Unparsable("it contains a control character")


def check_tree(root: Node, source: bytes) -> None:
    """Compares a whole tree with the text it was made from.

    Raises:
        Unparsable: when bash might read the text differently.
    """
    if root.has_error:
        raise Unparsable("it is not a complete bash command this parser knows")
    if not _GAP.fullmatch(source[: root.start_byte]) or not _GAP.fullmatch(source[root.end_byte :]):
        raise Unparsable("part of it is not understood")
    _check(root, source)


def _check(node: Node, source: bytes) -> None:
    kind = node.type
    if kind == "comment":
        _check_comment(node, source)
    _check_edges(node, source)
    if kind in _LEAVES or not node.children:
        return
    at = node.start_byte
    for child in node.children:
        gap = source[at : child.start_byte]
        if kind not in _TEXT and not _GAP.fullmatch(gap) and not stray_dash(gap, child):
            raise Unparsable("part of it is not understood")
        if child.start_byte < at:
            raise Unparsable("its parts overlap")
        at = child.end_byte
        text = source[child.start_byte : at].strip()
        if not child.is_named and text != child.type.encode().strip():
            raise Unparsable("part of it is not understood")
        if kind in _KEYWORDS_IN and not child.is_named and _KEYWORD.fullmatch(child.type):
            _check_keyword(child, source)
        _check(child, source)
    if kind not in _TEXT and not _GAP.fullmatch(source[at : node.end_byte]):
        raise Unparsable("part of it is not understood")


def _check_keyword(node: Node, source: bytes) -> None:
    """`[[x` and `!x` are names of programs to bash, not keywords."""
    before = source[max(node.start_byte - 1, 0) : node.start_byte]
    after = source[node.end_byte : node.end_byte + 1]
    opens = node.type in ("[", "[[", "!", "{")
    if (before and before not in _ENDS_WORD) or (
        after and after not in (b" \t\n" if opens else _ENDS_WORD)
    ):
        raise Unparsable(f"a {node.type} that may or may not be a keyword")


def stray_dash(before: bytes, child: Node) -> bool:
    """True for the argument `-` in front of a here-document, which the parser leaves out."""
    return child.type == "heredoc_redirect" and before.strip(b" \t") == b"-"


def _check_edges(node: Node, source: bytes) -> None:
    """Nodes that the parser is known to begin or end at another character than bash does."""
    kind, text = node.type, source[node.start_byte : node.end_byte]
    if kind == "file_descriptor":
        _check_descriptor(node, source)
    elif kind == "simple_expansion" and not _VARIABLE.fullmatch(text):
        raise Unparsable("a $ that may or may not name a variable")
    elif kind == "expansion" and text[2:3] in (b" ", b"\t", b"\n", b"|"):
        raise Unparsable("commands inside ${…}")
    elif kind in _REDIRECTS and source[node.end_byte : node.end_byte + 1] not in _ENDS_WORD:
        raise Unparsable("a redirection that touches a word")


def _check_descriptor(node: Node, source: bytes) -> None:
    """`-r2>f` is the word `-r2` and a redirection; only bare digits number a file."""
    before = source[max(node.start_byte - 1, 0) : node.start_byte]
    digits = source[node.start_byte : node.end_byte].isdigit()
    if not digits or (before and before not in _ENDS_WORD):
        raise Unparsable("a redirection that touches a word")


def _check_comment(node: Node, source: bytes) -> None:
    at = node.start_byte
    before = source[max(at - 2, 0) : at]
    if before and (before[-1] not in _BEFORE_COMMENT or before == b"\\\n"):
        raise Unparsable("a # that may or may not begin a comment")


def here_document(node: Node, source: bytes) -> tuple[str, bool]:
    """The text of a here-document and whether bash passes it on untouched.

    Raises:
        Unparsable: when bash would end it at another line.
    """
    parts = {child.type: child for child in node.children}
    start, end = parts.get("heredoc_start"), parts.get("heredoc_end")
    if start is None or end is None or sum(c.type == "heredoc_start" for c in node.children) > 1:
        raise Unparsable("a here-document without an end")
    if source[start.end_byte : start.end_byte + 1] not in _ENDS_WORD:
        raise Unparsable("a here-document with an unusual end mark")
    spelled = source[start.start_byte : start.end_byte].decode()
    untouched = bool(re.search(r"['\"\\]", spelled))
    delimiter = re.sub(r"['\"\\]", "", spelled)
    if not re.fullmatch(r"[\w.-]+", delimiter):
        raise Unparsable("a here-document with an unusual end mark")
    text = _body(node, end, source)
    lines = text if untouched else _CONTINUED.sub(r"\1", text)
    tabs = "<<-" in parts
    if any((row.lstrip("\t") if tabs else row) == delimiter for row in lines.split("\n")[:-1]):
        raise Unparsable("a here-document that ends earlier than it seems")
    found = source[end.start_byte : end.end_byte].decode()
    last = text.rpartition("\n")[2]
    if last.strip("\t" if tabs else "") or (found.lstrip("\t") if tabs else found) != delimiter:
        raise Unparsable("a here-document that does not end where it seems")
    if source[end.end_byte : end.end_byte + 1] not in (b"", b"\n"):
        raise Unparsable("a here-document whose end mark is not alone on its line")
    return text, untouched and not tabs


def _body(node: Node, end: Node, source: bytes) -> str:
    """From the line after the one that opens the here-document up to its end mark."""
    before = [c.end_byte for c in node.children if c.type not in ("heredoc_body", "heredoc_end")]
    opened = source[node.start_byte : max(before)]
    gap = source[max(before) : end.start_byte]
    at = gap.find(b"\n")
    if b"\n" in opened or at < 0 or gap[:at].strip(b" \t"):
        raise Unparsable("a here-document that does not begin on the next line")
    return gap[at + 1 :].decode()


def check_expanding_text(node: Node, source: bytes) -> None:
    """Refuses a here-document body with a substitution that the parser did not see.

    Raises:
        Unparsable: when bash would run something inside it.
    """
    seen = [c for c in node.children if c.type not in ("heredoc_content",)]
    at = node.start_byte
    for child in (*seen, None):
        stop = node.end_byte if child is None else child.start_byte
        plain = re.sub(rb"\\[\\$`]", b"", source[at:stop]).decode()
        if _RUNS.search(plain):
            raise Unparsable("a substitution inside a here-document that cannot be read")
        at = node.end_byte if child is None else child.end_byte
