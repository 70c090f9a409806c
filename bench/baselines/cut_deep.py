"""Append until a share of the window is full, then one deep cut into an append-only file.

The cheapest policy that loses nothing: between cuts the request only grows, so the cached prefix
holds. The variant with names lists, in its marker, the file names and identifiers of what it
archived, last used first. What is too large even alone becomes a preview with an address.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from bench.baselines.cutting import marker, pinned, start_for
from bench.baselines.oversized import previewed
from bench.names import RUN, files_of, identifiers
from bench.policy import Setting
from bench.wire import Wire, call_texts, texts

FILE_NAME_CHARS = 600
IDENTIFIER_CHARS = 2_500


class CutDeep:
    """Append to `high` of the window, cut to `low`. Never appends past what the provider takes."""

    high = 0.8
    low = 0.3

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._start = 0
        self._marker: Wire | None = None
        self._cuts = 0
        self._previews: dict[int, Wire] = {}
        self._address = f".transcripts/{setting.session}/archive.jsonl"

    def prepare(self, history: Sequence[Wire]) -> list[Wire]:
        """The marker and everything since the last cut."""
        setting = self._setting
        front = pinned(history)
        self._start = max(self._start, len(front))
        view = self._view(history, front)
        # The shares count what a cut can shrink: the operator's messages come on top.
        front_tokens = setting.count(front)
        shrinkable = min(
            self.high * setting.window_tokens - setting.fixed_tokens,
            setting.most_tokens - front_tokens,
        )
        if setting.count(view) > shrinkable + front_tokens:
            self._cut(history, front, int(shrinkable * self.low / self.high))
            view = self._view(history, front)
        if setting.count(view) > setting.most_tokens:
            view = self._shorten(history, front)
        return view

    def report(self) -> dict[str, object]:
        """How often it cut, and how many messages it had to shorten."""
        return {"edits": {"cut": self._cuts, "preview": len(self._previews)}}

    def _view(self, history: Sequence[Wire], front: list[Wire]) -> list[Wire]:
        kept = [
            self._previews.get(index, history[index]) for index in range(self._start, len(history))
        ]
        return [*front, *([self._marker] if self._marker else []), *kept]

    def _cut(self, history: Sequence[Wire], front: list[Wire], kept_tokens: int) -> None:
        setting = self._setting
        target = kept_tokens - self._marker_tokens()
        start = start_for(history, self._start, target, setting)
        if start == self._start:
            return
        for index in range(self._start, start):
            if index not in self._previews:
                self._archive(history[index], index)
            self._note(history[index])
        self._start = start
        self._cuts += 1
        self._marker = marker(self._marker_text(start - len(front)), setting.format)

    def _shorten(self, history: Sequence[Wire], front: list[Wire]) -> list[Wire]:
        """Largest first, until the provider takes it or nothing is left to shorten."""
        setting = self._setting
        rest = [i for i in range(self._start, len(history)) if i not in self._previews]
        rest.sort(key=lambda i: setting.count([history[i]]), reverse=True)
        view = self._view(history, front)
        for index in rest:
            short = previewed(history[index], f"{self._address}#{index}")
            if short == history[index]:
                continue
            self._archive(history[index], index)
            self._previews[index] = short
            view = self._view(history, front)
            if setting.count(view) <= setting.most_tokens:
                break
        return view

    def _archive(self, message: Wire, index: int) -> None:
        path = self._setting.root / self._address
        path.parent.mkdir(parents=True, exist_ok=True)
        entry = {"v": 1, "id": index, "kind": "message", "wire": message}
        with path.open("a", encoding="utf-8", newline="\n") as file:
            file.write(json.dumps(entry, ensure_ascii=True) + "\n")

    def _note(self, message: Wire) -> None:
        """What the marker will want to know of an archived message: here nothing."""

    def _marker_tokens(self) -> int:
        """Room the marker is given in front of what is kept."""
        return 40

    def _marker_text(self, count: int) -> str:
        return f"[{count} messages archived at {self._address}]"


class CutDeepWithNames(CutDeep):
    """Append to half the window, cut to a fifth, and list the archived names in the marker."""

    high = 0.5
    low = 0.2

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        # Insertion order is order of last use: a name that comes again moves to the end.
        self._files: dict[str, None] = {}
        self._names: dict[str, None] = {}

    def _note(self, message: Wire) -> None:
        format = self._setting.format
        for read in (texts, call_texts):
            for text in read(message, format):
                for name in sorted(files_of(RUN.findall(text))):
                    self._files.pop(name, None)
                    self._files[name] = None
                for name in sorted(identifiers(text)):
                    self._names.pop(name, None)
                    self._names[name] = None

    def _marker_tokens(self) -> int:
        # 3,100 characters of names at about 3.4 characters a token.
        return 40 + (FILE_NAME_CHARS + IDENTIFIER_CHARS) // 3

    def _marker_text(self, count: int) -> str:
        files = listed(self._files, FILE_NAME_CHARS)
        names = listed(self._names, IDENTIFIER_CHARS)
        return f"{super()._marker_text(count)}\nFiles: {files}\nIdentifiers: {names}"


def listed(names: dict[str, None], most_chars: int) -> str:
    """The names from the last used back, as many as fit into `most_chars` characters."""
    found: list[str] = []
    chars = 0
    for name in reversed(names):
        chars += len(name) + 1
        if chars > most_chars:
            break
        found.append(name)
    return " ".join(found)
