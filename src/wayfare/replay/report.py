"""The HTML report of a replay: one self-contained file that opens offline.

Everything a session could have put a text into is escaped; beyond that the page's own policy lets
nothing run but the one script it came with, and nothing be fetched.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from importlib.resources import files
from string import Template
from typing import Final

from wayfare.replay import report_tables as tables
from wayfare.replay.replay import Result
from wayfare.replay.report_data import chart_data, groups
from wayfare.replay.rows import row, totals

_TEMPLATES: Final = "wayfare.replay"


def report(results: Sequence[Result]) -> str:
    """The report as HTML, in valid Unicode whatever the sessions are called."""
    style, script = _template("report.css"), _template("report.js")
    rows = [row(result) for result in results]
    sums = totals(results)
    by_session = groups(results)
    sessions = len(set(by_session))
    names = list(dict.fromkeys(result.file for result in results))
    title = (
        f"wayfare replay: {names[0]}" if len(names) == 1 else f"wayfare replay: {sessions} sessions"
    )
    return Template(_template("report.html")).substitute(
        title=tables.escaped(title),
        lede=tables.lede(rows, sessions),
        glance=tables.glance(sums),
        table=tables.sessions_table(rows, by_session, sums),
        remarks=tables.remarks(rows),
        reading=tables.reading(),
        style=style,
        style_hash=_hash(style),
        script=script,
        script_hash=_hash(script),
        data=chart_data(results),
    )


def _template(name: str) -> str:
    return files(_TEMPLATES).joinpath(name).read_text("utf-8")


def _hash(content: str) -> str:
    """What the page's policy knows its own style and script by."""
    return "sha256-" + b64encode(sha256(content.encode()).digest()).decode()
