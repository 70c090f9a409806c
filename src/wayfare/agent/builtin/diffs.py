"""What changed in a file, as lines the model can check."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

_CONTEXT_LINES = 2
_DIFF_CHARS = 4_000
"""A longer diff is cut: the model wrote the change and only needs to see that it landed."""
_COMPARED_LINES = 4_000
"""Above so many differing lines a diff line by line takes seconds, and nobody reads it."""
_LINE_CHARS = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Lines added and removed, and the change as a unified diff (empty where it would be huge)."""

    added: int
    removed: int
    diff: str

    @property
    def counts(self) -> str:
        """As people write it: +3 −1."""
        return f"+{self.added} −{self.removed}"


def change(old: str, new: str) -> Change:
    """The change between two texts; line ends are not compared."""
    before, after = old.splitlines(), new.splitlines()
    head = _common(before, after)
    tail = _common(before[head:][::-1], after[head:][::-1])
    gone, come = before[head : len(before) - tail], after[head : len(after) - tail]
    if len(gone) + len(come) > _COMPARED_LINES:
        return Change(added=len(come), removed=len(gone), diff="")
    # With the surroundings that a hunk shows, so that its lines have their true numbers.
    start = max(head - _CONTEXT_LINES, 0)
    end = min(tail, _CONTEXT_LINES)
    lines = _hunks(
        before[start : head + len(gone) + end], after[start : head + len(come) + end], start
    )
    added = sum(line.startswith("+") for line in lines)
    removed = sum(line.startswith("-") for line in lines)
    return Change(added=added, removed=removed, diff=_cut(lines))


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count


def _hunks(before: Sequence[str], after: Sequence[str], start: int) -> list[str]:
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    lines: list[str] = []
    for group in matcher.get_grouped_opcodes(_CONTEXT_LINES):
        first, last = group[0], group[-1]
        lines.append(
            f"@@ -{start + first[1] + 1},{last[2] - first[1]} "
            f"+{start + first[3] + 1},{last[4] - first[3]} @@"
        )
        for kind, i, j, k, m in group:
            if kind == "equal":
                lines += [f" {line}" for line in before[i:j]]
                continue
            lines += [f"-{line}" for line in before[i:j]]
            lines += [f"+{line}" for line in after[k:m]]
    return lines


def _cut(lines: Sequence[str]) -> str:
    shown: list[str] = []
    used = 0
    for at, line in enumerate(lines):
        line = line if len(line) <= _LINE_CHARS else line[:_LINE_CHARS] + "…"
        used += len(line) + 1
        if used > _DIFF_CHARS:
            shown.append(f"[… {len(lines) - at} more lines of this diff]")
            break
        shown.append(line)
    return "\n".join(shown)
