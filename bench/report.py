"""BENCHMARKS.md: sections, each written by a command, with the machine named."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).parents[1]
FILE = ROOT / "BENCHMARKS.md"
HEAD = """# Benchmarks

Every figure here was written by the command named in its section; none is typed by hand. Ratios are measured side by side in one run, so that they hold on other machines; times are those of the machine named.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One part of the report: `key` names it for `--only`, `command` is what wrote it."""

    key: str
    title: str
    command: str
    text: str


def machine() -> str:
    """The machine, in a line."""
    model = "unknown processor"
    try:
        found = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.M)
        model = found[1] if found else platform.processor() or model
    except OSError:
        model = platform.processor() or model
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{os.cpu_count()} × {model}, {memory:.0f} GiB, {platform.system()}, "
        f"{platform.python_implementation()} {platform.python_version()}"
    )


def write(sections: Sequence[Section], file: Path = FILE) -> None:
    """Put sections into the report, in the place of older ones of the same key."""
    old = file.read_text(encoding="utf-8") if file.exists() else HEAD
    parts = re.split(r"(?m)^<!-- section: (\S+) -->\n", old)
    head, bodies = HEAD, dict(zip(parts[1::2], parts[2::2], strict=True))
    for section in sections:
        day = datetime.now(UTC).strftime("%Y-%m-%d")
        bodies[section.key] = (
            f"## {section.title}\n\n`{section.command}` · {day} · {machine()}\n\n"
            f"{section.text.strip()}\n\n"
        )
    text = head + "\n" + "".join(f"<!-- section: {k} -->\n{v}" for k, v in bodies.items())
    file.write_text(text.rstrip() + "\n", encoding="utf-8")


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table; numbers to the right."""
    lines = [
        "| " + " | ".join(head) + " |",
        "|" + "|".join("---" if at == 0 else "---:" for at in range(len(head))) + "|",
    ]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)
