"""Text to search words: one splitting for records, transcripts and queries, in any script."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from functools import lru_cache

from wayfare.lexical.dates import TIME, dates, says_when
from wayfare.lexical.english import STOP_WORDS, stem
from wayfare.lexical.vocabulary import lines

LONGEST_WORD_CHARS = 256
"""What runs longer without a blank is no word: encoded bytes, a minified file. It is left out."""

# Scripts written without blanks between words (Han, kana, Thai, Lao, Myanmar, Khmer), and Hangul,
# whose particles stick to the noun: for all of them single characters and pairs stand in for words.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3130-\u318f"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
_LETTER = rf"[^\W{_UNSPACED}]"
_CHUNK = re.compile(
    rf"(?P<run>[{_UNSPACED}]+)"
    rf"|(?P<sharp>(?<!\w)[A-Za-z](?:\+\+|#)(?!\w))"
    rf"|(?P<word>{_LETTER}+(?:[-./'’]{_LETTER}+)*)"
)
_UNSPACED_START = re.compile(rf"[{_UNSPACED}]")
_RUN = re.compile(rf"[{_UNSPACED}]{{2,}}")
_ASCII_CHUNK = re.compile(
    r"(?P<sharp>(?<!\w)[A-Za-z](?:\+\+|#)(?!\w))|(?P<word>\w+(?:[-./']\w+)*)", re.ASCII
)
_ASCII_WORD = re.compile(r"\w+(?:[-./']\w+)*", re.ASCII)
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_VERSION = re.compile(r"v?(\d+(?:\.\d+)+)", re.IGNORECASE)
_PIECE = re.compile(r"\d+(?:\.\d+)+|\d+|[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[^\W\d_A-Za-z]+")
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)", re.IGNORECASE)
_SEPARATORS = re.compile(r"[^\w]|_")
# Letters of unspaced scripts and marks, which mean nothing alone.
_LETTER_ALONE = re.compile(
    "[\u3040-\u30ff\u31f0-\u31ff\u0e30-\u0e3a\u0e40-\u0e4f\u0eb0-\u0ebc\u0ec0-\u0ece]"
)

_STOPS = frozenset(word for line in lines("unspaced_stop_words") for word in line)


def tokens(text: str) -> list[str]:
    """The search words of a text, in order, with repetitions.

    Words are lower-cased after NFKC and stemmed, English stop words are left out; an identifier
    gives its parts (split at case, digits, `_`, `-`, `/`, `.`) and itself without separators, so
    that `fooBar`, `foo_bar` and `foo-bar` are one word; a version gives its prefixes (`3.11.7`,
    `3.11`); a calendar date in any usual notation gives `@05-08` and, with a year,
    `@2023-05-08` and `@2023-05`, and whatever says when gives `@time`; Chinese, Japanese, Korean,
    Thai and other unspaced runs give single characters and pairs, without the grammar.

    Args:
        text: Any text; a query is split the same way.

    Returns:
        Words without blanks; empty when the text has nothing but stop words and punctuation.
    """
    found: list[str] = []
    if text.isascii():
        pattern = _ASCII_CHUNK
    else:
        text, pattern = unicodedata.normalize("NFKC", text), _CHUNK
    if "," in text:
        text = _THOUSANDS.sub("", text)
    if pattern is _ASCII_CHUNK and "#" not in text and "+" not in text:
        for chunk in _ASCII_WORD.findall(text):
            if len(chunk) <= LONGEST_WORD_CHARS:
                found += _word_tokens(chunk)
    else:
        for match in pattern.finditer(text):
            chunk, kind = match.group(), match.lastgroup or "word"
            if len(chunk) <= LONGEST_WORD_CHARS:
                found += _SPLIT[kind](chunk)
            elif kind == "run":
                found += _pairs(chunk)
    days = dates(text, found)
    if days or says_when(found):
        found += [*days, TIME]
    return found


def runs(text: str) -> list[str]:
    """The runs of a text that are written without blanks, after NFKC."""
    if text.isascii():
        return []
    return _RUN.findall(unicodedata.normalize("NFKC", text))


def share_of_word(token: str) -> float:
    """How much of a word a token is: 0.5 for a character or pair of an unspaced script.

    Such a script gives about two tokens for each character and two characters make a word, so
    that otherwise a question in Chinese about `X-Tenant-Id` would hardly be about it.
    """
    return 0.5 if _UNSPACED_START.match(token) else 1.0


@lru_cache(maxsize=1 << 11)
def _word_tokens(chunk: str) -> tuple[str, ...]:
    """Tokens of one run of letters, digits and inner connectors."""
    if chunk.isalpha() and (chunk.islower() or chunk[1:].islower() or chunk.isupper()):
        return _plain(chunk)
    chunk = re.sub(r"['’][sS](?!\w)", "", chunk).replace("'", "").replace("’", "")
    if version := _VERSION.fullmatch(chunk):
        numbers = version.group(1).split(".")
        return tuple(".".join(numbers[:count]) for count in range(len(numbers), 1, -1))
    if ordinal := _ORDINAL.fullmatch(chunk):
        return (ordinal.group(1),)
    found: list[str] = []
    segments = [segment for segment in chunk.split("/") if segment]
    for segment in segments:
        pieces = _PIECE.findall(segment)
        if len(pieces) > 1:
            found.extend(_plain(_SEPARATORS.sub("", segment)))
        for piece in pieces:
            if "." in piece:
                found.extend(_word_tokens(piece))
            elif len(piece) > 1 or len(pieces) == 1:
                found.extend(_plain(piece))
    if len(segments) > 1:
        found.extend(_plain(_SEPARATORS.sub("", chunk)))
    return tuple(found)


def _plain(word: str) -> tuple[str, ...]:
    word = word.lower()
    if word.isascii():
        if word in STOP_WORDS:
            return ()
        return (stem(word),) if word.isalpha() else (word,)
    folded = _without_accents(word)
    return (stem(folded),) if folded.isascii() else (folded,)


def _without_accents(word: str) -> str:
    """Latin letters lose their accents (café, cafe); other scripts keep their marks."""
    decomposed = unicodedata.normalize("NFD", word)
    bare = "".join(c for c in decomposed if unicodedata.category(c) != "Mn")
    return bare if bare.isascii() else word


def _pairs(run: str) -> tuple[str, ...]:
    """Single characters and pairs of one unspaced run; kana and vowel signs only in pairs."""
    found: list[str] = []
    previous = ""
    for character in run:
        stops = character in _STOPS
        if not stops and not _LETTER_ALONE.match(character):
            found.append(character)
        if previous:
            pair = previous + character
            if pair not in _STOPS and not (stops and previous in _STOPS):
                found.append(pair)
        previous = character
    return tuple(found)


def _sharp_tokens(chunk: str) -> tuple[str, ...]:
    """A language name that ends in a sign: C++, C#."""
    return (chunk.lower(),)


_run_tokens = lru_cache(maxsize=1 << 11)(_pairs)
_SPLIT: Mapping[str, Callable[[str], tuple[str, ...]]] = {
    "run": _run_tokens,
    "word": _word_tokens,
    "sharp": _sharp_tokens,
}
