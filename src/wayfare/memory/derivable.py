"""What the repository can tell again: paths, stack traces, code, diffs, commit hashes."""

from __future__ import annotations

import re

from wayfare.memory.likeness import words

_PATH_LINE = re.compile(r"^[\s>*+\-\d.)|`]*(?:[~.]{0,2}/)?[\w@.-]+(?:[/\\][\w@.-]+)+/?[\s`,:;|]*$")
_FILE_LINE = re.compile(r"^[\s>*+\-|`├└│─]*[\w@-]+\.[A-Za-z0-9]{1,5}[\s`,:;|]*$")
_TRACE_LINE = re.compile(
    r"^\s*(?:Traceback \(most recent|File \".+\", line \d+|at [\w$.<>]+\(.*\)|[\w.]*(?:Error|Exception):"
    r"|\S+:\d+:\d+|Caused by:|goroutine \d+|panic:|\d+: 0x[0-9a-f]+|#\d+ +0x)"
)
_HASH = re.compile(r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b")
_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_DIFF_LINE = re.compile(r"^(?:diff --git|index [0-9a-f]+\.\.|@@ |[+-]{3} [ab]/|[+-]\S)")


def derivable(body: str) -> str:
    """What a body chiefly is that the repository can tell again; empty when it says more."""
    lines = [line for line in body.splitlines() if line.strip()]
    if not lines:
        return ""
    fenced = sum(len(block) for block in _FENCED.findall(body))
    if fenced > 0.7 * len(body):
        return "a code block"
    trace = sum(bool(_TRACE_LINE.match(line)) for line in lines)
    if trace >= 2 and trace * 2 >= len(lines) - trace // 2:
        return "a stack trace"
    diff = sum(bool(_DIFF_LINE.match(line)) for line in lines)
    if diff >= 3 and diff * 3 >= len(lines) * 2:
        return "a diff"
    paths = sum(bool(_PATH_LINE.match(line) or _FILE_LINE.match(line)) for line in lines)
    if paths >= 3 and paths * 3 >= len(lines) * 2:
        return "file paths"
    hashes = len(_HASH.findall(body))
    prose = len(words(_HASH.sub(" ", body)))
    if hashes >= 2 and hashes * 4 >= prose:
        return "commit hashes"
    return ""
