"""The guarantees on every request of every session, and where one does not hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from bench.prepared import limit_tokens
from bench.recordings import Recording
from bench.report import Section, table
from bench.wire import user_texts

OURS: Final = ("wayfare window", "wayfare classic")
MOST_WRITTEN: Final = 1.2
LARGE_OPENING_BYTES: Final = 30_000
KEPT_HEAD: Final = (
    "",
    "sessions",
    "requests",
    "invalid",
    "refused",
    "recoverable",
    "recoverable, worst session",
    "characters a read, median",
    "results gone unread",
)
OWN_HEAD: Final = (
    "",
    "active request verbatim",
    "excepted, too large",
    "cut though not too large",
    "largest request, of what fits",
    "written, all",
    "written, worst session",
    "edits",
)

Row = Mapping[str, Any]


def section(
    rows: Sequence[Row],
    recordings: Sequence[Recording],
    command: str,
    windows: Sequence[int],
) -> Section:
    """Tables of all policies and of ours, the recordings that open large, and what is not met."""
    names = list(dict.fromkeys(row["budget"] for row in rows))
    kept = [
        _kept(name, window, [r for r in rows if r["window"] == window and r["budget"] == name])
        for window in windows
        for name in names
    ]
    own = [
        _own(name, window, [r for r in rows if r["window"] == window and r["budget"] == name])
        for window in windows
        for name in OURS
    ]
    parts = [
        "Validity is judged by a validator written from the providers' rules, refusals by an exact "
        "counter (o200k), recoverability by a reader that gets only the request's text, in at most "
        "two reads; none of the three is used by the runtime.",
        table(KEPT_HEAD, kept),
        "The active request stands verbatim wherever it takes at most half the limit; where "
        "it takes more it is counted as excepted. Written: bytes of all files to UTF-8 bytes of "
        "the serialised messages.",
        table(OWN_HEAD, own),
        _openings(rows, recordings, windows),
        _unmet([r for r in rows if r["budget"] in OURS]),
    ]
    text = "\n\n".join(part for part in parts if part)
    return Section(
        key="guarantees", title="Guarantees on every request", command=command, text=text
    )


def _kept(name: str, window: int, mine: Sequence[Row]) -> tuple[object, ...]:
    reads = sorted(r["read_chars_median"] for r in mine if r["read_chars_median"])
    hidden = sum(r["hidden_texts"] for r in mine)
    had = sum(r["recoverable"] * r["hidden_texts"] for r in mine)
    worst = min((r["recoverable"] for r in mine), default=1.0)
    return (
        f"{name}, {window:,}",
        len(mine),
        f"{sum(r['requests'] for r in mine):,}",
        sum(r["invalid"] for r in mine),
        sum(r["refused"] for r in mine),
        f"{(had / hidden if hidden else 1.0) * 100:.2f} %",
        f"{worst * 100:.2f} %",
        f"{reads[len(reads) // 2]:,.0f}" if reads else "–",
        sum(r["unread_lost"] for r in mine),
    )


def _own(name: str, window: int, mine: Sequence[Row]) -> tuple[object, ...]:
    steps = sum(r["requests"] for r in mine)
    excepted = sum(r["active_request_exceptions"] for r in mine)
    cut = sum(r["active_request_cut"] for r in mine)
    entered = sum(r["bytes_entered"] for r in mine)
    written = sum((r["bytes_written_ratio"] or 0) * r["bytes_entered"] for r in mine)
    worst = max((r["bytes_written_ratio"] or 0 for r in mine), default=0)
    edits: Counter[str] = Counter()
    for row in mine:
        edits.update(row["edits"])
    room = window - min(20_000, window // 4)
    return (
        f"{name}, {window:,}",
        f"{(steps - excepted - cut) / max(steps, 1) * 100:.2f} %",
        excepted,
        cut,
        f"{max((r['peak_tokens'] for r in mine), default=0) / room * 100:.0f} %",
        f"{written / max(entered, 1):.2f} ×",
        f"{worst:.2f} ×",
        ", ".join(f"{k} {v}" for k, v in edits.most_common()),
    )


def _openings(rows: Sequence[Row], recordings: Sequence[Recording], windows: Sequence[int]) -> str:
    """The recordings whose first user message is large, at the smallest window."""
    large = {
        one.name: size for one in recordings if (size := _opening_bytes(one)) > LARGE_OPENING_BYTES
    }
    window = min(windows)
    listed = [
        (
            f"{row['file']}, {row['budget']}",
            f"{large[row['file']] / 1000:,.0f} KB",
            row["requests"],
            row["refused"],
            row["unanswered"],
            row["active_request_exceptions"],
            row["active_request_cut"],
            f"{row['recoverable'] * 100:.2f} %",
        )
        for row in rows
        if row["file"] in large and row["window"] == window and row["budget"] in OURS
    ]
    if not listed:
        return ""
    head = ("opens with a large message", "its size", "requests", "refused", "not answered",
            "excepted, too large", "cut though not too large", "recoverable")  # fmt: skip
    half = limit_tokens(window) // 2
    return (
        f"At {window:,}, half the limit is {half:,} tokens: a larger request stands by head, "
        f"tail and address.\n\n{table(head, listed)}"
    )


def _opening_bytes(recording: Recording) -> int:
    for message in recording.messages:
        said = "\n".join(user_texts(message, recording.format))
        if said:
            return len(said.encode("utf-8", "replace"))
    return 0


def _unmet(rows: Sequence[Row]) -> str:
    """Every session in which something asked for does not hold, with where it comes from."""
    lines: list[str] = []
    for row in rows:
        where = f"{row['file']} ({row['budget']}, {row['window']:,})"
        if row["invalid"]:
            lines.append(f"- {where}: {row['invalid']} invalid requests: {row['invalid_rules']}")
        if row["refused"]:
            lines.append(f"- {where}: {row['refused']} refused, {row['unanswered']} not answered")
        if row["recoverable"] < 1:
            lines.append(f"- {where}: {row['recoverable'] * 100:.3f} % recoverable")
        if row["unread_lost"]:
            lines.append(f"- {where}: {row['unread_lost']} results gone before they were read")
        if row["active_request_cut"]:
            lines.append(
                f"- {where}: the active request cut in {row['active_request_cut']} requests though "
                "it takes at most half the limit"
            )
        if (row["bytes_written_ratio"] or 0) > MOST_WRITTEN:
            lines.append(f"- {where}: {_written(row)}")
    if not lines:
        return (
            "Nothing asked for is missed: 0 invalid, 0 refused, 100 % recoverable, no result gone "
            f"unread, no request cut within its share, at most {MOST_WRITTEN} × written in every "
            "session."
        )
    return "Not reached:\n\n" + "\n".join(lines)


def _written(row: Row) -> str:
    entered = row["bytes_entered"]
    kinds = sorted(row["bytes_by_kind"].items(), key=lambda one: -one[1])
    shares = ", ".join(
        f"{kind} {size / entered:.3f} ×" + _edit_count(row, kind) for kind, size in kinds[:5]
    )
    return (
        f"written {row['bytes_written_ratio']:.2f} × of {entered:,} bytes in {row['steps']} steps "
        f"(asked at most {MOST_WRITTEN}): {shares}"
    )


def _edit_count(row: Row, kind: str) -> str:
    count = row["edits"].get(kind.removeprefix("edit ")) if kind.startswith("edit ") else None
    return f" ({count} edits)" if count else ""
