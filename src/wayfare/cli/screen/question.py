"""Permission questions: what is asked, what `always` would allow, what the answer means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from wayfare.agent.consent import Decided, Question
from wayfare.agent.policy import Policy, Rule, ToolUse
from wayfare.cli.screen.spans import (
    Line,
    Span,
    fitted,
    invisible,
    whole,
    width_of,
    wrapped_as_is,
)

_SHOWN_LINES: Final = 12
"""Lines of a command or of a changed text that are shown; what is longer is said to be."""
_REASON_LINES: Final = 4
_LEAST_LINES: Final = 4
"""Of what is asked about, however small the terminal is."""
_OTHER_ROWS: Final = 5
"""Status, input and blank ones."""
_MOST_RULE_CHARS: Final = 160
"""Rules that take more to say are not offered: nobody reads them, and they would push what is asked
about out of sight."""
_SUBCOMMANDS: Final = frozenset(
    {
        "git", "npm", "pnpm", "yarn", "npx", "cargo", "go", "uv", "poetry", "pip", "pip3",
        "docker", "podman", "kubectl", "make", "just", "gh", "dotnet", "gradle", "mvn", "bundle", "rails",
        "composer", "terraform", "helm", "systemctl", "brew", "apt", "conda", "deno", "bun",
    }
)  # fmt: skip
"""Programs whose first argument says what they do: `always` keeps to that one."""
_INTERPRETERS: Final = frozenset({"python", "python3", "node", "ruby", "perl"})
"""Programs that run a file or a module: `always` keeps to that one."""
_WHOLE_LINE: Final = frozenset(
    {
        "rm", "rmdir", "dd", "mkfs", "shred", "truncate", "chmod", "chown", "chgrp", "kill", "pkill",
        "killall", "sudo", "su", "doas", "ssh", "scp", "rsync", "curl", "wget", "nc", "sh",
        "bash", "zsh", "dash", "fish", "eval", "exec", "source", "xargs", "find", "env", "perl",
        "ruby", "php", "awk", "sed", "crontab", "at", "mount", "umount", "reboot", "shutdown",
    }
)  # fmt: skip
"""Programs that can do anything, or harm: `always` keeps to the very same line."""


def always(use: ToolUse, policy: Policy) -> tuple[Rule, ...]:
    """Rules under which a call like this would not be asked about again in this session.

    Empty where none would do, such as for a guarded file: then only this call can be allowed.
    """
    rules = _proposed(use)
    if not rules or len(rule_text(rules)) > _MOST_RULE_CHARS:
        return ()
    from wayfare.agent.permissions import weigh

    allowed = replace(policy, rules=(*policy.rules, *rules))
    return rules if weigh(use, allowed).decision == "allow" else ()


def _proposed(use: ToolUse) -> tuple[Rule, ...]:
    if use.command is not None:
        return _for_commands(use.name, use.command)
    if use.paths:
        return (Rule(decision="allow", tool=use.name, pattern="**", source="session"),)
    return (Rule(decision="allow", tool=use.name, source="session"),)


def _for_commands(tool: str, line: str) -> tuple[Rule, ...]:
    from wayfare.agent.shell.reading import reads
    from wayfare.agent.shell.values import Reads, Unparsed
    from wayfare.agent.shell_commands import commands

    found = commands(line)
    if isinstance(found, Unparsed):
        return ()
    patterns: dict[str, None] = {}
    for command in found:
        if not command.words or isinstance(reads(command), Reads):
            continue
        if command.dynamic or command.elevated or command.wrappers:
            return ()
        pattern = _pattern([word.shown for word in command.words], command.name)
        named = len(command.words) if not pattern.endswith(":*") else pattern.count(" ") + 1
        if not all(word.literal for word in command.words[:named]):
            return ()  # what the rule would name is known only when the command runs
        patterns[pattern] = None
    return tuple(
        Rule(decision="allow", tool=tool, pattern=one, source="session") for one in patterns
    )


def _pattern(words: list[str], name: str) -> str:
    first = words[1] if len(words) > 1 else ""
    whole = " ".join(words)
    if name in _INTERPRETERS:
        if first == "-m" and len(words) > 2:
            return " ".join(words[:3]) + ":*"
        return " ".join(words[:2]) + ":*" if first and not first.startswith("-") else whole
    if name in _WHOLE_LINE:
        return whole
    if name in _SUBCOMMANDS:
        return " ".join(words[:2]) + ":*" if first and not first.startswith("-") else whole
    return words[0] + ":*"


def rule_text(rules: tuple[Rule, ...]) -> str:
    """The rules as a settings file would have them."""
    return ", ".join(f"{r.tool}({r.pattern})" if r.pattern else r.tool for r in rules)


def question_lines(
    question: Question, rules: tuple[Rule, ...], columns: int, rows: int = 24
) -> list[Line]:
    """What is asked, with the whole command or the change, and the answers there are.

    Nothing is taken out of what is asked about: what cannot be seen is shown as U+FFFD, and what
    has no room is counted, its end kept in sight as well as its beginning.

    Args:
        question: What is asked.
        rules: What `always` would allow.
        columns: Room of a line.
        rows: Room for all lines, the input below them included.
    """
    use = question.use
    first = fitted((("warn", "? "), ("bold", _seen(use.name))), columns)
    end = _cut(_lines(question.reason, columns - 2, style="dim", lead="  "), columns, _REASON_LINES)
    end.append(fitted((("bold", "  y"), ("", " yes  "), ("bold", "n"), ("", " no")), columns))
    if rules:
        head, *rest = _lines(f"always in this session: {rule_text(rules)}", columns - 4)
        end.append((("bold", "  a"), ("", " "), *head))
        end += [(("", "    "), *line) for line in rest]
    room = max(rows - _OTHER_ROWS - 1 - len(end), _LEAST_LINES)
    return [first, *_cut(_shown(use, columns), columns, room), *end]


def squeezed(lines: Sequence[Line], rows: int) -> list[Line]:
    """A question in fewer rows than it was made for: how it begins, and the answers."""
    if len(lines) <= rows:
        return list(lines)
    end = max(rows // 2, 1)
    return [*lines[: max(rows - end - 1, 0)], (("dim", "  …"),), *lines[-end:]]


def _seen(text: str) -> str:
    """A text as it may be decided about: everything in it can be seen."""
    return invisible(whole(text))


def _lines(text: str, columns: int, *, style: str = "", lead: str = "") -> list[Line]:
    return wrapped_as_is(_seen(text), columns, style=style, lead=lead)


def _shown(use: ToolUse, columns: int) -> list[Line]:
    if use.command is not None:
        return _cut(_lines(use.command, columns - 2, lead="  "), columns)
    lines: list[Line] = []
    for name, value in use.input.items():
        if value is None or value is False:
            continue
        text = value if isinstance(value, str) else repr(value)
        style, sign = _mark(name, use.input)
        told = _seen(f"  {name} ").replace("\n", " ")
        if "\n" in text or width_of(told + _seen(text)) > columns or sign.strip():
            if not sign.strip():
                lines.append(fitted((("dim", told),), columns))
            lines += _cut(_lines(text, columns, style=style, lead=f"  {sign}"), columns)
        else:
            lines.append((("dim", told), ("", _seen(text))))
    return lines


def _mark(name: str, given: Mapping[str, Any]) -> Span:
    """What is taken out and what comes in are told apart."""
    if any("old" in other for other in given):
        if "old" in name:
            return ("bad", "- ")
        if "new" in name:
            return ("good", "+ ")
    return ("", "  ")


def _cut(lines: list[Line], columns: int, most: int = _SHOWN_LINES + 1) -> list[Line]:
    """At most so many lines, in place of the middle ones how many they are."""
    if len(lines) <= most:
        return lines
    end = (most - 1) // 3
    left = len(lines) - most + 1
    told = fitted((("dim", f"  … {left} more lines …"),), columns)
    return [*lines[: most - 1 - end], told, *lines[-end:]]


def decided(key: str, rules: tuple[Rule, ...]) -> Decided | None:
    """What a key answers; None for one that answers nothing."""
    if key in ("y", "Y"):
        return Decided(allow=True)
    if key in ("a", "A") and rules:
        return Decided(allow=True, rules=rules)
    if key in ("n", "N"):
        return Decided(allow=False)
    return None


def answer_line(question: Question, answer: Decided, columns: int) -> Line | None:
    """What stays of an answer; None for a plain yes, of which the call itself is the sign."""
    if answer.rules:
        return fitted((("dim", f"· allowed in this session: {rule_text(answer.rules)}"),), columns)
    if not answer.allow:
        return fitted((("dim", f"· said no to {question.use.name}"),), columns)
    return None
