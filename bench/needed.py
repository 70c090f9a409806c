"""What the next calls of a recording need, and how much of it stands in a request.

Needed references and needed content without a judge: for each step, the file names and
identifiers in the tool inputs of the recording's next 10 assistant messages that occurred earlier
in the session (the last 2 messages excepted), and the texts their edit calls replace that were
seen earlier. The share of them that stands in the request is the measure.

Built once a recording; a request costs time for the messages that it does not share with the one
before.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bench.names import (
    INNER,
    LINE_NUMBER,
    RUN,
    WORD,
    files_of,
    identifiers,
    plain_lines,
    replaced_texts,
)
from bench.seen import Interner, Seen, common_prefix
from bench.wire import Format, Wire, call_texts, calls, model_turns

NEXT_ASSISTANT_MESSAGES = 10
EXCEPTED_MESSAGES = 2
PREFIX_CHARS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Needed:
    """What one step needs, as strings."""

    files: frozenset[str]
    identifiers: frozenset[str]
    contents: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """Visible and needed counts of one or many steps; add them up and divide at the end."""

    files: int = 0
    files_needed: int = 0
    identifiers: int = 0
    identifiers_needed: int = 0
    contents: int = 0
    contents_needed: int = 0
    contents_unnumbered: int = 0

    def __add__(self, other: Shares) -> Shares:
        return Shares(
            files=self.files + other.files,
            files_needed=self.files_needed + other.files_needed,
            identifiers=self.identifiers + other.identifiers,
            identifiers_needed=self.identifiers_needed + other.identifiers_needed,
            contents=self.contents + other.contents,
            contents_needed=self.contents_needed + other.contents_needed,
            contents_unnumbered=self.contents_unnumbered + other.contents_unnumbered,
        )

    def rows(self) -> dict[str, float | None]:
        """The shares by the names of the result table, 0 to 1, None where nothing was needed."""
        return {
            "needed_files": share(self.files, self.files_needed),
            "needed_identifiers": share(self.identifiers, self.identifiers_needed),
            "needed_content": share(self.contents, self.contents_needed),
            "needed_content_unnumbered": share(self.contents_unnumbered, self.contents_needed),
        }


def share(part: float, whole: float) -> float | None:
    """A share from 0 to 1; None when there is no whole."""
    return part / whole if whole else None


class Vocabulary:
    """The needed strings of a recording, and which of them a text holds (as substrings).

    A name is searched inside the runs of name characters of a text: `date.py` stands in
    `parse_date.py`. A text to be replaced has to stand whole; `unnumbered` means as it is, without
    taking line numbers off.
    """

    def __init__(self, names: Iterable[str], contents: Iterable[str]) -> None:
        self._by_prefix: defaultdict[str, list[str]] = defaultdict(list)
        for name in set(names):
            self._by_prefix[name[:PREFIX_CHARS]].append(name)
        # An inner run of a content must be a run of any text that holds it: a cheap first test.
        self._contents = [(text, _inner_run(text)) for text in dict.fromkeys(contents)]
        self._runs: dict[str, tuple[str, ...]] = {}

    def names_in_run(self, run: str) -> tuple[str, ...]:
        """The names inside one run of name characters."""
        held = self._runs.get(run)
        if held is None:
            by_prefix = self._by_prefix
            found: list[str] = []
            for place in range(len(run) - PREFIX_CHARS + 1):
                for name in by_prefix.get(run[place : place + PREFIX_CHARS], ()):
                    if run.startswith(name, place):
                        found.append(name)
            held = self._runs[run] = tuple(found)
        return held

    def hits(self, texts: Sequence[str]) -> Hits:
        """What of the vocabulary the texts of one message hold."""
        runs: set[str] = set()
        for text in texts:
            runs.update(RUN.findall(text))
        names = {name for run in runs for name in self.names_in_run(run)}
        whole: set[str] = set()
        unnumbered: set[str] = set()
        if self._contents:
            # A line number joins the run behind it ("12:foo" does not, "12-foo" does), so the
            # stripped text has runs of its own.
            stripped = [plain_lines(text) if LINE_NUMBER.search(text) else text for text in texts]
            extra = {r for new, old in zip(stripped, texts, strict=True) if new is not old
                     for r in RUN.findall(new)}  # fmt: skip
            for content, inner in self._contents:
                if inner is not None and inner not in runs and inner not in extra:
                    continue
                if any(content in text for text in texts):
                    unnumbered.add(content)
                    whole.add(content)
                elif any(content in text for text in stripped):
                    whole.add(content)
        return Hits(names=frozenset(names), whole=frozenset(whole), raw=frozenset(unnumbered))


@dataclass(frozen=True, slots=True, kw_only=True)
class Hits:
    """Strings of the vocabulary that one message holds."""

    names: frozenset[str]
    whole: frozenset[str]
    raw: frozenset[str]


def _inner_run(content: str) -> str | None:
    """The longest run of name characters that touches neither end of the text."""
    inner = [m.group() for m in RUN.finditer(content) if m.start() > 0 and m.end() < len(content)]
    return max(inner, key=len, default=None)


class NeededIndex:
    """What every step of one recording needs."""

    def __init__(
        self, messages: Sequence[Wire], format: Format, interner: Interner | None = None
    ) -> None:
        self.format: Format = format
        self.interner = interner or Interner(format)
        self.seen = self.interner.intern(messages)
        self.turns = model_turns(messages, format)
        self._turn_at = {turn.start: number for number, turn in enumerate(self.turns)}
        used = [self._used(messages[turn.start : turn.stop]) for turn in self.turns]
        self._first_seen = self._first_occurrences()
        self._files = [{n for n in files if n in self._first_seen} for files, _, _ in used]
        self._names = [{n for n in names if n in self._first_seen} for _, names, _ in used]
        self._contents = [contents for _, _, contents in used]
        self.vocabulary = Vocabulary(
            {n for names in (*self._files, *self._names) for n in names},
            [text for texts in self._contents for text in texts],
        )
        self._content_seen: dict[str, int] = {}
        for index, seen in enumerate(self.seen):
            for content in self.hits(seen).whole:
                self._content_seen.setdefault(content, index)

    def _used(self, messages: Sequence[Wire]) -> tuple[set[str], set[str], list[str]]:
        """File names, identifiers and replaced texts in the tool inputs of one model turn."""
        files: set[str] = set()
        names: set[str] = set()
        contents: list[str] = []
        for message in messages:
            for text in call_texts(message, self.format):
                files |= files_of(RUN.findall(text))
                names |= identifiers(text)
            for call in calls(message, self.format):
                contents += replaced_texts(call)
        return files, names, contents

    def _first_occurrences(self) -> dict[str, int]:
        """Index of the first message each file name or identifier of the session occurs in."""
        first: dict[str, int] = {}
        known_words: dict[str, bool] = {}
        for index, seen in enumerate(self.seen):
            runs: set[str] = set()
            words: set[str] = set()
            for text in seen.texts:
                runs.update(RUN.findall(text))
                words.update(WORD.findall(text))
            for name in files_of(runs):
                first.setdefault(name, index)
            for word in words:
                known = known_words.get(word)
                if known is None:
                    known = bool(INNER.search(word)) and not word.isdigit()
                    known_words[word] = known
                if known:
                    first.setdefault(word, index)
        return first

    def hits(self, seen: Seen) -> Hits:
        """What one message holds of the vocabulary; kept with the message."""
        if seen.hits is None:
            seen.hits = self.vocabulary.hits(seen.texts)
        return seen.hits

    def needed(self, step_index: int) -> Needed:
        """What the step that produces `messages[step_index]` and the nine after it will need.

        Raises:
            KeyError: no model turn of the recording starts at this index.
        """
        turn = self._turn_at[step_index]
        window = range(turn, min(turn + NEXT_ASSISTANT_MESSAGES, len(self.turns)))
        before = step_index - EXCEPTED_MESSAGES
        first = self._first_seen
        return Needed(
            files=frozenset(n for t in window for n in self._files[t] if first[n] < before),
            identifiers=frozenset(n for t in window for n in self._names[t] if first[n] < before),
            contents=frozenset(
                c for t in window for c in self._contents[t]
                if self._content_seen.get(c, step_index) < step_index
            ),
        )  # fmt: skip

    def shares(self, needed: Needed, request_text: str) -> Shares:
        """How much of what is needed stands in a text. `Standing` does the same incrementally."""
        plain = plain_lines(request_text)
        raw = sum(c in request_text for c in needed.contents)
        return Shares(
            files=sum(name in request_text for name in needed.files),
            files_needed=len(needed.files),
            identifiers=sum(name in request_text for name in needed.identifiers),
            identifiers_needed=len(needed.identifiers),
            contents=sum(c in request_text or c in plain for c in needed.contents),
            contents_needed=len(needed.contents),
            contents_unnumbered=raw,
        )


class Standing:
    """What of a recording's vocabulary stands in the request of the moment."""

    def __init__(self, index: NeededIndex) -> None:
        self._index = index
        self._messages: list[Seen] = []
        self._names: Counter[str] = Counter()
        self._whole: Counter[str] = Counter()
        self._raw: Counter[str] = Counter()

    def move_to(self, seen: Sequence[Seen]) -> None:
        """Take the next request; only messages past the common prefix cost time."""
        kept = common_prefix(self._messages, seen)
        for one in self._messages[kept:]:
            hits = self._index.hits(one)
            self._names.subtract(hits.names)
            self._whole.subtract(hits.whole)
            self._raw.subtract(hits.raw)
        for one in seen[kept:]:
            hits = self._index.hits(one)
            self._names.update(hits.names)
            self._whole.update(hits.whole)
            self._raw.update(hits.raw)
        self._messages = list(seen)

    def shares(self, needed: Needed) -> Shares:
        """How much of what is needed stands in the request."""
        names, whole, raw = self._names, self._whole, self._raw
        return Shares(
            files=sum(names[n] > 0 for n in needed.files),
            files_needed=len(needed.files),
            identifiers=sum(names[n] > 0 for n in needed.identifiers),
            identifiers_needed=len(needed.identifiers),
            contents=sum(whole[c] > 0 for c in needed.contents),
            contents_needed=len(needed.contents),
            contents_unnumbered=sum(raw[c] > 0 for c in needed.contents),
        )
