"""Lexical recall on a set: python -m bench.recall [SET] [--json FILE] [--scale].

A set is a folder with `documents.jsonl` (id, text; optional name, description, aliases, parent,
order) and `queries.jsonl` (query, relevant ids; optional within). Without one: the set beside
this file.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from bench.recall.measure import measure
from bench.recall.scale import scale
from bench.recall.sets import load

SHIPPED = Path(__file__).parent / "set"


def main(arguments: list[str] | None = None) -> int:
    """Measure a set, print the tables; 2 when it cannot be read."""
    parser = argparse.ArgumentParser(
        prog="bench.recall", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("set", nargs="?", type=Path, default=SHIPPED, help="folder of the set")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures there")
    parser.add_argument(
        "--scale",
        nargs="*",
        type=int,
        metavar="N",
        help="also time queries at these sizes (10, 1000, 10000 and 50000)",
    )
    chosen = parser.parse_args(arguments)
    try:
        collection = load(chosen.set)
    except (OSError, ValueError) as error:
        print(f"bench.recall: {error}", file=sys.stderr)
        return 2
    figures = measure(collection)
    print(table(figures))
    if chosen.scale is not None:
        figures["scale"] = scale(collection, chosen.scale or [10, 1_000, 10_000, 50_000])
        print("\n" + scale_table(figures["scale"]))
    if chosen.json:
        chosen.json.write_text(
            json.dumps(figures, ensure_ascii=False, indent=1) + "\n", encoding="utf-8"
        )
    return 0


def table(figures: dict[str, Any]) -> str:
    """The figures of a set as text, one block for each part."""
    lines = [
        f"{figures['documents']} documents, {figures['queries']} queries "
        f"({figures['answerable']} answerable, {figures['sharing_no_word']} of them share no "
        "content word with their answer)"
    ]
    lines += [f"note: {problem}" for problem in figures["problems"]]
    parts = dict.fromkeys(row["part"] for row in figures["rows"])
    for part in parts:
        rows = [row for row in figures["rows"] if row["part"] == part]
        lines += ["", _heading(part, rows[0])]
        lines += [_line(row) for row in rows]
    return "\n".join(lines)


def _heading(part: str, row: dict[str, Any]) -> str:
    parent = " parent@1" if row["parent_hit_at_1"] is not None else ""
    label = f"{part} ({row['queries']})"
    return (
        f"{label:22}  hit@1 recall@5 recall@10{parent}  without hit  silent where nothing answers"
        "  ms/query"
    )


def _line(row: dict[str, Any]) -> str:
    parent = f" {row['parent_hit_at_1']:8.3f}" if row["parent_hit_at_1"] is not None else ""
    silent = f"{row['kept_silent']} of {row['unanswerable']}" if row["unanswerable"] else "-"
    return (
        f"  {row['ranker']:20}  {row['hit_at_1']:.3f} {row['recall_at_5']:8.3f} "
        f"{row['recall_at_10']:9.3f}{parent}  {row['without_hit']:11}  {silent:>28}"
        f"  {row['ms_a_query']:8.2f}"
    )


def scale_table(rows: list[dict[str, Any]]) -> str:
    """Times by size as text."""
    lines = ["documents  held in   fill s  open ms  write ms  query ms (median, 95 %)"]
    for row in rows:
        lines.append(
            f"{row['documents']:9}  {row['held_in']:8} {row['fill_seconds']:7.2f} "
            f"{row['open_ms']:8.1f} {row['write_ms']:9.2f}  {row['query_ms_median']:8.2f} "
            f"{row['query_ms_95']:8.2f}"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
