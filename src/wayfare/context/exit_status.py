"""Commands whose exit status 1 is an answer and no failure: nothing matched, two files differ.

Read from the words of a line, for loops of other people and recordings as for our own shell. Where
a line could have ended with 1 for another reason the answer is no: a failure taken for an answer
is worse than the reverse.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from typing import Final

_ANSWERS: Final = frozenset(
    [
        "grep",
        "egrep",
        "fgrep",
        "zgrep",
        "rg",
        "ag",
        "ack",
        "diff",
        "cmp",
        "test",
        "[",
        "[[",
        "expr",
        "pgrep",
        "pidof",
        "which",
        "type",
        "zdiff",
        "zcmp",
        "sdiff",
        "colordiff",
    ]
)
_ANSWERS_OF: Final = {
    "git": frozenset({"grep", "diff", "check-ignore", "merge-base", "show-ref"}),
    "command": frozenset({"-v", "-V"}),
    "hash": frozenset({"-t"}),
}
"""Commands of which only some uses answer by their status, told by the first word after them."""
_HARMLESS: Final = frozenset(
    ["cd", "echo", "printf", "true", ":", "pwd", "export", "pushd", "popd"]
)
_WRAPPERS: Final = frozenset(["!", "time", "sudo", "nice", "command", "env", "stdbuf", "nohup"])
_ASSIGNED: Final = re.compile(r"[A-Za-z_]\w*=")
_STRICT: Final = re.compile(r"\bset\s+-\w*e|pipefail|\berrexit\b")
_LINE_CHARS: Final = 4_000
_NAMED: Final = re.compile("|".join(map(re.escape, sorted(_ANSWERS | _ANSWERS_OF.keys()))))
"""Without one of these in it a line need not be read."""


def one_is_an_answer(line: str) -> bool:
    """Whether exit status 1 of this line of shell means “no” rather than that something failed."""
    if len(line) > _LINE_CHARS or not _NAMED.search(line):
        return False
    if "<<" in line or _STRICT.search(line):
        return False
    last = _last_list(line)
    if last is None:
        return False
    answers = [_is_answer(words) for words in last]
    if not any(answers):
        return False
    return all(
        is_answer or (words and words[0] in _HARMLESS)
        for is_answer, words in zip(answers, last, strict=True)
    )


def _is_answer(words: Sequence[str]) -> bool:
    if not words:
        return False
    name = words[0].rpartition("/")[2]
    if name in _ANSWERS:
        return True
    rest = [w for w in words[1:] if name == "command" or not w.startswith("-")]
    return bool(rest) and rest[0] in _ANSWERS_OF.get(name, frozenset())


def _last_list(line: str) -> list[list[str]] | None:
    """The commands that the status can come from: of each pipeline of the last list, the last one.

    None where the line cannot be read.
    """
    pipelines: list[list[str]] = []
    for operator, text in _parts(line):
        if operator in (";", "&", "\n"):
            pipelines = []
        try:
            words = _bare(shlex.split(text, comments=True))
        except ValueError:
            return None
        if operator == "|" and pipelines:
            pipelines[-1] = words
        else:
            pipelines.append(words)
    return pipelines


def _bare(words: list[str]) -> list[str]:
    """Without assignments and wrappers in front."""
    at = 0
    while at < len(words):
        word = words[at]
        if word == "timeout":
            at += 1
            while at < len(words) and words[at].startswith("-"):
                at += 1
            at += 1
        elif word == "command" and words[at + 1 : at + 2] in (["-v"], ["-V"]):
            break
        elif word in _WRAPPERS or _ASSIGNED.match(word):
            at += 1
        else:
            break
    return words[at:]


def _parts(line: str) -> list[tuple[str, str]]:
    """The simple commands of a line with the operator before each; quotes and `$(…)` stay whole."""
    parts: list[tuple[str, str]] = []
    operator, begin, at, depth = "", 0, 0, 0
    quote = ""
    text = line.strip().rstrip(";").rstrip()
    while at < len(text):
        sign = text[at]
        if quote:
            at += 2 if sign == "\\" and quote == '"' else 1
            quote = "" if sign == quote else quote
            continue
        if sign == "\\":
            at += 2
            continue
        if sign in "'\"`":
            quote = sign
        elif sign == "(":
            depth += 1
        elif sign == ")":
            depth -= 1
        elif depth == 0 and sign in ";&|\n" and not _redirects(text, at):
            length = 2 if text[at : at + 2] in ("&&", "||", "|&", ";;") else 1
            parts.append((operator, text[begin:at]))
            operator = "|" if text[at : at + 2] == "|&" else text[at : at + length]
            at += length
            begin = at
            continue
        at += 1
    return [(o, t) for o, t in [*parts, (operator, text[begin:])] if t.strip()]


def _redirects(text: str, at: int) -> bool:
    """Whether an `&` or `|` belongs to a redirection: `2>&1`, `&>file`, `>|file`."""
    if text[at] == "&":
        return text[at - 1 : at] in (">", "<") or text[at + 1 : at + 2] == ">"
    return text[at] == "|" and text[at - 1 : at] == ">"
