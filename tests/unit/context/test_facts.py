"""What becomes a fact of a session and what does not."""

from __future__ import annotations

from typing import Any

from wayfare.context.facts import Ledger
from wayfare.messages import Message, assistant, call, result, results
from wayfare.transcript import Entered


class Told:
    """A ledger that is told calls with their results."""

    def __init__(self) -> None:
        self.ledger = Ledger()
        self._entry = 0

    def _add(self, message: Message) -> None:
        self._entry += 1
        self.ledger.add(Entered(id=self._entry, time=0, message=message))

    def ran(self, name: str, answer: str, *, is_error: bool = False, **given: Any) -> None:
        id = f"c{self._entry}"
        self._add(assistant("", call(name, given, id=id)))
        self._add(results(result(id, answer, is_error=is_error)))


def test_a_search_that_finds_nothing_is_no_error() -> None:
    told = Told()
    told.ran("bash", "exit code 1", is_error=True, command="grep -rn parse_date src")
    told.ran("bash", "Exit code 1\n1c1\n< a\n> b", is_error=True, command="cd x && diff a b")
    assert not told.ledger.errors
    assert [fact.failed for fact in told.ledger.commands.values()] == [False, False]


def test_other_ends_and_other_commands_are_errors() -> None:
    told = Told()
    told.ran("bash", "exit code 2\ngrep: src: no such file", is_error=True, command="grep -r x src")
    told.ran("bash", "exit code 1\n1 failed", is_error=True, command="pytest -q")
    told.ran("bash", "timed out after 5 seconds", is_error=True, command="grep -r y /")
    assert len(told.ledger.errors) == 3


def test_a_task_list_counts_once_it_was_taken() -> None:
    told = Told()
    first, second = {"id": "1", "content": "one"}, {"id": "2", "content": "two"}
    told.ran("todo_write", "1 items", todos=[first])
    told.ran("todo_write", "the task list was not taken", is_error=True, todos=[second])
    assert told.ledger.todos == (first,)
    told.ran("todo_write", "1 items", todos=[second])
    assert told.ledger.todos == (second,)


def test_where_was_searched_and_what_was_not_written_are_no_files_touched() -> None:
    told = Told()
    told.ran("grep", "nothing", pattern="x", path="src")
    told.ran("glob", "a.py", pattern="*", path="lib")
    told.ran("edit_file", "denied: a rule", is_error=True, path="secret.py")
    told.ran("read_file", "text", path="a.py")
    told.ran("edit_file", "edited", path="b.py")
    facts = told.ledger.files
    assert list(facts) == ["a.py", "b.py"]
    assert (facts["a.py"].read > 0, facts["b.py"].written > 0) == (True, True)
