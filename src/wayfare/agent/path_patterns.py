"""The path patterns of rules: `src/**`, `~/.ssh/**`, `/etc/hosts`."""

from __future__ import annotations

import os
import re
from functools import lru_cache
from pathlib import Path

from wayfare.agent.guarded_paths import Place, plain_form

_WILDCARD = re.compile(r"[*?\[]")


def matches(
    pattern: str, place: Place, *, workspace: Path, home: Path, widely: bool = False
) -> bool:
    """True when the pattern covers the place.

    A pattern is relative to the workspace unless it begins with `/` or `~/`. `*` and `?` stay
    within one name, `**` crosses folders, `folder/**` covers the folder itself too.

    Args:
        pattern: As a person wrote it.
        place: Where the path leads, and how it was written.
        workspace: The root for relative patterns.
        home: What `~` stands for.
        widely: For rules that forbid or ask: the path as written, other spellings by case, and
            patterns that name a link count as well. Rules that allow never match more than what
            they say of the place the path really leads to.
    """
    own = pattern.startswith(("/", "~/"))
    anchored = _anchored(pattern, os.path.realpath(workspace), home)
    # A link inside the workspace belongs to the project, so it cannot widen what is allowed.
    targets = {_resolved(anchored)} if own else {anchored}
    if not widely:
        return place.known and any(_regex(t).fullmatch(place.path) for t in targets)
    targets |= {anchored, _anchored(pattern, str(workspace), home), _resolved(anchored)}
    paths = {plain_form(place.path), plain_form(place.written)}
    return any(_regex(plain_form(t)).fullmatch(path) for t in targets for path in paths)


def names_place(pattern: str, root: str, *, workspace: Path, home: Path) -> bool:
    """True when the fixed beginning of a pattern lies at or below `root`: it is meant."""
    anchored = _anchored(pattern, os.path.realpath(workspace), home)
    fixed = plain_form(_fixed(anchored))
    own = plain_form(root)
    return fixed == own or fixed.startswith(own + "/")


def _anchored(pattern: str, workspace: str, home: Path) -> str:
    if pattern == "~" or pattern.startswith("~/"):
        return str(home) + pattern[1:]
    return pattern if pattern.startswith("/") else os.path.join(workspace, pattern)


def _fixed(pattern: str) -> str:
    """The folders and names before the first wildcard."""
    found = _WILDCARD.search(pattern)
    return pattern if found is None else pattern[: found.start()].rpartition("/")[0]


def _resolved(pattern: str) -> str:
    fixed = _fixed(pattern)
    return os.path.realpath(fixed) + pattern[len(fixed) :]


@lru_cache(maxsize=1024)
def _regex(pattern: str) -> re.Pattern[str]:
    out = ""
    at = 0
    while at < len(pattern):
        rest = pattern[at:]
        if rest.startswith("/**/"):
            out, at = out + "/(?:.*/)?", at + 4
        elif rest == "/**":
            out, at = out + "(?:/.*)?", at + 3
        elif rest.startswith("**"):
            out, at = out + ".*", at + 2
        elif rest[0] == "*":
            out, at = out + "[^/]*", at + 1
        elif rest[0] == "?":
            out, at = out + "[^/]", at + 1
        elif rest[0] == "[" and (found := re.match(r"\[(!?)([^\]/\\]+)\]", rest)):
            out += f"[{'^' if found[1] else ''}{re.escape(found[2]).replace(chr(92) + '-', '-')}]"
            at += found.end()
        else:
            out, at = out + re.escape(rest[0]), at + 1
    return re.compile(out, re.DOTALL)
