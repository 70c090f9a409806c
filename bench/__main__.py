"""`python -m bench [DATA] [--only SECTION …]`: measure, and write BENCHMARKS.md.

Without DATA the recordings that ship with wayfare are measured, together with a generated
session. Sections that are not asked for stay in the report as they were.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from bench import (
    compaction_section,
    digest_section,
    frontier_section,
    governance_section,
    judges_section,
    local_section,
    loop_section,
    memory_section,
    soak_section,
    summaries_section,
)
from bench.recordings import Recording, load, load_shipped
from bench.report import ROOT, Section, write
from bench.run_baselines import WINDOWS
from bench.soak import STEPS
from bench.synthetic import session

SECTIONS = (
    "judges",
    "governance",
    "digest",
    "frontier",
    "compaction",
    "summaries",
    "local-session",
    "memory",
    "recall",
    "loop",
    "soak",
)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="?", type=Path, help="folder with trajectories/")
    parser.add_argument("--only", nargs="+", default=list(SECTIONS), choices=SECTIONS)
    parser.add_argument("--windows", nargs="+", type=int, default=list(WINDOWS))
    parser.add_argument("--generated-steps", type=int, default=5_000)
    parser.add_argument(
        "--keep", type=Path, help="file of rows: a long run of `frontier` that stopped goes on"
    )
    parser.add_argument(
        "--memory-sizes",
        nargs="+",
        type=int,
        default=list(memory_section.SIZES),
        help="numbers of records of the scale table, such as 10 1000 10000 50000",
    )
    parser.add_argument("--soak-steps", type=int, default=STEPS)
    options = parser.parse_args()
    source = "make bench DATA=FOLDER" if options.data else "make bench"
    recordings = _recordings(options.data)
    made: list[Section] = []
    if "judges" in options.only:
        made.append(judges_section.section(source))
    if "governance" in options.only:
        made.append(governance_section.section(source, options.generated_steps))
    if "digest" in options.only:
        made.append(digest_section.section(recordings, source))
    if "frontier" in options.only:
        generated = [session(options.generated_steps)] if options.generated_steps else []
        made += frontier_section.sections(
            recordings, source, options.windows, generated=generated, kept=options.keep
        )
    if "compaction" in options.only:
        made.append(compaction_section.section(recordings, source))
    if "summaries" in options.only:
        made.append(summaries_section.section(recordings, source))
    if "local-session" in options.only:
        made.append(local_section.section(source))
    if "memory" in options.only:
        made.append(memory_section.section(source, sizes=options.memory_sizes))
    if "recall" in options.only:
        made.append(memory_section.recall_section(source))
    if "loop" in options.only:
        made.append(loop_section.section(source))
    if "soak" in options.only:
        made.append(soak_section.section("make soak", options.soak_steps))
    write(made)
    print(f"written: {(ROOT / 'BENCHMARKS.md').name}")


def _recordings(data: Path | None) -> list[Recording]:
    return list(load(data)) if data is not None else load_shipped(ROOT / "recordings")


if __name__ == "__main__":
    main()
