"""Patterns with numbers in them, and the numbers they find."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache

NUMBER = (
    r"(?<![\w.])\d{1,3}(?:[,_'\u00a0\u202f]\d{3})+(?!\d)"
    r"|(?<![\w.,])\d+(?:\.\d+)?\s?[kKmM]\b"
    r"|(?<![\w.])\d+"
)
"""Plain, grouped (1,048,576) or short (128k, 1M)."""


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    named = re.sub(r"N=(\w+)", lambda match: f"(?P<{match[1]}>{NUMBER})", pattern)
    whole = re.sub(r"(?<![\w<\\])N(?![\w=])", lambda _: f"(?:{NUMBER})", named)
    return re.compile(whole, re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Form:
    """A pattern in which `N` is a number and `N=limit` one in a group of that name.

    Compiled when first used: a session without a refusal pays nothing for the tables.
    """

    pattern: str

    def search(self, text: str) -> re.Match[str] | None:
        return _compiled(self.pattern).search(text)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        return _compiled(self.pattern).finditer(text)


def read_number(text: str) -> int:
    """The integer a match of `NUMBER` stands for."""
    cleaned = re.sub(r"[,_'\u00a0\u202f\s]", "", text).lower()
    if cleaned.endswith(("k", "m")):
        return int(float(cleaned[:-1]) * (1_000 if cleaned[-1] == "k" else 1_000_000))
    return int(cleaned)


def plain(text: str) -> str:
    """Curly quotes, full-width signs and runs of blanks made plain."""
    table = str.maketrans("‘’“”（）：，；＞＜＝［］", "''\"\"():,;><=[]")
    return re.sub(r"[ \t\r\f\v]+", " ", text.translate(table))


def first_number(
    text: str,
    forms: Iterable[Form],
    name: str,
    *,
    reject: Callable[[int], bool] = lambda number: False,
) -> int | None:
    """The first number in group `name`, forms in order, that `reject` lets through."""
    for form in forms:
        for match in form.finditer(text):
            if (value := match.groupdict().get(name)) and not reject(number := read_number(value)):
                return number
    return None
