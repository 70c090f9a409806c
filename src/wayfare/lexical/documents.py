"""What can be searched, and what a search gives."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from wayfare.lexical.dates import TIME
from wayfare.lexical.notions import notions
from wayfare.lexical.scoring import Entry
from wayfare.lexical.words import tokens

FIELD_WEIGHTS: Mapping[str, float] = {"name": 3.0, "aliases": 3.0, "description": 2.0, "body": 1.0}
"""How often a word counts by the field it stands in. Title weights of 2 to 5 are usual for BM25
over fields; what a writer chose to call a record says more than what its text mentions."""
BODY_CHARS_INDEXED = 200_000
"""Of a longer body only the beginning is searchable: a 5 MB record must not slow every query."""

_SPEAKER = re.compile(r"\s*(?P<name>[^\W\d][^\n:：]{0,39}?)\s?[:：]\s+(?=\S)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One searchable text: a memory record, a turn of a session, an archived result.

    Attributes:
        key: Names it; putting another document with the same key replaces it.
        body: Its text; of more than 200,000 characters the rest is not searchable.
        name: Short name; a word in it counts three times, as in an alias.
        aliases: Other names.
        description: One line about it; a word in it counts twice.
        parent: What it is a part of, such as the session of a turn.
        order: Its place in the parent; neighbours are the nearest smaller and larger, by key where
            equal.
    """

    key: str
    body: str
    name: str = ""
    aliases: tuple[str, ...] = ()
    description: str = ""
    parent: str | None = None
    order: int | None = None

    @property
    def digest(self) -> str:
        """Hash of everything in it, to tell whether an index is up to date."""
        fields = (
            self.key, self.body, self.name, *self.aliases, "", self.description,
            self.parent or "", str(self.order),
        )  # fmt: skip
        return hashlib.sha256("\x00".join(fields).encode("utf-8", "surrogatepass")).hexdigest()


def turn(
    key: str, text: str, *, parent: str, order: int, name: str = "", description: str = ""
) -> Document:
    """A document for one turn of a dialogue.

    A text that begins with its speaker (`Maria: I moved to Lisbon.`) has the speaker as its name
    unless another is given: a question about Maria means what she said before what was said to
    her.
    """
    if not name and (speaker := _SPEAKER.match(text)):
        name, text = speaker["name"], text[speaker.end() :]
    return Document(
        key=key, body=text, name=name, description=description, parent=parent, order=order
    )


def entry_of(document: Document) -> Entry:
    """The word counts of a document, weighted by field.

    A date in the parent's name (a session named after its day) counts as said in every turn.
    """
    counts: dict[str, float] = {}
    length = 0.0
    texts: list[str] = []
    said: list[str] = []
    for field, text in fields_of(document).items():
        if not text:
            continue
        words = tokens(text)
        weight = FIELD_WEIGHTS[field]
        length += weight * len(words)
        for word, times in Counter(words).items():
            counts[word] = counts.get(word, 0.0) + weight * times
        texts.append(text)
        said += words
    for word in tokens(document.parent) if document.parent else ():
        if word[0] == "@" and word != TIME:
            counts[word] = counts.get(word, 0.0) + 1.0
    counts.update(dict.fromkeys(notions("\n".join(texts), said), 1.0))
    return Entry(
        key=document.key,
        counts=counts,
        length=length,
        parent=document.parent,
        order=document.order,
    )


def fields_of(document: Document) -> dict[str, str]:
    """The texts of a document by field; names are the keys of `FIELD_WEIGHTS`."""
    return {
        "name": document.name,
        "aliases": "\n".join(document.aliases),
        "description": document.description,
        "body": document.body[:BODY_CHARS_INDEXED],
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One search result.

    Attributes:
        key: Of the document.
        score: Only comparable within one result list.
        matched: The query's words that were found, strongest first; `~name` is a notion found in
            other words.
        strength: How much of the query it answers, 0 to 1, comparable between queries; about 0.45
            when every word stands once in the body, more when in name or description.
    """

    key: str
    score: float
    matched: tuple[str, ...]
    strength: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Why a document came up, or did not.

    Attributes:
        key: Of the document.
        score: As in its hit.
        own: Part of the score from the document itself.
        neighbour: Part from the turn before or after it.
        parent: Part from its session.
        strength: As in its hit.
        parts: The own score by query word, strongest first.
        missing: Query words that were not found, heaviest first.
    """

    key: str
    score: float
    own: float
    neighbour: float
    parent: float
    strength: float
    parts: tuple[tuple[str, float], ...]
    missing: tuple[str, ...]

    def __str__(self) -> str:
        found = ", ".join(f"{word} {part:.2f}" for word, part in self.parts) or "nothing"
        text = f"{self.key}: {self.score:.2f} ({found})"
        if self.neighbour:
            text += f" + neighbour {self.neighbour:.2f}"
        if self.parent:
            text += f" + session {self.parent:.2f}"
        text += f"; strength {self.strength:.2f}"
        return text + (f"; without {', '.join(self.missing)}" if self.missing else "")
