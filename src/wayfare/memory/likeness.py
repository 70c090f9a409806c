"""How alike two texts are: what is the same thing said again, and what supports what."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from wayfare.lexical.words import tokens
from wayfare.memory.candidate import Evidence
from wayfare.memory.wording import sentences
from wayfare.store.ref import digest

NEAR = 0.85
"""Share of common words from which two texts are near-duplicates. Lower merges siblings (tabs in
Python, tabs in Go), higher lets reworded twins pass."""

SUPPORTED = 0.5
"""Half of a candidate's words in one sentence: that sentence is where it comes from."""

LEAST_SUPPORT = 0.2
"""The user said it if one of their messages has this share of a candidate's words. A paraphrase
keeps at least its subject; a sentence made up about the same talk shares a stray word. With 0.3
the same tests pass; lower keeps more paraphrases and more inventions."""

_NO_SUBJECT: Final = frozenset(tokens("user not no never always"))
"""Words of nearly every record, whatever it is about."""

Likeness: TypeAlias = Literal["same", "contained", "containing", "near", "different"]

_WORD = re.compile(r"[^\W_]+")
_NEGATION = re.compile(
    r"\b(?:not|no|never|without|don'?t|doesn'?t|isn'?t|aren'?t|won'?t|can'?t|cannot|stop|avoid|instead)\b"
    r"|不|没|沒|勿|无|無|非|别|別|禁|ない|ません|ず|안|않|없|말",
    re.IGNORECASE,
)
_SCRIPT_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7ff]")
_SCRIPT_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Utterance:
    """Something said in a session: its transcript entry, who authored it, when (unix seconds)."""

    entry_id: int
    origin: str
    text: str
    time: float = 0.0


def normal(text: str) -> str:
    """A text without what does not change its sense: case, width, punctuation, spacing."""
    return " ".join(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))


def fingerprint(text: str) -> str:
    """Equal for texts that say the same in the same words; empty for an empty text."""
    flat = normal(text)
    return digest(flat.encode(errors="surrogatepass"))[:32] if flat else ""


def words(text: str) -> frozenset[str]:
    """The search words of a text, each once."""
    return frozenset(tokens(text))


def likeness(new: str, old: str) -> Likeness:
    """How a text stands to an older one.

    Texts with other numbers or identifiers, or where one says no and the other yes, are different
    however many words they share.
    """
    if fingerprint(new) == fingerprint(old):
        return "same"
    ours, theirs = words(new), words(old)
    if not ours or not theirs:
        return "different"
    if _marks(ours) != _marks(theirs) or _negations(new) != _negations(old):
        return "different"
    shared = len(ours & theirs)
    if shared / len(ours | theirs) < NEAR:
        return "different"
    if ours <= theirs:
        return "contained"
    return "containing" if theirs <= ours else "near"


def support(wanted: frozenset[str], text: str) -> float:
    """The share of the wanted words that a text has."""
    return len(wanted & words(text)) / len(wanted) if wanted else 0.0


def ground(
    candidate: str, utterances: Sequence[Utterance], *, cited: Iterable[int] = (), session: str = ""
) -> Evidence:
    """Who said what a candidate claims.

    The candidate belongs to the utterance that has most of its words, the user's own before
    others. What nobody said in these words (less than `LEAST_SUPPORT` of them) belongs to the user
    only if it cites the user, or is in another script than the user wrote (a translation);
    otherwise to nobody. Words that any record has count for nothing.

    Args:
        candidate: Its description and body.
        utterances: What was said, oldest first.
        cited: Entries the candidate itself names as its source.
        session: Goes into the evidence.
    """
    wanted = words(candidate) - _NO_SUBJECT
    scored = [(_score(wanted, said), said) for said in utterances]
    users = [(s, said) for s, said in scored if said.origin == "user"]
    others = [(s, said) for s, said in scored if said.origin != "user"]
    user_share = max((s for s, _ in users), default=0.0)
    other_share = max((s for s, _ in others), default=0.0)
    tool_share = max((s for s, said in others if said.origin == "tool"), default=0.0)
    lead = 0.2 if other_share == tool_share else 0.3
    if other_share >= SUPPORTED and user_share < SUPPORTED and other_share > user_share + lead:
        said = max(others, key=lambda pair: pair[0])[1]
        return _evidence(said.origin, wanted, [said], session)
    if user_share >= LEAST_SUPPORT:
        floor = user_share * 0.5
        return _evidence("user", wanted, [said for s, said in users if s >= floor], session)
    wanted_ids = set(cited)
    named = [said for _, said in users if said.entry_id in wanted_ids]
    if not named:
        said_by_user = " ".join(said.text for _, said in users)
        named = [said for _, said in users] if _translated(candidate, said_by_user) else []
    if named:
        return _evidence("user", wanted, named, session)
    return Evidence(origin="none", session=session)


def _score(wanted: frozenset[str], said: Utterance) -> float:
    """How much of a candidate an utterance has: all of it for a user, a sentence for others.

    A long file has every word somewhere; only a sentence of it can be a source.
    """
    if said.origin == "user":
        return support(wanted, said.text)
    if not wanted & words(said.text):
        return 0.0
    found = sentences(said.text)
    pairs = [f"{a} {b}" for a, b in zip(found, found[1:], strict=False)] or found
    return max((support(wanted, s) for s in pairs), default=0.0)


def _evidence(
    origin: str, wanted: frozenset[str], said: Sequence[Utterance], session: str
) -> Evidence:
    quotes: list[str] = []
    for utterance in said:
        scored = [(support(wanted, s), s) for s in sentences(utterance.text)]
        best = max((score for score, _ in scored), default=0.0)
        quotes += [s for score, s in scored if score >= best * 0.6]
    return Evidence(
        origin=origin,
        quotes=tuple(quotes),
        entries=tuple(u.entry_id for u in said),
        session=session,
        time=max((u.time for u in said), default=0.0),
    )


def _marks(found: frozenset[str]) -> frozenset[str]:
    return frozenset(w for w in found if any(c.isdigit() for c in w))


def _negations(text: str) -> bool:
    return _NEGATION.search(text) is not None


def _translated(candidate: str, said: str) -> bool:
    def cjk(text: str) -> bool:
        return len(_SCRIPT_CJK.findall(text)) * 3 > len(_SCRIPT_LATIN.findall(text))

    return bool(said.strip()) and cjk(candidate) != cjk(said)
