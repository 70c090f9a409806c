"""Verdicts about lines of bash: each command in them needs its own."""

from __future__ import annotations

import glob
import itertools
import os
from collections.abc import Iterator
from pathlib import Path

from wayfare.agent.path_permissions import Access, exists_outside, judge_path
from wayfare.agent.policy import (
    Policy,
    Rule,
    Verdict,
    matches_text,
    spelled_chars,
    strictest,
)
from wayfare.agent.shell.git_settings import own_programs
from wayfare.agent.shell.reading import harmless, reads
from wayfare.agent.shell.values import Command, Reads, Unparsed, Word
from wayfare.agent.shell.writing import Touch, is_plain_edit, touches
from wayfare.agent.shell_commands import commands

MAX_EXPANDED = 1_000
"""Files a filename pattern may stand for and still be judged one by one."""
_SHOWN_CHARS = 160


def judge_line(line: str, policy: Policy, *, tool: str = "bash") -> Verdict:
    """The verdict on a line: the strictest of all its commands.

    Args:
        line: As the model wrote it.
        policy: Mode, rules and paths.
        tool: Whose rules hold.
    """
    found = commands(line)
    rules = tuple(rule for rule in policy.rules if rule.covers(tool))
    if isinstance(found, Unparsed):
        return _unreadable(line, found, rules, policy)
    verdict = strictest(
        verdict for command in found for verdict in _Judgement(command, rules, policy).verdicts()
    )
    return verdict or Verdict(decision="allow", reason="it runs nothing")


def _unreadable(line: str, found: Unparsed, rules: tuple[Rule, ...], policy: Policy) -> Verdict:
    for rule in rules:
        if rule.decision == "deny" and rule.pattern and matches_text(rule.pattern, line.strip()):
            return Verdict(decision="deny", reason=f"it is denied by {rule}", rule=rule)
    if policy.mode == "read-only":
        reason = f"the line cannot be judged ({found.reason}), and the mode is read-only"
        return Verdict(decision="deny", reason=reason)
    return Verdict(decision="ask", reason=f"the line cannot be judged: {found.reason}")


class _Judgement:
    """All that bears on one command."""

    def __init__(self, command: Command, rules: tuple[Rule, ...], policy: Policy) -> None:
        self.command = command
        self.rules = rules
        self.policy = policy
        self.reader = reads(command)
        self.allowed_by = self._allow_rule()
        self.bases = tuple(dict.fromkeys(_bases(command.places, policy)))
        text = command.text or ", ".join(f"{a.name}=…" for a in command.assignments) or ">"
        text = " ".join(text.split())
        self.shown = text if len(text) <= _SHOWN_CHARS else text[: _SHOWN_CHARS - 1] + "…"

    def verdicts(self) -> Iterator[Verdict]:
        yield self._command_verdict()
        for redirect in self.command.redirects:
            access = Access(tool="bash", write=redirect.write, agreed=self._whole_tool())
            yield from self._word_verdicts(redirect.path, access)
        for touch in self._touches():
            yield from self._word_verdicts(touch.word, self._access(touch))

    def _whole_tool(self) -> bool:
        return self.allowed_by is not None and self.allowed_by.whole

    def _command_verdict(self) -> Verdict:
        for decision in ("deny", "ask"):
            rule = self._strict_rule(decision)
            if rule is not None and (decision == "deny" or self.policy.mode != "read-only"):
                how = "denied" if decision == "deny" else "asked about"
                reason = f"`{self.shown}` is {how} by {rule}"
                return Verdict(decision=decision, reason=reason, rule=rule)
        if isinstance(self.reader, Reads):
            return self._repository_verdict(self.reader)
        why = f"`{self.shown}`: {self.reader}"
        if self.policy.mode == "read-only":
            return Verdict(decision="deny", reason=f"{why}, and the mode is read-only")
        if self.allowed_by is not None:
            reason = f"`{self.shown}` is allowed by {self.allowed_by}"
            return Verdict(decision="allow", reason=reason, rule=self.allowed_by)
        if self.policy.mode == "accept-edits" and is_plain_edit(self.command):
            return Verdict(decision="allow", reason=f"`{self.shown}` edits files")
        if self.policy.mode == "full" and not self._hides_from_rules():
            return Verdict(decision="allow", reason="the mode is full")
        return Verdict(decision="ask", reason=why)

    def _hides_from_rules(self) -> bool:
        """A rule forbids some commands, and this one may run any of them."""
        strict = any(r.decision != "allow" and not r.whole for r in self.rules)
        spelled_out = self.command.words[:1] and self.command.words[0].obscured
        return strict and self.command.dynamic and not spelled_out

    def _repository_verdict(self, reader: Reads) -> Verdict:
        known = {self.policy.root, Path(os.path.realpath(self.policy.base))}
        agreed = self.allowed_by is not None or self.policy.mode == "full"
        for base in () if agreed else _bases(reader.repositories, self.policy):
            named = f"`{self.shown}`: git runs what a repository's own settings name"
            if base is None or Path(os.path.realpath(base)) not in known:
                return Verdict(decision="ask", reason=named)
            if program := own_programs(base):
                return Verdict(decision="ask", reason=f"{named}, here {program}")
        return Verdict(decision="allow", reason=f"`{self.shown}` only reads")

    def _strict_rule(self, decision: str) -> Rule | None:
        texts = tuple(_spellings(self.command))
        for rule in self.rules:
            if rule.decision != decision:
                continue
            if rule.pattern is None or any(matches_text(rule.pattern, text) for text in texts):
                return rule
        return None

    def _allow_rule(self) -> Rule | None:
        command = self.command
        if command.dynamic or not command.words:
            return None
        own = [] if command.elevated else [_with_assignments(command)]
        if not command.elevated and all(harmless(a, command) for a in command.assignments):
            own.append(command.text)
        for rule in self.rules:
            if rule.decision != "allow":
                continue
            if rule.pattern is None or rule.whole:
                return rule
            if any(matches_text(rule.pattern, text) for text in own):
                return rule
            named = spelled_chars(rule.pattern) >= command.outer_named_chars
            if command.wrappers and named and matches_text(rule.pattern, command.outer):
                return rule
        return None

    def _touches(self) -> tuple[Touch, ...]:
        if isinstance(self.reader, Reads):
            return tuple(Touch(word=word, how="read") for word in self.reader.files)
        return touches(self.command)

    def _access(self, touch: Touch) -> Access:
        return Access(
            tool="bash",
            write=touch.how in ("write", "tree"),
            tree=touch.how == "tree",
            agreed=self.allowed_by is not None,
            mention=touch.how == "mention",
        )

    def _word_verdicts(self, word: Word, access: Access) -> Iterator[Verdict]:
        for base in self.bases:
            absolute = word.tilde or word.stem.startswith("/")
            if base is None and not absolute:
                yield self._unknown_file(word, access)
                continue
            start = self.policy.base if base is None else base
            yield from self._from(start, word, access)

    def _from(self, base: Path, word: Word, access: Access) -> Iterator[Verdict]:
        paths = _paths(word, base, self.policy)
        if paths is None:
            yield self._unknown_file(word, access)
            return
        for path in paths:
            named = word.tilde or not path.startswith("~")
            text = path if named else "./" + path
            # A word that is no file, such as a pattern to search for, is nobody's file outside.
            if access.write or exists_outside(text, base, self.policy):
                yield judge_path(text, access, self.policy, base=base)

    def _unknown_file(self, word: Word, access: Access) -> Verdict:
        if access.mention or access.agreed or self.policy.mode == "full":
            return Verdict(decision="allow", reason=f"{word.text} is free to use here")
        if access.write and self.policy.mode == "read-only":
            return Verdict(
                decision="deny", reason=f"{word.text} would be written, and the mode is read-only"
            )
        reason = f"`{self.shown}`: which file {word.text} is, only shows when it runs"
        return Verdict(decision="ask", reason=reason)


