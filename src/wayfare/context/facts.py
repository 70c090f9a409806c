"""The ledger: facts of a session, folded from its entries by code alone.

It holds what a digest needs and what a summary must not lose: what the user asked, files read and
written, commands and how they ended, errors that stand, open todo items, the names in use, what
the user laid down and the figures the user gave, what the assistant concluded, what it said directly
after an error or a question, its last words. Bounded: the oldest of each kind makes room, its entry
stays in the log.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

import msgspec

from wayfare import json_text
from wayfare.context import names, statements
from wayfare.context.tool_use import Declared, ToolUse, tool_use
from wayfare.messages import Message, Origin, ToolCall, ToolResult
from wayfare.transcript import Entered

_FILES_KEPT: Final = 400
_COMMANDS_KEPT: Final = 60
_ERRORS_KEPT: Final = 40
_REQUESTS_KEPT: Final = 400
_QUOTE_CHARS: Final = 400
_STATEMENTS_KEPT: Final = 200
_ASIDES_KEPT: Final = 100
_FIGURES_A_MESSAGE: Final = 12
ASIDE_CHARS: Final = 2_000
"""A user's text that stands beside results is taken for the user's own words up to this length;
what is longer there was put in by the host: reminders, bodies of skills, files."""
_READ_CHARS: Final = 100_000
"""So much of one text is looked through for names: a result of 50 MB costs what 100 kB do."""
_EXIT: Final = re.compile(r"exit(?:ed)?(?: with)?(?: code| status)?:?\s*(-?\d+)", re.I)


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """Words of the user or the assistant: the entry, the words, whether they were cut here."""

    entry: int
    text: str
    cut: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFact:
    """A file the session touched: the entry that last read it and the one that last wrote it."""

    path: str
    read: int = 0
    written: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandFact:
    """A command and how it ended; `failed` is None while unknown."""

    entry: int
    command: str
    failed: bool | None = None
    last_line: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorFact:
    """An error a tool reported and no later success of the same use cured."""

    entry: int
    use: str
    text: str


class SavedLedger(msgspec.Struct, frozen=True, kw_only=True):
    """A ledger as a value JSON can hold, mappings as pairs in their order."""

    open: list[tuple[str, ToolUse, int]]
    offered: list[tuple[str, list[dict[str, Any]]]]
    requests: list[tuple[int, Said]]
    files: list[tuple[str, FileFact]]
    commands: list[tuple[int, CommandFact]]
    errors: list[tuple[str, ErrorFact]]
    file_names: list[tuple[str, float]]
    identifiers: list[tuple[str, float]]
    rules: list[tuple[str, Said]]
    figures: list[tuple[str, Said]]
    conclusions: list[tuple[str, Said]]
    asides: list[tuple[str, Said]]
    clauses: list[tuple[str, Said]]
    remarks: list[tuple[str, Said]]
    wants_remark: bool
    todos: list[dict[str, Any]]
    last_words: Said | None
    active_words: str
    step: int


class Ledger:
    """Facts so far. `add` takes entries in order; everything else only reads."""

    def __init__(self, declared: Declared | None = None) -> None:
        self._declared = declared
        self._open: dict[str, tuple[ToolUse, int]] = {}
        self._offered: dict[str, tuple[Mapping[str, Any], ...]] = {}
        self.requests: OrderedDict[int, Said] = OrderedDict()
        self.files: OrderedDict[str, FileFact] = OrderedDict()
        self.commands: OrderedDict[int, CommandFact] = OrderedDict()
        self.errors: OrderedDict[str, ErrorFact] = OrderedDict()
        self.file_names = names.Ranking()
        self.identifiers = names.Ranking()
        self.rules: OrderedDict[str, Said] = OrderedDict()
        self.figures: OrderedDict[str, Said] = OrderedDict()
        self.conclusions: OrderedDict[str, Said] = OrderedDict()
        self.asides: OrderedDict[str, Said] = OrderedDict()
        self.clauses: OrderedDict[str, Said] = OrderedDict()
        self.remarks: OrderedDict[str, Said] = OrderedDict()
        self.todos: tuple[Mapping[str, Any], ...] = ()
        self.last_words: Said | None = None
        self.active_words = ""
        self._step = 0
        self._wants_remark = False

    def declare(self, declared: Declared) -> None:
        """What tools say about themselves, from the next entry on."""
        self._declared = declared

    def saved(self) -> SavedLedger:
        """The facts as a value; see `restored`."""
        return SavedLedger(
            open=[(id, use, entry) for id, (use, entry) in self._open.items()],
            offered=[(id, [dict(one) for one in todos]) for id, todos in self._offered.items()],
            requests=[*self.requests.items()],
            files=[*self.files.items()],
            commands=[*self.commands.items()],
            errors=[*self.errors.items()],
            file_names=[*self.file_names.scores.items()],
            identifiers=[*self.identifiers.scores.items()],
            rules=[*self.rules.items()],
            figures=[*self.figures.items()],
            conclusions=[*self.conclusions.items()],
            asides=[*self.asides.items()],
            clauses=[*self.clauses.items()],
            remarks=[*self.remarks.items()],
            wants_remark=self._wants_remark,
            todos=[dict(todo) for todo in self.todos],
            last_words=self.last_words,
            active_words=self.active_words,
            step=self._step,
        )

    @classmethod
    def restored(cls, saved: SavedLedger, declared: Declared | None = None) -> Ledger:
        """A ledger that goes on where `saved` was taken."""
        ledger = cls(declared)
        ledger._open = {id: (use, entry) for id, use, entry in saved.open}
        ledger._offered = {id: tuple(todos) for id, todos in saved.offered}
        ledger.requests = OrderedDict(saved.requests)
        ledger.files = OrderedDict(saved.files)
        ledger.commands = OrderedDict(saved.commands)
        ledger.errors = OrderedDict(saved.errors)
        ledger.file_names = names.Ranking(dict(saved.file_names))
        ledger.identifiers = names.Ranking(dict(saved.identifiers))
        ledger.rules = OrderedDict(saved.rules)
        ledger.figures = OrderedDict(saved.figures)
        ledger.conclusions = OrderedDict(saved.conclusions)
        ledger.asides = OrderedDict(saved.asides)
        ledger.clauses = OrderedDict(saved.clauses)
        ledger.remarks = OrderedDict(saved.remarks)
        ledger._wants_remark = saved.wants_remark
        ledger.todos = tuple(saved.todos)
        ledger.last_words = saved.last_words
        ledger.active_words = saved.active_words
        ledger._step = saved.step
        return ledger

    def add(self, entered: Entered) -> None:
        """Take note of one message."""
        message = entered.message
        if message.role == "assistant":
            self._step += 1
            if message.text.strip():
                self.last_words = _said(entered.id, message.text)
                for sentence in statements.conclusions(message.text):
                    said = Said(entry=entered.id, text=sentence)
                    _put(self.conclusions, sentence, said, _STATEMENTS_KEPT)
                self._remark(message.text, entered.id)
                self._names(message.text)
            for call in message.calls:
                self._call(call, entered.id)
            return
        self._wants_remark = any(result.is_error for result in message.results)
        for result in message.results:
            self._result(result, entered.id)
        if message.origin is Origin.USER:
            self._user(entered)

    def _user(self, entered: Entered) -> None:
        message = entered.message
        if holds_request(message):
            self.active_words = message.text
        if message.text.strip():
            _put(self.requests, entered.id, _said(entered.id, message.text), _REQUESTS_KEPT)
            self._names(message.text)
            self._laid_down(message.text, entered.id)
            if statements.is_question(message.text):
                self._wants_remark = True

    def _remark(self, text: str, entry: int) -> None:
        """What is said directly after an error or a question: a cure, a choice."""
        sentence = statements.remark(text) if self._wants_remark else ""
        self._wants_remark = False
        if sentence and sentence not in self.conclusions:
            _put(self.remarks, sentence, Said(entry=entry, text=sentence), _STATEMENTS_KEPT)

    def _laid_down(self, text: str, entry: int) -> None:
        whole = " ".join(text.split())
        for sentence in statements.directives(text):
            # A long text is often pasted: what it says must not crowd out what the user typed.
            kept = self.rules if sentence == whole else self.clauses
            _put(kept, sentence, Said(entry=entry, text=sentence), _STATEMENTS_KEPT)
        if said := statements.aside(text):
            _put(self.asides, said, Said(entry=entry, text=said), _ASIDES_KEPT)
        for number, (figure, around) in enumerate(statements.figures(text)):
            if number == _FIGURES_A_MESSAGE:
                break
            _put(self.figures, figure, Said(entry=entry, text=around), _STATEMENTS_KEPT)

    def _call(self, call: ToolCall, entry: int) -> None:
        use = tool_use(call, self._declared)
        self._open[call.id] = (use, entry)
        if len(self._open) > 256:
            oldest = next(iter(self._open))
            del self._open[oldest]
            self._offered.pop(oldest, None)
        # What is written becomes a fact by its result; where was searched is none.
        if use.path and use.kind not in ("write", "edit", "search"):
            self._file(use, entry)
        if use.kind == "shell":
            _put(self.commands, entry, CommandFact(entry=entry, command=use.main), _COMMANDS_KEPT)
        todos = call.input.get("todos")
        if isinstance(todos, list):
            items = cast("list[object]", todos)
            self._offered[call.id] = tuple(
                cast("dict[str, Any]", t) for t in items if isinstance(t, dict)
            )
        for value in call.input.values():
            if isinstance(value, str):
                self._names(value, weight=names.INPUT_WEIGHT)
            elif isinstance(value, list | dict):
                self._names(_json(cast("Any", value)), weight=names.INPUT_WEIGHT)
        if call.arguments and not call.input:
            self._names(call.arguments, weight=names.INPUT_WEIGHT)

    def _names(self, text: str, *, weight: float = 1.0) -> None:
        found = names.found_in(text[:_READ_CHARS])
        self.file_names.use(found.files, self._step, weight=weight)
        self.identifiers.use(found.identifiers, self._step, weight=weight)

    def _file(self, use: ToolUse, entry: int) -> None:
        old = self.files.get(use.path, FileFact(path=use.path))
        wrote = use.kind in ("write", "edit")
        new = FileFact(
            path=use.path,
            read=old.read if wrote else entry,
            written=entry if wrote else old.written,
        )
        _put(self.files, use.path, new, _FILES_KEPT)

    def _result(self, result: ToolResult, entry: int) -> None:
        found = self._open.pop(result.call_id, None)
        todos = self._offered.pop(result.call_id, None)
        text = result.text
        self._names(text)
        if found is None:
            return
        use, asked = found
        failed = result.is_error
        if use.kind == "shell" and asked in self.commands:
            exit_code = _EXIT.search(text[-300:]) or _EXIT.search(text[:300])
            failed = failed or (exit_code is not None and exit_code[1] != "0")
            if exit_code is not None and exit_code[1] == "1" and use.one_is_an_answer:
                failed = False
            self.commands[asked] = CommandFact(
                entry=asked, command=use.main, failed=failed, last_line=_last_line(text)
            )
        if not failed and use.path and use.kind in ("write", "edit"):
            self._file(use, asked)
        if not failed and todos is not None:
            self.todos = todos
        key = f"{use.name} {use.path or use.main}"
        if failed:
            error = ErrorFact(entry=entry, use=key, text=error_line(text))
            _put(self.errors, key, error, _ERRORS_KEPT)
        else:
            self.errors.pop(key, None)


def holds_request(message: Message) -> bool:
    """Whether a user's message is the request that holds from now on: alone, or a word said beside
    results; what is longer there was put in by the host."""
    return not message.results or 0 < len(message.text) <= ASIDE_CHARS


def _json(value: Any) -> str:
    return json_text.dumps(value).decode("utf-8", "surrogatepass")


def _put(kept: OrderedDict[Any, Any], key: Any, value: Any, most: int) -> None:
    kept[key] = value
    kept.move_to_end(key)
    if len(kept) > most:
        kept.popitem(last=False)


def _said(entry: int, text: str) -> Said:
    words = text.strip()
    return Said(entry=entry, text=words[:_QUOTE_CHARS], cut=len(words) > _QUOTE_CHARS)


def error_line(text: str) -> str:
    """The first line of an error, at most 200 characters."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")[:200]


def _last_line(text: str) -> str:
    lines = text[-400:].strip().splitlines()
    return lines[-1].strip()[:120] if lines else ""
