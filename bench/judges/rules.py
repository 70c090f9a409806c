"""What one look at a message finds out: shared by the rules of the three formats."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """One message as the order rules see it; `problems` are broken rules of the message alone."""

    role: str = ""
    kind: str = "message"
    calls: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    results_first: bool = True
    item_id: str | None = None
    trailing_whitespace: bool = False
    server_call_last: bool = False
    problems: tuple[str, ...] = ()

    def with_problems(self, problems: Iterable[str]) -> Facts:
        """The same facts with more problems."""
        return dataclasses.replace(self, problems=(*self.problems, *problems))


def repeated(values: Iterable[str]) -> list[str]:
    """The values that occur more than once, in order of first occurrence."""
    return [value for value, count in Counter(values).items() if count > 1]


def pair_violations(
    where: int, calls: tuple[str, ...], answers: tuple[str, ...], place: str
) -> list[str]:
    """Calls of one step against the results found where the provider looks for them."""
    found: list[str] = []
    missing = [call for call in dict.fromkeys(calls) if call not in answers]
    if missing:
        # "`tool_use` ids were found without `tool_result` blocks immediately after"
        # "The following tool_call_ids did not have response messages"
        found.append(f"missing-result: messages.{where}: no result {place} for {missing}")
    orphans = [answer for answer in dict.fromkeys(answers) if answer not in calls]
    if orphans:
        found.append(f"orphan-result: messages.{where}: results {place} without call {orphans}")
    twice = repeated(answers)
    if twice:
        # "each tool_use must have a single result. Found multiple `tool_result` blocks with id"
        found.append(f"duplicate-result: messages.{where}: more than one result for {twice}")
    return found


def name_problem(name: Any, what: str) -> list[str]:
    """A tool name has to match the providers' pattern."""
    if isinstance(name, str) and NAME.match(name):
        return []
    return [f"tool-name: {what} {name!r} does not match {NAME.pattern}"]


def id_problem(value: Any, what: str) -> list[str]:
    """Ids are non-empty strings."""
    if isinstance(value, str) and value:
        return []
    return [f"bad-id: {what} is {value!r}"]
