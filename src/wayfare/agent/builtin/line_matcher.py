"""Finds lines by a regular expression, as a program of its own: it runs where it can be ended.

Python's `re` may take for ever on an unlucky expression and holds the interpreter meanwhile, so
that no time-out in the same process would help. Uses nothing but the standard library and starts
in some 20 ms.

In, one JSON line each: what to do, `{"pattern", "ignore_case", "literal", "context"}`,
then texts: a path as a string, or `[name, text]`. Out: `[name, line, text, column]` for a line
that matches (column from 0, in characters), `[name, line, text, -1]` for one around it, and
`{"error"}` when the pattern is none.
"""

import json
import re
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any, TextIO

_LOOKED_AT_BYTES = 8_192
_WHOLE_BYTES = 32_000_000
"""Larger files are read line by line, without a first look at the whole."""
_LINE_BYTES = 4_000_000
"""Of a longer line only the beginning is searched."""
_ANCHORS = re.compile(r"\\[AZzG]|\(\?-|\(\?[a-z]*[ms]|\\n|\\s|\[\^")
"""Expressions that may match another way in the whole text than in a line."""


def main(source: TextIO, target: TextIO) -> None:
    """Answer what is asked."""
    asked: dict[str, Any] = json.loads(source.readline())
    pattern = re.escape(asked["pattern"]) if asked["literal"] else asked["pattern"]
    flags = re.IGNORECASE if asked["ignore_case"] else 0
    try:
        expression = re.compile(pattern, flags)
        whole = None if _ANCHORS.search(pattern) else re.compile(pattern, flags | re.MULTILINE)
    except (re.error, RecursionError, OverflowError) as error:
        target.write(json.dumps({"error": str(error)}) + "\n")
        return
    for line in source:
        name, lines = _lines(json.loads(line), whole)
        for found in _around(lines, expression, asked["context"]):
            target.write(json.dumps([name, *found]) + "\n")
        target.flush()


def _lines(asked: Any, whole: "re.Pattern[str] | None") -> tuple[str, Iterable[str]]:
    if not isinstance(asked, str):
        return asked[0], _split(asked[1])
    try:
        with open(asked, "rb") as file:
            content = file.read(_WHOLE_BYTES)
            if b"\0" in content[:_LOOKED_AT_BYTES]:
                return asked, ()
            if len(content) == _WHOLE_BYTES:
                return asked, _long(asked)
    except OSError:
        return asked, ()
    text = content.decode("utf-8", "replace")
    if whole is not None and whole.search(text) is None:
        return asked, ()
    return asked, _split(text)


def _split(text: str) -> list[str]:
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


def _long(path: str) -> Iterator[str]:
    with open(path, "rb") as file:
        while line := file.readline(_LINE_BYTES):
            yield line.rstrip(b"\n").decode("utf-8", "replace")
            while not line.endswith(b"\n") and line:
                line = file.readline(_LINE_BYTES)


def _around(
    lines: Iterable[str], expression: "re.Pattern[str]", context: int
) -> Iterator[tuple[int, str, int]]:
    before: deque[tuple[int, str]] = deque(maxlen=context)
    after = 0
    for number, line in enumerate(lines, 1):
        line = line.removesuffix("\r")
        found = expression.search(line)
        if found:
            yield from ((n, text, -1) for n, text in before)
            before.clear()
            yield number, line, found.start()
            after = context
        elif after:
            yield number, line, -1
            after -= 1
        elif context:
            before.append((number, line))


if __name__ == "__main__":
    main(sys.stdin, sys.stdout)
