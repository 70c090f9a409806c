"""Pages of the documentation, taken apart: fenced blocks, headings, links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
DOCS: Final = ROOT / "docs"
_FENCE: Final = re.compile(r"^(`{3,})(\S*)[ ]?(.*?)$\n(.*?)^\1$\n?", re.M | re.S)
_SETUP: Final = re.compile(r"^<!-- setup\n(.*?)^-->$", re.M | re.S)
_LINK: Final = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)|<img[^>]* src=\"([^\"]+)\"")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fenced:
    """One fenced block, or a `<!-- setup` comment, which is Python a reader does not see.

    Attributes:
        kind: `python`, `console`, `sh`, `json`, …; `setup`.
        file: The file it is the content of (`file=NAME` behind the kind); empty: none.
        line: Where its text begins in the page, from 1.
    """

    kind: str
    file: str
    text: str
    line: int


def pages(language: str) -> list[Path]:
    """Every page of a language by its path below the language's folder."""
    folder = DOCS / language
    return sorted(page.relative_to(folder) for page in folder.rglob("*.md"))


def blocks(page: Path) -> list[Fenced]:
    """The blocks of a page, in order."""
    text = page.read_text("utf-8")
    found: list[tuple[int, Fenced]] = []
    for match in _FENCE.finditer(text):
        file = re.search(r"file=(\S+)", match[3])
        found.append((match.start(), _fenced(text, match, 4, match[2], file[1] if file else "")))
    for match in _SETUP.finditer(text):
        found.append((match.start(), _fenced(text, match, 1, "setup", "")))
    return [block for _, block in sorted(found, key=lambda pair: pair[0])]


def _fenced(text: str, match: re.Match[str], group: int, kind: str, file: str) -> Fenced:
    line = text.count("\n", 0, match.start(group)) + 1
    return Fenced(kind=kind, file=file, text=match[group], line=line)


def prose(page: Path) -> str:
    """A page without its blocks and comments."""
    return _SETUP.sub("", _FENCE.sub("", page.read_text("utf-8")))


def headings(page: Path) -> list[str]:
    """The headings of a page, with their marks."""
    return re.findall(r"^#+ .+$", prose(page), re.M)


def links(page: Path) -> Iterator[str]:
    """Where a page leads: targets of links and pictures."""
    for match in _LINK.finditer(prose(page)):
        yield match[1] or match[2]
