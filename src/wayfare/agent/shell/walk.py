"""The walk over the syntax tree of a line: what runs, in which folder it may run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from wayfare.agent.shell.expansions import check_arithmetic, check_test, substitutions, variables
from wayfare.agent.shell.frames import UNKNOWN_PLACE, After, Frame, Reader, either, emit
from wayfare.agent.shell.tree import check_expanding_text, here_document, stray_dash
from wayfare.agent.shell.values import (
    Assignment,
    Command,
    Places,
    Redirect,
    Unparsable,
    Word,
    plain,
)
from wayfare.agent.shell.words import read_word

if TYPE_CHECKING:
    from tree_sitter import Node

_SEQUENCES = frozenset({"program", "compound_statement", "do_group"})
_BRANCHES = frozenset(
    {"if_statement", "elif_clause", "else_clause", "case_statement", "case_item", "negated_command"}
)
_LOOPS = frozenset({"while_statement", "for_statement", "c_style_for_statement"})
_SIMPLE = frozenset(
    {
        "command",
        "redirected_statement",
        "declaration_command",
        "unset_command",
        "variable_assignment",
        "variable_assignments",
    }
)
_REDIRECTS = frozenset({"file_redirect", "heredoc_redirect", "herestring_redirect"})
WORDS = frozenset(
    {
        "word",
        "number",
        "string",
        "raw_string",
        "ansi_c_string",
        "concatenation",
        "simple_expansion",
        "expansion",
        "command_substitution",
        "process_substitution",
        "arithmetic_expansion",
        "brace_expression",
        "extglob_pattern",
        "variable_name",
        "special_variable_name",
        "command_name",
        "array",
    }
)


@dataclass(slots=True)
class Parts:
    """The parts of one simple command while they are gathered."""

    words: list[Word]
    assignments: list[Assignment]
    redirects: list[Redirect]
    stdin_code: str | None = None
    fed_by: tuple[str, ...] = ()
    later: tuple[Node, ...] = ()


class Walk:
    """One parsed piece of code."""

    def __init__(self, reader: Reader, source: bytes, frame: Frame) -> None:
        self.reader = reader
        self.source = source
        self.frame = frame
        self.moves = re.search(rb"\b(?:cd|pushd|popd)\b", source) is not None

    def visit(self, node: Node, places: Places) -> After:
        """Collects the commands under `node`, which begins in one of `places`.

        Raises:
            Unparsable: when the node is of a kind this does not judge.
        """
        kind = node.type
        if kind in _SEQUENCES and node.child_count and node.child(0).type == "((":
            check_arithmetic(node, self.source, self.reader.names)
        elif kind in _SEQUENCES:
            return self._sequence(node, places)
        elif kind == "list":
            return self._chained(node, places)
        elif kind in _LOOPS:
            return self._loop(node, places)
        elif kind in _BRANCHES:
            return self._branches(node.children, places)
        elif kind in _SIMPLE:
            return self._simple(node, places)
        elif kind == "function_definition":
            self._function(node, places)
        elif kind == "test_command":
            check_test(node, self.source, self.reader.names)
            self._descend(node, places)
        elif kind == "pipeline":
            for child in node.children:
                self.visit(child, places)
        elif kind == "subshell":
            self._sequence(node, places)
        elif kind in WORDS:
            self._descend(node, places)
        elif node.is_named and kind != "comment":
            raise Unparsable(f"a construct this does not judge ({kind.replace('_', ' ')})")
        return After(success=places, always=places)

    def _sequence(self, node: Node, places: Places) -> After:
        after = After(success=places, always=places)
        for child in node.children:
            if child.is_named and child.type != "comment":
                after = self.visit(child, after.always)
        return after

    def _branches(self, nodes: Iterable[Node], places: Places) -> After:
        for child in nodes:
            places = either(places, self.visit(child, places).always)
        return After(success=places, always=places)

    def _chained(self, node: Node, places: Places) -> After:
        left, operator, right = (c for c in node.children if c.type != "comment")
        first = self.visit(left, places)
        if operator.type == "&&":
            second = self.visit(right, first.success)
            return After(success=second.success, always=either(first.always, second.always))
        second = self.visit(right, first.always)
        return After(
            success=either(first.success, second.success),
            always=either(first.always, second.always),
        )

    def _loop(self, node: Node, places: Places) -> After:
        names = self.reader.names
        if self.moves:
            places = either(places, (UNKNOWN_PLACE,))
        if node.type == "c_style_for_statement":
            for child in node.children:
                if child.is_named and child.type != "do_group":
                    check_arithmetic(child, self.source, names)
            return self._branches((c for c in node.children if c.type == "do_group"), places)
        variable = node.child_by_field_name("variable")
        values = node.children_by_field_name("value")
        if variable is not None:
            name = self._text(variable)
            chosen = node.child(0).type != "for" or not values
            for value in values:
                names.assign(name, None if chosen else read_word(value, self.source))
            if chosen:
                names.assign(name, None)
        return self._branches((c for c in node.children if c != variable), places)

    def _function(self, node: Node, places: Places) -> None:
        name = node.child_by_field_name("name")
        if name is not None:
            self.reader.names.defined.add(self._text(name))
        inside = (UNKNOWN_PLACE,) if self.moves else places
        for child in node.children:
            if child.type in _REDIRECTS:
                parts = Parts([], [], [])
                self._redirect(child, parts, inside)
                self._emit_parts(parts, inside)
            elif child != name:
                self.visit(child, inside)

    def _simple(self, node: Node, places: Places) -> After:
        """A command, a declaration, lone assignments, or anything with redirections."""
        parts = Parts([], [], [])
        if node.type != "redirected_statement":
            self._gather(node, parts, places)
            after = self._emit_parts(parts, places)
            return self._branches(parts.later, after.always) if parts.later else after
        body = node.child_by_field_name("body")
        after = After(success=places, always=places)
        gathered = body is None or body.type in (
            "command",
            "declaration_command",
            "variable_assignment",
            "variable_assignments",
        )
        if body is not None and gathered:
            self._gather(body, parts, places)
        elif body is not None:
            after = self.visit(body, places)
        at = node.start_byte
        for child in node.children:
            if stray_dash(self.source[at : child.start_byte], child):
                parts.words.append(plain("-"))
            at = child.end_byte
            if child.type in _REDIRECTS:
                self._redirect(child, parts, places)
            elif child != body and child.is_named:
                raise Unparsable("a redirection in an unusual place")
        if not gathered and parts.words:
            raise Unparsable("words after a redirection of a group")
        if gathered:
            after = self._emit_parts(parts, places)
        else:
            # The tree hangs the redirection of `cd x && ls > f` onto the whole list.
            self._emit_parts(parts, either(places, after.success, after.always))
        return self._branches(parts.later, after.always) if parts.later else after

    def _gather(self, node: Node, parts: Parts, places: Places) -> None:
        kind = node.type
        if kind == "variable_assignment":
            parts.assignments.append(self._assignment(node, places))
            return
        end_of_last = -1
        for child in node.children:
            if child.type in _REDIRECTS:
                self._redirect(child, parts, places)
                continue
            if child.start_byte == end_of_last:
                raise Unparsable("two words without a blank between them")
            end_of_last = child.end_byte
            if child.type == "variable_assignment":
                parts.assignments.append(self._assignment(child, places))
                if kind == "declaration_command":
                    parts.words.append(plain(self._text(child)))
            elif child.type in WORDS:
                parts.words.append(self._word(child, places))
            elif child.type == "$" or (
                not parts.words and kind in ("declaration_command", "unset_command")
            ):
                parts.words.append(plain(self._text(child)))
            elif child.type != "comment":
                raise Unparsable(f"an unexpected {child.type} among the words of a command")
        if kind in ("declaration_command", "unset_command"):
            _check_declaration(parts.words)

    def _assignment(self, node: Node, places: Places) -> Assignment:
        target, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        assert target is not None
        name = self._text(target)
        word = plain("") if value is None else self._word(value, places)
        operator = next((c.type for c in node.children if c.type in ("=", "+=")), "=")
        if target.type == "subscript":
            self._descend(target, places)
            name = name.partition("[")[0]
        if not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
            raise Unparsable("a word that may or may not set a variable")
        certain = operator == "=" and target.type == "variable_name"
        if certain and value is not None and value.type == "arithmetic_expansion":
            self.reader.names.assign(name, plain("0"))
        else:
            self.reader.names.assign(name, word if certain else None)
        return Assignment(name=name, value=word)

    def _redirect(self, node: Node, parts: Parts, places: Places) -> None:
        if node.type == "heredoc_redirect":
            self._here_document(node, parts, places)
            return
        targets = [c for c in node.children if c.type in WORDS]
        words = [self._word(c, places) for c in targets]
        if node.type == "herestring_redirect":
            literal = len(words) == 1 and words[0].literal and not words[0].tilde
            parts.stdin_code = words[0].text if literal else None
            parts.fed_by = (*parts.fed_by, *variables(node, self.source))
            return
        operator = next(c.type for c in node.children if not c.is_named and c.type[0] in "<>&")
        duplicates = "&" in operator and operator[0] != "&"
        if duplicates and (not words or re.fullmatch(r"\d+-?|-", words[0].text)):
            parts.words.extend(words[1:])
            return
        if not words:
            if operator.endswith("-"):
                return
            raise Unparsable("a redirection to nothing")
        parts.redirects.append(Redirect(path=words[0], write=not operator.startswith("<")))
        parts.words.extend(words[1:])

    def _here_document(self, node: Node, parts: Parts, places: Places) -> None:
        text, untouched = here_document(node, self.source)
        later: list[Node] = []
        for child in node.children:
            if child.type == "heredoc_body":
                if not re.search(r"['\"\\]", self._heredoc_mark(node)):
                    check_expanding_text(child, self.source)
                    parts.fed_by = (*parts.fed_by, *variables(child, self.source))
                    self._descend(child, places)
            elif child.type in _REDIRECTS:
                self._redirect(child, parts, places)
            elif child.type in WORDS:
                parts.words.append(self._word(child, places))
            elif child.is_named and child.type not in (
                "heredoc_start",
                "heredoc_end",
                "file_descriptor",
            ):
                later.append(child)
        parts.later = (*parts.later, *later)
        parts.stdin_code = text if untouched or not re.search(r"[$`\\]", text) else None

    def _heredoc_mark(self, node: Node) -> str:
        return next(self._text(c) for c in node.children if c.type == "heredoc_start")

    def _word(self, node: Node, places: Places) -> Word:
        word = read_word(node, self.source)
        self._descend(node, places)
        return word

    def _descend(self, node: Node, places: Places) -> None:
        """Visits the substitutions inside words."""
        for found in substitutions(node, self.source, self.reader.names):
            if found.child(0).type == "`":
                self._backticks(found, places)
                continue
            parts = Parts([], [], [])
            for child in found.children:
                if child.type in _REDIRECTS:
                    self._redirect(child, parts, places)
            self._emit_parts(parts, places)
            rest = [c for c in found.children if c.type not in _REDIRECTS and c.is_named]
            inside = places
            for child in rest:
                inside = self.visit(child, inside).always

    def _backticks(self, node: Node, places: Places) -> None:
        parent = node.parent
        quoted = parent is not None and parent.type == "string"
        raw = self._text(node)[1:-1]
        code = re.sub(r'\\([\\$`"])' if quoted else r"\\([\\$`])", r"\1", raw)
        self.reader.read(code, replace(self.frame, places=places, depth=self.frame.depth + 1))

    def _text(self, node: Node) -> str:
        return self.source[node.start_byte : node.end_byte].decode()

    def _emit_parts(self, parts: Parts, places: Places) -> After:
        command = Command(
            words=tuple(parts.words),
            assignments=(*self.frame.assignments, *parts.assignments),
            redirects=tuple(parts.redirects),
            elevated=self.frame.elevated,
            wrappers=self.frame.wrappers,
            fed_by=parts.fed_by,
            places=places,
        )
        if not (parts.words or parts.assignments or parts.redirects):
            return After(success=places, always=places)
        return emit(self.reader, command, self.frame, stdin_code=parts.stdin_code)


def _check_declaration(words: Sequence[Word]) -> None:
    for word in words[1:]:
        if re.match(r"[-+]\w*[ni]", word.text) or ("[" in word.text and "=" not in word.text):
            raise Unparsable("a declaration whose values bash evaluates")
