"""At the limit everything older becomes a digest made by code; nothing is archived."""

from __future__ import annotations

from collections.abc import Sequence

from bench.baselines.cutting import marker, pinned, start_for
from bench.names import RUN, files_of
from bench.policy import Setting
from bench.wire import Wire, blocks, call_texts, calls, is_object, results, user_texts

# What is kept behind the digest: of the window, and where the operator's messages leave little
# room, of that room.
TAIL_SHARE = 0.25
TAIL_OF_ROOM = 0.4
REQUEST_CHARS = 600
REQUESTS = 12
COMMANDS = 20
COMMAND_CHARS = 160
FILES = 40
ERRORS = 8
ERROR_CHARS = 300
WORDS_CHARS = 1_200


class DigestAtLimit:
    """Requests, files, commands, errors and last words of what is gone, in front of a short tail."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._start = 0
        self._marker: Wire | None = None
        self._requests: list[str] = []
        self._files: dict[str, None] = {}
        self._commands: list[str] = []
        self._errors: list[str] = []
        self._words = ""
        self._digests = 0

    def prepare(self, history: Sequence[Wire]) -> list[Wire]:
        """The digest and what is newer than it."""
        setting = self._setting
        front = pinned(history)
        self._start = max(self._start, len(front))
        view = self._view(history, front)
        if setting.count(view) > setting.most_tokens:
            room = setting.most_tokens - setting.count(front)
            target = int(min(TAIL_SHARE * setting.window_tokens, TAIL_OF_ROOM * room))
            start = start_for(history, self._start, target, setting)
            if start > self._start:
                for message in history[self._start : start]:
                    self._note(message)
                self._start = start
                self._digests += 1
                self._marker = marker(self._text(), setting.format)
                view = self._view(history, front)
        return view

    def report(self) -> dict[str, object]:
        """How often it made a digest."""
        return {"summaries": self._digests, "edits": {"digest": self._digests}}

    def _view(self, history: Sequence[Wire], front: list[Wire]) -> list[Wire]:
        if self._marker is None:
            return list(history)
        return [*front, self._marker, *history[self._start :]]

    def _note(self, message: Wire) -> None:
        format = self._setting.format
        said = "\n".join(user_texts(message, format)).strip()
        if said and not results(message, format):
            self._requests.append(said[:REQUEST_CHARS])
        for text in call_texts(message, format):
            for name in files_of(RUN.findall(text)):
                self._files.pop(name, None)
                self._files[name] = None
        for call in calls(message, format):
            wanted = call.arguments if is_object(call.arguments) else {}
            command = wanted.get("command", wanted.get("cmd"))
            if isinstance(command, str):
                self._commands.append(command[:COMMAND_CHARS])
        for block in blocks(message):
            if is_object(block) and block.get("is_error"):
                self._errors.append(str(block.get("content"))[:ERROR_CHARS])
        if message.get("role") == "assistant":
            text = "\n".join(
                b["text"] for b in blocks(message)
                if is_object(b) and isinstance(b.get("text"), str)
            ).strip()  # fmt: skip
            self._words = text[-WORDS_CHARS:] or self._words

    def _text(self) -> str:
        def lines(title: str, entries: Sequence[str]) -> str:
            return f"{title}:\n" + "\n".join(f"- {entry}" for entry in entries)

        return "\n\n".join(
            (
                "[Digest of earlier messages]",
                lines("Requests", self._requests[-REQUESTS:]),
                lines("Files", list(reversed(self._files))[:FILES]),
                lines("Commands", self._commands[-COMMANDS:]),
                lines("Errors", self._errors[-ERRORS:]),
                f"Last words:\n{self._words}",
            )
        )
