"""The values permissions are made of: rules, the policy they form, a call, a verdict."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, TypeAlias

from wayfare.errors import ConfigError

Decision: TypeAlias = Literal["allow", "ask", "deny"]
Mode: TypeAlias = Literal["read-only", "ask", "accept-edits", "full"]
Source: TypeAlias = Literal["built-in", "user", "project", "session"]

DECISIONS: tuple[Decision, ...] = ("allow", "ask", "deny")
"""From the mildest to the strictest."""
MODES: tuple[Mode, ...] = ("read-only", "ask", "accept-edits", "full")
"""From the one that allows least to the one that allows most."""
CLOSED_FOLDERS = (".memory", ".transcripts", ".task_outputs")
"""Folders of the workspace only wayfare's own tools write; the defaults of the storage settings."""
_RULE = re.compile(r"\s*([\w*.-]+)\s*(?:\((.*)\))?\s*", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One line of a person's will: what to decide for a tool, or for some uses of it.

    Attributes:
        decision: `deny` beats `ask` beats `allow`, wherever the rules come from.
        tool: A tool's name; `*` stands for any characters; `mcp__server` covers all its tools.
        pattern: For `bash` a command (`git status*`, `npm run test:*`), for tools with paths a
            path (`src/**`, `~/.ssh/**`), for others any text of the input. None for every use.
        source: Who made the rule.
    """

    decision: Decision
    tool: str
    pattern: str | None = None
    source: Source = "user"

    def __str__(self) -> str:
        pattern = "" if self.pattern is None else f"({self.pattern})"
        return f"{self.decision} {self.tool}{pattern} ({self.source})"

    @property
    def whole(self) -> bool:
        """True when the rule is about every use of the tool."""
        return self.pattern in (None, "*", "**")

    def covers(self, tool: str) -> bool:
        """True when the rule is about this tool; upper and lower case are the same."""
        own, name = self.tool.casefold(), tool.casefold()
        return fnmatchcase(name, own) or (own[:5] == "mcp__" and name.startswith(own + "__"))


def parse_rule(text: str, decision: Decision, source: Source) -> Rule:
    """Reads `tool` or `tool(pattern)`.

    Raises:
        ConfigError: when it is neither.
    """
    found = _RULE.fullmatch(text)
    if found is None or found[2] == "":
        raise ConfigError(
            f"{text!r} is not a rule: write tool or tool(pattern), such as bash(git status*)",
            setting=f"permissions.{decision}",
            value=text,
        )
    return Rule(decision=decision, tool=found[1], pattern=found[2], source=source)


def parse_rules(lists: Mapping[str, Iterable[str]], source: Source) -> tuple[Rule, ...]:
    """Reads the lists of a settings file: `allow`, `ask` and `deny`, each of rule texts.

    Raises:
        ConfigError: for another list, or a text that is no rule.
    """
    for name in lists:
        if name not in DECISIONS:
            raise ConfigError(
                f"permissions.{name} is not one of allow, ask, deny",
                setting=f"permissions.{name}",
            )
    return tuple(
        parse_rule(text, decision, source)
        for decision in DECISIONS
        for text in lists.get(decision, ())
    )


def narrow(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    """What an untrusted workspace's own rules may still do: forbid and ask, never allow."""
    return tuple(rule for rule in rules if rule.source != "project" or rule.decision != "allow")


@lru_cache(maxsize=1024)
def _command_regex(pattern: str) -> re.Pattern[str]:
    if pattern.endswith(":*"):
        return re.compile(re.escape(pattern[:-2]) + r"(?:[\s:].*)?", re.DOTALL)
    body, optional = pattern, ""
    if pattern.endswith(" *"):
        body, optional = pattern[:-2], r"(?:\s.*)?"
    return re.compile(".*".join(map(re.escape, body.split("*"))) + optional, re.DOTALL)


def matches_text(pattern: str, text: str) -> bool:
    """True when a command pattern covers a text.

    `*` stands for anything; a final ` *` also for nothing; a final `:*` for any continuation that
    begins with a blank or a colon.
    """
    return _command_regex(pattern).fullmatch(text) is not None


def spelled_chars(pattern: str) -> int:
    """So many characters of a command pattern are fixed, counted from its beginning."""
    fixed = pattern[:-2] if pattern.endswith(":*") else pattern
    return len(fixed.partition("*")[0].rstrip())


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Everything a verdict depends on besides the call.

    Attributes:
        workspace: Where work is free; everything else is outside.
        mode: `read-only` changes nothing; `ask` asks before changes; `accept-edits` lets files of
            the workspace be edited; `full` allows all that no rule and no guard forbids.
        rules: From all sources; their order does not matter.
        cwd: Where commands start and relative paths begin; the workspace by default.
        home: What `~` stands for.
        interactive: False when nobody can be asked: then what would be asked is denied.
        closed: Folders only wayfare's own tools write, relative to the workspace or absolute.
        own_paths: wayfare's settings and state of the person: closed as well.
    """

    workspace: Path
    mode: Mode = "ask"
    rules: tuple[Rule, ...] = ()
    cwd: Path | None = None
    home: Path = field(default_factory=Path.home)
    interactive: bool = True
    closed: tuple[str, ...] = CLOSED_FOLDERS
    own_paths: tuple[Path, ...] = ()

    @property
    def base(self) -> Path:
        """Where relative paths begin."""
        return self.workspace if self.cwd is None else self.cwd

    @property
    def root(self) -> Path:
        """The workspace with every link followed."""
        return Path(os.path.realpath(self.workspace))

    @property
    def closed_paths(self) -> tuple[str, ...]:
        """The closed folders, where they are called and where they lead."""
        own = [os.path.join(self.root, name) for name in self.closed] + [*map(str, self.own_paths)]
        return tuple(dict.fromkeys(path for p in own for path in (p, os.path.realpath(p))))


@dataclass(frozen=True, slots=True, kw_only=True)
class PathUse:
    """A path a tool was given, and whether it writes there."""

    path: str
    write: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolUse:
    """A tool call as permissions see it.

    Attributes:
        name: The tool's name.
        input: Its input.
        read_only: The tool declares that it changes nothing.
        paths: The paths it was given; None when the tool has nothing to do with files.
        command: The line of bash it runs, if that is what it does.
    """

    name: str
    input: Mapping[str, Any] = field(default_factory=dict[str, Any])
    read_only: bool = False
    paths: tuple[PathUse, ...] | None = None
    command: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What was decided.

    Attributes:
        decision: Allow, ask or deny.
        reason: One line for the person and the model.
        rule: The rule that decided, if one did.
    """

    decision: Decision
    reason: str
    rule: Rule | None = None


def strictest(verdicts: Iterable[Verdict]) -> Verdict | None:
    """The first of the strictest verdicts; None when there are none."""
    return max(verdicts, key=lambda v: DECISIONS.index(v.decision), default=None)
