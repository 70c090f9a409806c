"""What bash evaluates inside words: substitutions to visit, and text it would run as a surprise.

Arithmetic, `[[ -eq ]]`, subscripts and `${x@P}` evaluate the *value* of a variable, and a value can
hold a command substitution. Each such place is followed to the variable it evaluates, or refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from wayfare.agent.shell.names import Names
from wayfare.agent.shell.values import Unparsable
from wayfare.agent.shell.words import read_word

if TYPE_CHECKING:
    from tree_sitter import Node

_RUNS = re.compile(r"\$[({\[]|`|[<>]\(")
_PLAIN_NUMBER = re.compile(r"[\w#.]+", re.ASCII)
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_SUBSTITUTIONS = frozenset({"command_substitution", "process_substitution"})
_QUOTED = frozenset({"raw_string", "ansi_c_string"})
_COMPARES_NUMBERS = frozenset({"-eq", "-ne", "-lt", "-le", "-gt", "-ge"})
_OPERATIONS = frozenset(
    {
        "binary_expression",
        "unary_expression",
        "postfix_expression",
        "ternary_expression",
        "parenthesized_expression",
        "arithmetic_expansion",
        "compound_statement",
    }
)


def substitutions(node: Node, source: bytes, names: Names) -> Iterator[Node]:
    """Every `$(…)`, backtick and process substitution under `node`, for the caller to visit.

    Raises:
        Unparsable: when something under it is evaluated that cannot be read.
    """
    kind = node.type
    if kind in _SUBSTITUTIONS:
        yield node
    elif kind == "arithmetic_expansion":
        check_arithmetic(node, source, names)
    elif kind == "expansion":
        yield from _expansion(node, source, names)
    elif kind == "subscript":
        yield from _subscript(node, source, names)
    elif kind in _QUOTED:
        return
    elif kind in ("regex", "extglob_pattern") and _RUNS.search(_text(node, source)):
        raise Unparsable("a pattern with a substitution in it")
    else:
        for child in node.children:
            yield from substitutions(child, source, names)


def variables(node: Node, source: bytes) -> Iterator[str]:
    """Names of all variables expanded under `node`."""
    if node.type == "variable_name":
        yield _text(node, source)
    for child in node.children:
        yield from variables(child, source)


def _text(node: Node, source: bytes) -> str:
    return source[node.start_byte : node.end_byte].decode()


def _expansion(node: Node, source: bytes, names: Names) -> Iterator[Node]:
    children = node.children[1:-1]
    tokens = [_text(c, source) for c in children if not c.is_named]
    if tokens and not children[0].is_named and tokens[0] == "!":
        raise Unparsable("${!…}, a variable named by another")
    if "@" in tokens and "P" in tokens:
        raise Unparsable("${…@P}, which runs what the variable holds")
    for child in children:
        if child.type == "variable_name" and ({"=", ":="} & set(tokens)):
            names.assign(_text(child, source), None)
        if ":" in tokens and child.type not in ("variable_name", "number") and child.is_named:
            raise Unparsable("a computed part of a variable")
        if child.type in _QUOTED or not child.children:
            if _RUNS.search(_text(child, source)):
                raise Unparsable("a substitution inside ${…} that cannot be read")
        else:
            yield from _inside_expansion(child, source, names)


def _inside_expansion(node: Node, source: bytes, names: Names) -> Iterator[Node]:
    for leaf in _leaves(node):
        if _RUNS.search(_text(leaf, source)) and leaf.type not in ("$(", "${", "`", "$((", "$["):
            raise Unparsable("a substitution inside ${…} that cannot be read")
    yield from substitutions(node, source, names)


def _leaves(node: Node) -> Iterator[Node]:
    if node.type in _SUBSTITUTIONS:
        return
    if not node.children:
        yield node
    for child in node.children:
        yield from _leaves(child)


def _subscript(node: Node, source: bytes, names: Names) -> Iterator[Node]:
    index = node.child_by_field_name("index")
    if index is None or _text(index, source) in ("@", "*"):
        return
    _check_operand(index, source, names)
    yield from ()


def check_arithmetic(node: Node, source: bytes, names: Names) -> None:
    """Notes every variable an arithmetic expression evaluates.

    Raises:
        Unparsable: when it evaluates text that is neither a number nor a named variable.
    """
    if node.type not in _OPERATIONS:
        _check_operand(node, source, names)
        return
    for child in node.children:
        if child.is_named and child.type not in ("comment", "test_operator"):
            check_arithmetic(child, source, names)


def _check_operand(node: Node, source: bytes, names: Names) -> None:
    kind, text = node.type, _text(node, source)
    if kind in _OPERATIONS:
        check_arithmetic(node, source, names)
    elif kind in ("word", "variable_name", "number"):
        if not _PLAIN_NUMBER.fullmatch(text):
            raise Unparsable("arithmetic on text that is no number")
        if _NAME.fullmatch(text):
            names.computed_with.add(text)
    elif kind in ("simple_expansion", "string", "expansion") and not text.startswith("${#"):
        variable = read_word(node, source).sole_variable
        if variable is None:
            raise Unparsable("arithmetic on text that is no number")
        names.computed_with.add(variable)
    elif kind == "subscript":
        for child in node.named_children:
            _check_operand(child, source, names)
    elif kind == "variable_assignment":
        for child in node.named_children:
            check_arithmetic(child, source, names)
    elif kind != "expansion":
        raise Unparsable("arithmetic on something computed")


def check_test(node: Node, source: bytes, names: Names) -> None:
    """Follows the parts of `[ … ]` and `[[ … ]]` that bash evaluates as arithmetic.

    Raises:
        Unparsable: when one of them is not readable.
    """
    _check_test(node, source, names, double=node.child(0).type == "[[")


def _check_test(node: Node, source: bytes, names: Names, *, double: bool) -> None:
    operators = [_text(c, source) for c in node.children if c.type == "test_operator"]
    operands = [
        c for c in node.children if c.is_named and c.type not in ("test_operator", "comment")
    ]
    if double and _COMPARES_NUMBERS & set(operators):
        for operand in operands:
            _check_operand(operand, source, names)
    if {"-v", "-R"} & set(operators):
        for operand in operands:
            if not _NAME.fullmatch(_text(operand, source)):
                raise Unparsable("a test of a variable whose name is computed")
    for operand in operands:
        if operand.type in _OPERATIONS and operand.type != "arithmetic_expansion":
            _check_test(operand, source, names, double=double)