def _paths(word: Word, base: Path, policy: Policy) -> tuple[str, ...] | None:
    """The paths a word can be; None when they cannot be told."""
    if word.literal or word.below:
        return (word.stem or ".",)
    if not word.glob:
        return None
    pattern = str(policy.home) + word.text[1:] if word.tilde else word.text
    found = glob.iglob(pattern, root_dir=base, include_hidden=True)
    paths = tuple(itertools.islice(found, MAX_EXPANDED + 1))
    if len(paths) > MAX_EXPANDED:
        return None
    folder = word.stem.rpartition("/")[0] or ("/" if word.stem.startswith("/") else ".")
    return (folder, *paths)


def _bases(places: tuple[tuple[Word, ...], ...], policy: Policy) -> Iterator[Path | None]:
    """Where each way of `cd` leads; None when that cannot be told."""
    for chain in places:
        base: Path | None = policy.base
        for word in chain:
            if not word.literal:
                base = None
            elif word.tilde:
                base = Path(str(policy.home) + word.text[1:])
            elif word.text.startswith("/"):
                base = Path(word.text)
            elif base is not None:
                base = base / word.text
        yield base


def _with_assignments(command: Command) -> str:
    before = [f"{a.name}={a.value.shown}" for a in command.assignments]
    return " ".join((*before, command.text))


def _spellings(command: Command) -> Iterator[str]:
    """All the ways a rule that forbids may mean this command."""
    yield command.text
    yield _with_assignments(command)
    yield command.outer
    raw = [word.text for word in command.words]
    yield " ".join(raw)
    if raw:
        raw[0] = raw[0].rpartition("/")[2]
        yield " ".join(raw)
        yield " ".join(_without_leading_options(raw))
    for wrapper in command.wrappers:
        yield wrapper
        yield f"{wrapper} {command.text}"


def _without_leading_options(words: list[str]) -> list[str]:
    """`git -C x -c y push` as `git push`: options before the subcommand do not hide it."""
    if words[0] != "git":
        return words
    rest = words[1:]
    while rest and rest[0].startswith("-"):
        takes_value = rest[0] in ("-C", "-c", "--git-dir", "--work-tree", "--namespace")
        rest = rest[2:] if takes_value else rest[1:]
    return [words[0], *rest]
