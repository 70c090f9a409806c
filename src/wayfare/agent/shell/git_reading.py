"""Forms of git that only read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from wayfare.agent.shell.values import Word

_ALWAYS = frozenset(
    [
        "status",
        "log",
        "diff",
        "show",
        "rev-parse",
        "rev-list",
        "ls-files",
        "ls-tree",
        "cat-file",
        "blame",
        "annotate",
        "describe",
        "shortlog",
        "name-rev",
        "merge-base",
        "show-ref",
        "show-branch",
        "for-each-ref",
        "count-objects",
        "grep",
        "whatchanged",
        "diff-tree",
        "diff-index",
        "diff-files",
        "check-ignore",
        "check-attr",
        "cherry",
        "range-diff",
    ]
)
_BAD_LONG = ("output", "ext-diff", "textconv", "filters", "open-files-in-pager", "exec")
_HARMLESS = frozenset({"--text", "--output-indicator-new", "--output-indicator-old"})
_NAMED = r"(?:no-)?(?:contains|merged)(?:=.*)?|points-at=.*|sort=.*|format=.*"
_LISTS = {
    "branch": re.compile(
        rf"-[arvl]+|--(?:list|all|remotes|show-current|verbose|(?:no-)?color|{_NAMED})"
    ),
    "tag": re.compile(rf"-[ln]\d*|--(?:list|(?:no-)?color|{_NAMED})"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class GitReads:
    """Files named by a git command that only reads, and the folder `-C` sends it to."""

    files: tuple[Word, ...] = ()
    folder: Word | None = None


def git_reads(arguments: Sequence[Word]) -> GitReads | str:
    """What a git command reads when it only reads; otherwise why it does more."""
    rest = list(arguments)
    folder: Word | None = None
    while rest and rest[0].literal and rest[0].text.startswith("-"):
        option = rest.pop(0).text
        if option == "-C" and folder is None and rest:
            folder = rest.pop(0)
        elif option == "--version" and not rest:
            return GitReads()
        elif option not in ("--no-pager", "-P", "--no-optional-locks"):
            return f"git with {option} may run something else"
    if not rest or not rest[0].literal:
        return "git with a subcommand that is only known at run time"
    name, rest = rest[0].text, rest[1:]
    if name not in _ALWAYS and not _only_lists(name, rest):
        return f"git {name} does more than read"
    reason = _bad_option(name, rest)
    if reason is not None:
        return reason
    files = [word for word in rest if not word.text.startswith("-")]
    for word in rest:
        value = word.text.partition("=")[2]
        if word.text.startswith("-") and "/" in value:
            files.append(Word(text=value, stem=value, tilde=value.startswith("~")))
    return GitReads(files=tuple(files), folder=folder)


def _bad_option(subcommand: str, rest: Sequence[Word]) -> str | None:
    for word in rest:
        if word.literal and word.text == "--":
            return None
        if not word.literal and (not word.stem or word.stem.startswith("-")):
            return f"git {subcommand} with an argument that is only known at run time"
        name = word.text.partition("=")[0]
        if name.startswith("--") and name not in _HARMLESS:
            # git takes any unambiguous beginning of a long option for the option.
            if any(bad.startswith(name[2:]) for bad in _BAD_LONG):
                return f"git {subcommand} with {word.text} does more than read"
        elif subcommand == "grep" and re.match(r"-\w*O", word.text):
            return "git grep -O opens a program"
    return None


def _only_lists(name: str, rest: Sequence[Word]) -> bool:
    """Subcommands that read in some forms only; every word of such a form must be known."""
    texts = [word.text for word in rest]
    if not all(word.literal for word in rest):
        return False
    if name in _LISTS:
        listing = any(t in ("--list", "-l") or re.match(r"--.*(contains|merged)", t) for t in texts)
        return all(_LISTS[name].fullmatch(t) or (listing and t[:1] != "-") for t in texts)
    if name == "remote":
        return texts in ([], ["-v"], ["--verbose"]) or texts[:1] == ["get-url"]
    if name == "stash":
        return texts[:1] in (["list"], ["show"])
    if name == "reflog":
        return not texts or texts[0] == "show" or texts[0].startswith("-")
    if name == "config":
        return len(texts) == 2 and texts[0] in ("--get", "--get-all", "get")
    if name == "worktree":
        return texts[:1] == ["list"]
    return name == "submodule" and texts == ["status"]
