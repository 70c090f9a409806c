"""Files of a folder, without those that git would ignore."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

_IGNORE_FILES = (".gitignore", ".ignore")
_NEVER = frozenset({".git", ".hg", ".svn", ".jj"})
_FOLDER_ITSELF = "(?P<ps_d>"
"""How pathspec marks, in an expression, the slash behind the folder that a pattern names."""
_NAMED = re.compile(r"\(\?P<\w+>")
_LINES_BYTES = 1_000_000
"""A larger ignore file is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A file: its path below the folder that was walked, its time and size."""

    path: str
    mtime_ns: int
    size: int


@dataclass(frozen=True, slots=True)
class _Rules:
    """What one ignore file says, for paths below `folder` (absolute, ending in a slash).

    `verdicts` are its patterns, the last first, and whether each ignores; `any` matches what some
    of them matches: one look instead of one a pattern.
    """

    folder: str
    verdicts: tuple[tuple[re.Pattern[str], bool], ...]
    any: re.Pattern[str]


def files(root: Path, *, ignored: bool = False) -> Iterator[Found]:
    """Plain files below a folder, in no order; links are not followed and not given.

    Args:
        root: Where to begin. Asked for itself, it may well be ignored by the folders above.
        ignored: Give what git would ignore, too.
    """
    rules = () if ignored else _above(root)
    if rules and any(_is_ignored(f"{folder}/", rules) for folder in (root, *root.parents)):
        rules = ()
    yield from _below(str(root), "", rules, ignored)


def _below(root: str, prefix: str, rules: tuple[_Rules, ...], ignored: bool) -> Iterator[Found]:
    folder = os.path.join(root, prefix)
    try:
        with os.scandir(folder) as listed:
            entries = list(listed)
    except OSError:
        return
    if not ignored:
        names = {entry.name for entry in entries}
        rules = (*rules, *_read(folder, [n for n in _IGNORE_FILES if n in names]))
    for entry in entries:
        if entry.name in _NEVER:
            continue
        path = f"{prefix}{entry.name}"
        try:
            if entry.is_dir(follow_symlinks=False):
                if not rules or not _is_ignored(f"{root}/{path}/", rules):
                    yield from _below(root, f"{path}/", rules, ignored)
            elif entry.is_file(follow_symlinks=False) and not (
                rules and _is_ignored(f"{root}/{path}", rules)
            ):
                found = entry.stat(follow_symlinks=False)
                yield Found(path=path, mtime_ns=found.st_mtime_ns, size=found.st_size)
        except OSError:
            continue  # gone meanwhile


def _above(root: Path) -> tuple[_Rules, ...]:
    """The rules of the folders above, up to the repository's own; none outside of one."""
    for at in (root, *root.parents):
        if (at / ".git").exists():
            between = [p for p in reversed(root.parents) if p == at or at in p.parents]
            own = _read(str(at / ".git"), ["info/exclude"], holds_for=at)
            return (*own, *(rules for p in between for rules in _read(str(p), _IGNORE_FILES)))
    return ()


def _read(
    folder: str, names: Iterable[str], *, holds_for: Path | None = None
) -> tuple[_Rules, ...]:
    from pathspec import GitIgnoreSpec  # takes longer to import than all of wayfare

    found: list[_Rules] = []
    for name in names:
        path = os.path.join(folder, name)
        try:
            if os.path.getsize(path) > _LINES_BYTES:
                continue
            lines = Path(path).read_text("utf-8", "replace").splitlines()
            spec = GitIgnoreSpec.from_lines(lines)
        except (OSError, ValueError):
            continue
        verdicts = tuple(_verdicts(spec))[::-1]
        if verdicts:
            where = str(holds_for or folder).rstrip("/")
            one = _any_of([pattern.pattern for pattern, _ in verdicts])
            found.append(_Rules(f"{where}/", verdicts, one))
    return tuple(found)


def _verdicts(spec: GitIgnoreSpec) -> Iterator[tuple[re.Pattern[str], bool]]:
    """The patterns of an ignore file, each for the very path it names, and whether it ignores it.

    Without what is below the path: the walk asks for every folder, and git lets no later rule of
    the folder above decide what a rule says of a path further down.
    """
    for each in cast("Sequence[Any]", spec.patterns):
        if each.regex is None or each.include is None:
            continue
        pattern: str = each.regex.pattern
        if _FOLDER_ITSELF in pattern:
            pattern += r"\Z"
        elif pattern.endswith("/"):
            pattern += "."  # `a/**` is all that is below the folder, not the folder
        yield re.compile(pattern), each.include


def _is_ignored(path: str, rules: tuple[_Rules, ...]) -> bool:
    """What the innermost rule that says anything says; a folder's path ends in a slash."""
    for each in reversed(rules):
        if not path.startswith(each.folder):
            continue
        below = path[len(each.folder) :]
        if each.any.search(below):
            return next(ignores for pattern, ignores in each.verdicts if pattern.search(below))
    return False


def combined(spec: GitIgnoreSpec) -> re.Pattern[str] | None:
    """One expression that finds a path when some pattern of `spec` matches it; None for none."""
    patterns: list[str] = [
        each.regex.pattern
        for each in cast("Sequence[Any]", spec.patterns)
        if each.regex is not None
    ]
    return _any_of(patterns) if patterns else None


def _any_of(patterns: Sequence[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{_NAMED.sub('(?:', pattern)})" for pattern in patterns))
