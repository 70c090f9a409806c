"""Names worth keeping in sight: files and identifiers that texts mention, ranked by use.

Measured on recorded sessions: a marker that lists names it archived adds 9 to 31 points of needed
file names and 6 to 16 of needed identifiers for 1 to 5 % more cost. Which names decides as much:
ranked by frequency that fades with age, the same room holds 8 points more of the identifiers and
11 more of the file names used next than ranked by last occurrence.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from heapq import nlargest
from typing import Final

SUFFIXES: Final = frozenset(
    [
        "py",
        "pyi",
        "ipynb",
        "pyx",
        "js",
        "jsx",
        "mjs",
        "cjs",
        "ts",
        "tsx",
        "mts",
        "cts",
        "vue",
        "svelte",
        "go",
        "rs",
        "java",
        "kt",
        "kts",
        "scala",
        "groovy",
        "swift",
        "c",
        "h",
        "cc",
        "cpp",
        "cxx",
        "hh",
        "hpp",
        "hxx",
        "m",
        "mm",
        "cs",
        "fs",
        "vb",
        "rb",
        "php",
        "pl",
        "pm",
        "lua",
        "r",
        "jl",
        "dart",
        "ex",
        "exs",
        "erl",
        "hs",
        "ml",
        "clj",
        "cljs",
        "el",
        "zig",
        "nim",
        "sol",
        "sh",
        "bash",
        "zsh",
        "fish",
        "ps1",
        "bat",
        "cmd",
        "sql",
        "graphql",
        "gql",
        "proto",
        "thrift",
        "tf",
        "hcl",
        "nix",
        "cmake",
        "mk",
        "gradle",
        "html",
        "htm",
        "xhtml",
        "css",
        "scss",
        "sass",
        "less",
        "xml",
        "svg",
        "json",
        "jsonl",
        "json5",
        "ndjson",
        "yaml",
        "yml",
        "toml",
        "ini",
        "cfg",
        "conf",
        "env",
        "properties",
        "lock",
        "md",
        "mdx",
        "markdown",
        "rst",
        "adoc",
        "txt",
        "text",
        "tex",
        "csv",
        "tsv",
        "log",
        "diff",
        "patch",
        "j2",
        "tmpl",
        "tpl",
        "ejs",
        "hbs",
    ]
)
_RUN: Final = re.compile(r"[A-Za-z0-9_.-]{3,}")
_WORD: Final = re.compile(r"[A-Za-z0-9_]{6,}")
_INNER: Final = re.compile(r"[a-z0-9][A-Z]|[A-Z][A-Z][a-z]|[A-Za-z0-9]_+[A-Za-z0-9]")
_SHORTEST_CHARS: Final = 6
_LONGEST_NAME_CHARS: Final = 60
_FADING_STEPS: Final = 40.0
"""After so many steps a use counts e times less. Anything from 30 to 100 does as well on recorded
sessions; 15 forgets too fast."""
INPUT_WEIGHT: Final = 8.0
"""What a name in a call's input counts against one in any other text: the model wrote it itself."""
_COUNT_POWER: Final = 0.3
"""How a name counts that one text holds several times: 10 times is 2 uses."""
_KEPT: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Names in a text, with how often each occurs."""

    files: Mapping[str, int]
    identifiers: Mapping[str, int]


def found_in(text: str) -> Found:
    """The names in `text`.

    File names are runs of `[A-Za-z0-9_.-]` that end in a source or text suffix; identifiers are
    words of at least 6 characters with an inner capital or underscore.
    """
    files: dict[str, int] = {}
    identifiers: dict[str, int] = {}
    for run, times in Counter(_RUN.findall(text)).items():
        words = (run,)
        if "." in run or "-" in run:
            if name := _file_name(run):
                files[name] = files.get(name, 0) + times
            words = _WORD.findall(run)
        elif run.islower() and "_" not in run:
            continue  # Most runs are plain words.
        for word in words:
            if _is_identifier(word):
                identifiers[word] = identifiers.get(word, 0) + times
    return Found(files=files, identifiers=identifiers)


def _file_name(run: str) -> str:
    name = run.rstrip(".-")
    stem, dot, suffix = name.rpartition(".")
    return name if dot and suffix in SUFFIXES and stem.strip(".-") else ""


def _is_identifier(word: str) -> bool:
    if not _SHORTEST_CHARS <= len(word) <= _LONGEST_NAME_CHARS:
        return False
    return _INNER.search(word) is not None and not word.isdigit()


def file_names(text: str) -> Iterable[str]:
    """The file names in a text, each once."""
    return found_in(text).files


def identifiers(text: str) -> Iterable[str]:
    """The identifiers in a text, each once."""
    return found_in(text).identifiers


class Ranking:
    """Names by how often and how lately they were used.

    A use at step t weighs exp(t / 40): the sum of a name's uses, kept as a logarithm, orders names
    at any later step as fading frequency would, and has to be touched only when a name is used.
    """

    def __init__(self, scores: Mapping[str, float] | None = None) -> None:
        self._scores: dict[str, float] = dict(scores or {})

    @property
    def scores(self) -> Mapping[str, float]:
        """What orders the names; a ranking made of it goes on from here."""
        return self._scores

    def use(self, names: Mapping[str, int], step: int, *, weight: float = 1.0) -> None:
        """Count the names of one text."""
        scores = self._scores
        at = step / _FADING_STEPS + math.log(weight)
        for name, times in names.items():
            now = at + _COUNT_POWER * math.log(times) if times > 1 else at
            old = scores.get(name)
            if old is not None:
                high, low = (now, old) if now > old else (old, now)
                now = high + math.log1p(math.exp(low - high))
            scores[name] = now
        if len(scores) > 2 * _KEPT:
            self._scores = dict(nlargest(_KEPT, scores.items(), key=lambda one: one[1]))

    def ranked(self) -> list[str]:
        """The names, the one most likely to be used again first."""
        return sorted(self._scores, key=self._scores.__getitem__, reverse=True)


class InSight:
    """Names that texts in sight hold, so that they need not be listed again."""

    def __init__(self, texts: Iterable[str], runs: Set[str] = frozenset()) -> None:
        found = set(runs)
        for text in texts:
            found.update(_RUN.findall(text))
        self._runs: Set[str] = found
        self._words = {word for run in found for word in _WORD.findall(run)}

    def with_text(self, text: str) -> InSight:
        """With one more text in sight."""
        return InSight([text], self._runs)

    def __contains__(self, name: str) -> bool:
        return name in self._runs or name in self._words


def listed(names: Iterable[str], room_chars: int, seen: InSight | None = None) -> str:
    """As many of `names` as fit in `room_chars`, joined by blanks; those in sight are left out."""
    return " ".join(_taken(names, room_chars, seen))


def _taken(names: Iterable[str], room_chars: int, seen: InSight | None) -> Iterator[str]:
    for name in names:
        if len(name) > _LONGEST_NAME_CHARS or (seen is not None and name in seen):
            continue
        room_chars -= len(name) + 1
        if room_chars < 0:
            return
        yield name
