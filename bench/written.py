"""What a session wrote to disk, by what it is: results, messages, edits by pass, tables."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path


def bytes_by_kind(root: Path) -> dict[str, int]:
    """Bytes below `root`: `results`, `messages`, `edit <pass>`, `contents`, `checkpoint`
    and `other`."""
    found: Counter[str] = Counter()
    for file in root.rglob("*"):
        if not file.is_file():
            continue
        if file.suffix == ".jsonl":
            _transcript(file, found)
        elif file.suffix == ".tsv":
            found["contents"] += file.stat().st_size
        elif file.suffix == ".checkpoint":
            found["checkpoint"] += file.stat().st_size
        elif ".task_outputs" in file.parts:
            found["results"] += file.stat().st_size
        else:
            found["other"] += file.stat().st_size
    return dict(found)


def _transcript(file: Path, found: Counter[str]) -> None:
    with file.open("rb") as lines:
        for line in lines:
            if line.startswith(b'{"kind":"edit"'):
                found[f"edit {json.loads(line).get('by', '')}"] += len(line)
            elif line.startswith(b'{"kind"'):
                found["other"] += len(line)
            else:
                found["messages"] += len(line)
