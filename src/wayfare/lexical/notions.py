"""Words that stand for each other: how a query finds what was written in other words.

A short thesaurus of software work in four languages (`vocabulary/notions.txt`). A text is marked
with the notions it mentions; a query that shares only the notion with a record still finds it, at
a discount, and below every record that has the very word.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from wayfare.lexical.english import stem
from wayfare.lexical.vocabulary import lines
from wayfare.lexical.words import runs

MARK = "~"
"""First character of a notion's token, so that it never meets a word."""


@dataclass(frozen=True, slots=True)
class _Thesaurus:
    by_stem: Mapping[str, tuple[str, ...]]
    by_stems: Mapping[tuple[str, str], tuple[str, ...]]
    firsts: frozenset[str]
    """First words of the forms of two words."""
    by_pair: Mapping[str, tuple[tuple[str, str], ...]]
    """First two characters of an unspaced form -> (whole form, notion)."""


@lru_cache(maxsize=1)
def _thesaurus() -> _Thesaurus:
    by_stem: dict[str, set[str]] = {}
    by_stems: dict[tuple[str, str], set[str]] = {}
    by_pair: dict[str, set[tuple[str, str]]] = {}
    for forms in lines("notions"):
        notion = MARK + forms[0]
        for form in forms:
            if not form.isascii():
                by_pair.setdefault(form[:2], set()).add((form, notion))
            elif "_" in form:
                first, second = form.split("_")[:2]
                by_stems.setdefault((stem(first), stem(second)), set()).add(notion)
            else:
                by_stem.setdefault(stem(form), set()).add(notion)
    return _Thesaurus(
        {word: tuple(sorted(named)) for word, named in by_stem.items()},
        {pair: tuple(sorted(named)) for pair, named in by_stems.items()},
        frozenset(first for first, _ in by_stems),
        {pair: tuple(sorted(forms)) for pair, forms in by_pair.items()},
    )


def notions(text: str, words: Sequence[str]) -> dict[str, frozenset[str]]:
    """The notions a text mentions, each with the words of the text that stand for it.

    Args:
        text: The text itself; its unspaced runs are searched for forms.
        words: `tokens(text)`, so that it is split only once.
    """
    thesaurus = _thesaurus()
    found: dict[str, set[str]] = {}
    distinct = set(words)
    for word in thesaurus.by_stem.keys() & distinct:
        for notion in thesaurus.by_stem[word]:
            found.setdefault(notion, set()).add(word)
    if not thesaurus.firsts.isdisjoint(distinct):
        for pair in zip(words, words[1:], strict=False):
            for notion in thesaurus.by_stems.get(pair, ()):
                found.setdefault(notion, set()).update(pair)
    if not text.isascii():
        for run in runs(text):
            for start in range(len(run) - 1):
                for form, notion in thesaurus.by_pair.get(run[start : start + 2], ()):
                    if run.startswith(form, start):
                        found.setdefault(notion, set()).update(_covered(form))
    return {notion: frozenset(covered) for notion, covered in found.items()}


@lru_cache(maxsize=1 << 12)
def _covered(form: str) -> frozenset[str]:
    return frozenset(form) | {form[at : at + 2] for at in range(len(form) - 1)}
