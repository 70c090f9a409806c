"""English words: what to leave out, and what the forms of a word have in common."""

from __future__ import annotations

import re
from functools import lru_cache

from wayfare.lexical.vocabulary import lines

STOP_WORDS = frozenset(word for line in lines("english_stop_words") for word in line)
IRREGULAR = {form: line[0] for line in lines("english_irregular") for form in line[1:]}

_STEP_2 = """
ational:ate tional:tion enci:ence anci:ance izer:ize bli:ble logi:log alli:al entli:ent eli:e
ousli:ous ization:ize ation:ate ator:ate alism:al iveness:ive fulness:ful ousness:ous aliti:al
iviti:ive biliti:ble
"""
_STEP_3 = "icate:ic ative: alize:al iciti:ic ical:ic ful: ness:"
_STEP_4 = """
ement ance ence able ible ment ant ent ism ate iti ous ive ize ion al er ic ou
"""


def _endings(table: str) -> dict[str, str]:
    return dict(pair.split(":") for pair in table.split())


_SECOND, _THIRD, _FOURTH = _endings(_STEP_2), _endings(_STEP_3), tuple(_STEP_4.split())

# Porter's [C](VC)^m[V]: every run of vowels that a consonant follows counts one; y is a vowel
# after a consonant.
_SHAPES = str.maketrans("abcdefghijklmnopqrstuvwxyz", "vcccvcccvcccccvcccccvcccyc")


def _shape(word: str) -> str:
    marks = word.translate(_SHAPES)
    if "y" not in marks:
        return marks
    shaped: list[str] = []
    for mark in marks:
        if mark == "y":
            mark = "v" if shaped and shaped[-1] == "c" else "c"
        shaped.append(mark)
    return "".join(shaped)


def _measure(word: str) -> int:
    return len(re.findall(r"v+c", _shape(word)))


def _has_vowel(word: str) -> bool:
    return "v" in _shape(word)


def _ends_cvc(word: str) -> bool:
    return _shape(word).endswith("cvc") and word[-1] not in "wxy"


def _double_consonant(word: str) -> bool:
    return len(word) > 1 and word[-1] == word[-2] and _shape(word)[-1] == "c"


def _plural(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    if word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word


def _past_and_progressive(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        if word.endswith(suffix):
            stem = word[: -len(suffix)]
            if not _has_vowel(stem):
                return word
            if stem.endswith(("at", "bl", "iz")):
                return stem + "e"
            if _double_consonant(stem) and stem[-1] not in "lsz":
                return stem[:-1]
            if _measure(stem) == 1 and _ends_cvc(stem):
                return stem + "e"
            return stem
    return word


def _replace(word: str, endings: dict[str, str]) -> str:
    for length in range(min(7, len(word)), 2, -1):
        suffix = word[-length:]
        if suffix in endings:
            stem = word[:-length]
            return stem + endings[suffix] if _measure(stem) > 0 else word
    return word


def _drop_suffix(word: str) -> str:
    for suffix in _FOURTH:
        if word.endswith(suffix):
            stem = word[: -len(suffix)]
            if _measure(stem) > 1 and (suffix != "ion" or stem.endswith(("s", "t"))):
                return stem
            return word
    return word


def _final_e(word: str) -> str:
    if word.endswith("e"):
        stem = word[:-1]
        measure = _measure(stem)
        if measure > 1 or (measure == 1 and not _ends_cvc(stem)):
            word = stem
    if word.endswith("ll") and _measure(word) > 1:
        word = word[:-1]
    return word


def porter(word: str) -> str:
    """The stem of one lower-case ASCII word by Porter's algorithm.

    Source: M. F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980, with the two
    later changes of its author (bli, logi); gives what the `porter` tokenizer of SQLite FTS5 gives.
    """
    if len(word) < 3:
        return word
    word = _past_and_progressive(_plural(word))
    if word.endswith("y") and _has_vowel(word[:-1]):
        word = word[:-1] + "i"
    return _final_e(_drop_suffix(_replace(_replace(word, _SECOND), _THIRD)))


@lru_cache(maxsize=1 << 11)
def stem(word: str) -> str:
    """What the forms of one lower-case ASCII word have in common: `went` and `going` give `go`."""
    return porter(IRREGULAR.get(word, word))
