"""The report's tables, as HTML that reads without a script."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final, TypeAlias

from wayfare.replay.rows import Row

Cell: TypeAlias = tuple[str, float | None]
"""What a cell shows, and the number it is sorted by."""

_UNSHOWN: Final = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
_REMARKS: Final = 50
"""Remarks listed; a ruined recording has thousands, all alike."""


def escaped(text: str) -> str:
    """`text` for HTML; characters that HTML cannot hold, and those that turn
    the writing direction, become U+FFFD."""
    return escape(_UNSHOWN.sub("\ufffd", text))


def count(value: float) -> str:
    """A whole number with separators."""
    return f"{value:,.0f}"


def percent(share: float) -> str:
    """A share of 0 to 1; never rounded up to all or down to nothing."""
    if share in (0.0, 1.0):
        return f"{share:.0%}"
    return f"{min(max(share * 100, 0.1), 99.9):.1f}%"


def times(row: Row) -> float:
    """What governance costs against none."""
    return row["cost"] / row["cost_ungoverned"] if row["cost_ungoverned"] else 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Column:
    """One column: its title, its unit, what it means, and how to fill it from a row."""

    title: str
    unit: str = ""
    meaning: str = ""
    cell: Callable[[Row], Cell]
    kind: str = ""
    """CSS class: `text`, `wrap`, or empty for a number."""


def _number(key: str) -> Callable[[Row], Cell]:
    return lambda row: (count(row[key]), row[key]) if key in row else ("", None)


def _share(key: str) -> Callable[[Row], Cell]:
    return lambda row: (percent(row[key]), row[key])


def _word(key: str) -> Callable[[Row], Cell]:
    return lambda row: (str(row.get(key, "")), None)


def _milliseconds(key: str) -> Callable[[Row], Cell]:
    def cell(row: Row) -> Cell:
        found = row.get("governance_ms", {}).get(key)
        return ("", None) if found is None else (f"{found:.2f}", found)

    return cell


def _edits(row: Row) -> Cell:
    made: Mapping[str, int] = row["edits"]
    text = ", ".join(f"{name} {number:,}" for name, number in made.items())
    return text or "none", float(sum(made.values()))


def _ratio(row: Row) -> Cell:
    found = row.get("bytes_written_ratio")
    return ("", None) if found is None else (f"{found:.2f} ×", found)


_COLUMNS: Final = (
    _Column(title="format", cell=_word("format"), kind="text"),
    _Column(title="budget", cell=_word("budget"), kind="text"),
    _Column(title="window", unit="tokens", cell=_number("window")),
    _Column(title="steps", cell=_number("steps"), meaning="Replies of the model in the recording."),
    _Column(
        title="requests",
        cell=_number("requests"),
        meaning="How many were made; fewer than steps where the session had to stop.",
    ),
    _Column(title="tokens sent", cell=_number("tokens_sent"), meaning="Sum of all requests."),
    _Column(
        title="cost",
        unit="input tokens",
        cell=_number("cost"),
        meaning="In units of one input token: a token read from the prompt cache 0.1, written to "
        "it 1.25, of output 5. The cache is simulated: it holds the longest common prefix of two "
        "requests for five minutes.",
    ),
    _Column(
        title="ungoverned",
        unit="input tokens",
        cell=_number("cost_ungoverned"),
        meaning="What sending the whole history every time would cost, if a window had no end.",
    ),
    _Column(
        title="ratio", cell=lambda r: (f"{times(r):.2f} ×", times(r)), meaning="Cost against that."
    ),
    _Column(
        title="edits",
        cell=_edits,
        kind="wrap",
        meaning="What the passes committed. An edit hides or shortens what the model sees; the "
        "log keeps everything.",
    ),
    _Column(title="summaries", cell=_number("summaries"), meaning="Made by a model."),
    _Column(
        title="file names",
        unit="needed, visible",
        cell=_share("needed_files"),
        meaning="Of the file names the recording uses in its next ten replies and that occurred "
        "earlier, the share that stands in the request.",
    ),
    _Column(
        title="identifiers",
        unit="needed, visible",
        cell=_share("needed_identifiers"),
        meaning="The same for identifiers.",
    ),
    _Column(
        title="content",
        unit="needed, visible",
        cell=_share("needed_content"),
        meaning="Of the text that the next edits replace and that was seen earlier, the share "
        "that stands whole in the request.",
    ),
    _Column(
        title="recoverable",
        cell=_share("recoverable"),
        meaning="Of all texts that ever entered, the share that the last request shows or leads "
        "to by an address, in at most two reads.",
    ),
    _Column(
        title="active request",
        unit="visible",
        cell=_share("active_request_visible"),
        meaning="Of the requests in which the user's current words must stand verbatim, the share "
        "in which they do.",
    ),
    _Column(
        title="invalid",
        cell=_number("invalid"),
        meaning="Requests that break a rule of the provider, judged on the wire.",
    ),
    _Column(
        title="refused",
        cell=_number("refused"),
        meaning="Requests that did not fit the window, counted with the o200k vocabulary.",
    ),
    _Column(
        title="bytes written",
        unit="of those entered",
        cell=_ratio,
        meaning="Log, archive and tables of contents against the messages as JSON.",
    ),
    _Column(
        title="median",
        unit="ms a request",
        cell=_milliseconds("median"),
        meaning="What preparing a request took, file writes included.",
    ),
    _Column(title="p99", unit="ms", cell=_milliseconds("p99")),
    _Column(title="last", unit="ms", cell=_milliseconds("last")),
    _Column(title="transcript", cell=_word("session"), kind="text"),
    _Column(title="stopped", cell=_word("stopped"), kind="wrap"),
)
_ALARMING: Final = ("invalid", "refused")


def lede(rows: Sequence[Row], sessions: int) -> str:
    """One line under the title: how much of what."""
    windows = ", ".join(count(w) for w in dict.fromkeys(row["window"] for row in rows))
    budgets = ", ".join(dict.fromkeys(str(row["budget"]) for row in rows))
    said = f"{sessions} recorded session{'s' if sessions != 1 else ''}"
    return escaped(f"{said} · window {windows} tokens · budget {budgets}") if rows else said


def glance(sums: Sequence[Row]) -> str:
    """The budgets side by side, over all sessions."""
    measures: tuple[tuple[str, str, Callable[[Row], str]], ...] = (
        ("cost", "of no governance", lambda r: f"{times(r):.2f} ×"),
        ("tokens sent", "", lambda r: count(r["tokens_sent"])),
        ("requests", "", lambda r: count(r["requests"])),
        ("edits", "", lambda r: count(sum(r["edits"].values()))),
        ("file names", "needed, visible", lambda r: percent(r["needed_files"])),
        ("identifiers", "needed, visible", lambda r: percent(r["needed_identifiers"])),
        ("content", "needed, visible", lambda r: percent(r["needed_content"])),
        ("recoverable", "of all that entered", lambda r: percent(r["recoverable"])),
        ("invalid", "requests", lambda r: count(r["invalid"])),
        ("refused", "requests", lambda r: count(r["refused"])),
    )
    heads = "".join(_head(title, unit) for title, unit, _ in measures)
    lines: list[str] = []
    for row in sums:
        cells = "".join(
            f'<td data-label="{_label(title, unit)}">{escaped(told(row))}</td>'
            for title, unit, told in measures
        )
        lines.append(f'<tr><th scope="row">{escaped(str(row["budget"]))}</th>{cells}</tr>')
    return (
        '<div class="scroll"><table class="cards glance"><thead><tr>'
        f'<th scope="col" class="text">budget</th>{heads}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def _head(title: str, unit: str, kind: str = "") -> str:
    small = f"<br><small>{unit}</small>" if unit else ""
    mark = f' class="{kind}"' if kind else ""
    return f'<th scope="col"{mark}>{title}{small}</th>'


def _label(title: str, unit: str) -> str:
    return f"{title}, {unit}" if unit else title


def sessions_table(rows: Sequence[Row], sessions: Sequence[int], sums: Sequence[Row]) -> str:
    """Every field of every session, and their sums where there are several."""
    several = len(set(sessions)) > 1
    body = "".join(
        _line(_named(row, session, linked=several), row, session)
        for row, session in zip(rows, sessions, strict=True)
    )
    foot = ""
    if several:
        lines = (_line(f"{s['sessions']} sessions", s, None) for s in sums)
        foot = f"<tfoot>{''.join(lines)}</tfoot>"
    heads = _head("context", "against the limit", "text")
    heads += "".join(_head(c.title, c.unit, _place(c)) for c in _COLUMNS)
    return (
        '<div class="scroll" tabindex="0" role="region" aria-labelledby="all">'
        f'<table class="cards runs"><thead><tr><th scope="col" class="text">session</th>{heads}</tr>'
        f"</thead><tbody>{body}</tbody>{foot}</table></div>"
    )


def _named(row: Row, session: int, *, linked: bool) -> str:
    name = f'<span class="name">{escaped(str(row["file"]))}</span>'
    return f'<a href="#session-{session + 1}">{name}</a>' if linked else name


def _line(name: str, row: Row, session: int | None) -> str:
    cells: list[str] = []
    for column in _COLUMNS:
        text, value = column.cell(row)
        kinds = [column.kind] if column.kind else []
        if column.title in _ALARMING and value:
            kinds.append("bad")
        kind = f' class="{" ".join(kinds)}"' if kinds else ""
        sort = f' data-value="{value:g}"' if value is not None else ""
        label = _label(column.title, column.unit)
        cells.append(f'<td data-label="{label}"{kind}{sort}>{escaped(text)}</td>')
    mark = f' data-session="{session}"' if session is not None else ""
    drawn = '<td class="spark-cell" data-label="context, against the limit"></td>'
    first = drawn if session is not None else "<td></td>"
    return f'<tr{mark}><th scope="row">{name}</th>{first}{"".join(cells)}</tr>'


def _place(column: _Column) -> str:
    return "text" if column.kind else ""


def remarks(rows: Sequence[Row]) -> str:
    """What a reader must know beside the numbers: lines not read, invalid requests, stops."""
    told: dict[str, None] = {}
    for row in rows:
        said = [*row["problems"], *([f"stopped: {row['stopped']}"] if row["stopped"] else [])]
        told.update(dict.fromkeys(f"{row['file']} ({row['budget']}): {text}" for text in said))
    if not told:
        return ""
    items = [f"<li><span class='name'>{escaped(text)}</span></li>" for text in told]
    more = len(items) - _REMARKS
    if more > 0:
        items = [*items[:_REMARKS], f"<li>and {more:,} more</li>"]
    return f'<h3>Remarks</h3><ul class="remarks">{"".join(items)}</ul>'


def reading() -> str:
    """What the drawing shows and what each column means."""
    lines = [
        (
            "the drawing",
            "One step of the staircase is one request: its height is what the provider counted, "
            "split by who authored it (shares as the runtime's own meter sees them). An arrow "
            "leads from the size before an edit to the size after it (where too many stand side by "
            "side, the largest; zooming in shows the others); the lanes below say which pass made "
            "it. The dotted line is what a request would hold had nothing been edited.",
        ),
        ("limit, window", "Passes start above the limit; the provider refuses beyond the window."),
        (
            "keys",
            "On a drawing: arrows, Page up, Page down, Home and End step; N and P go to the next "
            "and previous edit; + and − zoom, 0 shows all; dragging zooms into a span.",
        ),
    ]
    lines += [(column.title, column.meaning) for column in _COLUMNS if column.meaning]
    items = "".join(f"<dt>{escaped(t)}</dt><dd>{escaped(m)}</dd>" for t, m in lines)
    return f"<dl>{items}</dl>"
