"""The HTML report: one file, nothing fetched, nothing run but its own script, all figures in it."""

from __future__ import annotations

import json
import math
import re
from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from html.parser import HTMLParser
from importlib.resources import files
from itertools import accumulate, combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayfare.replay.needed import Shares
from wayfare.replay.reachable import Reachable
from wayfare.replay.replay import Result
from wayfare.replay.report import report
from wayfare.replay.report_data import ORIGINS, chart_data, groups, split_tokens
from wayfare.replay.rows import row, totals
from wayfare.replay.timeline import EditNote, Point


def point(step: int = 0, **fields: Any) -> Point:
    given: dict[str, Any] = {
        "tokens": 1_000 + step,
        "believed_tokens": 990 + step,
        "chars": 4_000,
        "by_origin": {"user": 100, "assistant": 300, "tool": 600},
        "cost": 10.0 * step,
        "entered_tokens": 1_000 + 50 * step,
    }
    return Point(step=step, **{**given, **fields})


def result(file: str = "one.json", budget: str = "window", **fields: Any) -> Result:
    given: dict[str, Any] = {
        "format": "anthropic",
        "window": 50_000,
        "steps": 3,
        "requests": 3,
        "invalid": 0,
        "refused": 0,
        "recoverable": 1.0,
        "active_request_visible": 1.0,
        "needed_files": 0.5,
        "needed_identifiers": 0.25,
        "needed_content": 1.0,
        "tokens_sent": 3_003,
        "cost": 1_000.0,
        "cost_ungoverned": 4_000.0,
        "summaries": 0,
        "edits": {"digest": 1},
        "bytes_written_ratio": 1.05,
        "governance_ms": {"median": 0.5, "p99": 2.0, "last": 0.4},
        "session": "1-window",
        "limit": 32_500,
        "points": tuple(point(step) for step in range(3)),
    }
    return Result(file=file, budget=budget, **{**given, **fields})


class _Page(HTMLParser):
    """Collects what a browser would see."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def embedded(page: str) -> dict[str, Any]:
    """The data of the drawing, as a browser would parse it."""
    found = re.search(r'<script type="application/json" id="runs">(.*?)</script>', page, re.S)
    assert found is not None
    return json.loads(found[1])


def test_the_page_refers_to_nothing_outside_of_itself() -> None:
    page = report([result()])
    assert "http:" not in page
    assert "https:" not in page
    assert "url(" not in page
    for tag, attributes in _Page(page).tags:
        assert tag not in ("img", "iframe", "object", "embed", "base", "form"), tag
        assert not any(name.startswith("on") for name in attributes)
        for name in ("src", "href"):
            target = attributes.get(name)
            assert target is None or target == "data:," or target.startswith("#session-")


def test_its_policy_lets_only_its_own_script_and_style_run() -> None:
    page = report([result()])
    policy = next(a["content"] for t, a in _Page(page).tags if "http-equiv" in a)
    assert policy is not None
    assert policy.startswith("default-src 'none'")
    for kind, tag in (("script", "script"), ("style", "style")):
        content = re.search(rf"<{tag}>(.*?)</{tag}>", page, re.S)
        assert content is not None
        hashed = b64encode(sha256(content[1].encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{hashed}'" in policy


@pytest.mark.parametrize(
    "name",
    [
        "</script><script>alert(1)</script>.json",
        "<img src=x onerror=alert(1)>",
        "<!--",
        "]]>",
        "${data} $title $$",
        "a&lt;b&amp;c",
        "'\"` onmouseover=x",
        "nul\x00 escape\x1b[31m",
        "lone \ud83d surrogate",
    ],
)
def test_hostile_names_are_shown_and_never_run(name: str) -> None:
    hostile = result(
        name,
        stopped=name,
        unread=(name,),
        points=(point(edits=(EditNote(by="digest", reason=name),), before_tokens=9),),
    )
    page = report([hostile, result("other.json")])
    page.encode("utf-8")
    parsed = _Page(page)
    assert [tag for tag, _ in parsed.tags].count("script") == 2
    assert "img" not in [tag for tag, _ in parsed.tags]
    data = embedded(page)
    assert data["runs"][0]["file"] == name
    assert data["reasons"] == [name]
    shown = re.sub("[\x00\x1b\ud83d]", "\ufffd", name)
    assert any(shown in text for text in parsed.texts)


def test_every_field_of_every_session_stands_in_the_table() -> None:
    results = [result("a.json"), result("b.json", stopped="no room", invalid=7, refused=3)]
    page = report(results)
    cells = re.findall(r'<td data-label="([^"]*)"([^>]*)>([^<]*)</td>', page)
    labels = {label.split(",")[0] for label, _, _ in cells}
    assert labels >= {
        "format", "budget", "window", "steps", "requests", "tokens sent", "cost", "ungoverned",
        "edits", "summaries", "file names", "identifiers", "content", "recoverable",
        "active request", "invalid", "refused", "bytes written", "median", "p99", "last",
        "transcript", "stopped",
    }  # fmt: skip
    shown = {(label.split(",")[0], text) for label, _, text in cells}
    for expected in (("invalid", "7"), ("refused", "3"), ("stopped", "no room"),
                     ("file names", "50.0%"), ("edits", "digest 1"), ("p99", "2.00")):  # fmt: skip
        assert expected in shown
    assert all("bad" in kind for label, kind, text in cells if label == "invalid" and text == "7")
    assert "2 sessions" in page


def test_the_drawing_gets_back_what_was_measured() -> None:
    edits = (EditNote(by="microcompact", reason="7 results"), EditNote(by="digest", reason="full"))
    points = (
        point(0, tokens=900, refused=True),
        point(1, tokens=30_000),
        point(2, tokens=12_000, edits=edits, before_tokens=33_000, after_tokens=11_000, cost=7.4),
    )
    data = embedded(report([result(points=points)]))
    (run,) = data["runs"]
    assert list(accumulate(run["tokens"])) == [900, 30_000, 12_000]
    assert list(accumulate(run["entered"])) == [1_000, 1_050, 1_100]
    assert list(accumulate(run["cost"])) == [0, 10, 7]
    assert run["refused"] == [0]
    assert (run["limit"], run["window"], run["limitChars"]) == (32_500, 50_000, 0)
    ((at, before, after, made),) = run["edits"]
    assert (at, before, after) == (2, 33_000, 11_000)
    told = [(data["passes"][made[i]], data["reasons"][made[i + 1]]) for i in range(0, len(made), 2)]
    assert told == [("microcompact", "7 results"), ("digest", "full")]
    by_origin = [
        list(accumulate(run["origins"][o])) for o in data["origins"] if o in run["origins"]
    ]
    assert [sum(parts) for parts in zip(*by_origin, strict=True)] == [900, 30_000, 12_000]


def test_a_limit_in_characters_is_drawn_at_the_tokens_they_hold() -> None:
    four_chars_a_token = tuple(point(step, tokens=1_000, chars=4_000) for step in range(3))
    data = embedded(
        report([result(budget="classic", limit_chars=50_000, points=four_chars_a_token)])
    )
    assert (data["runs"][0]["limit"], data["runs"][0]["limitChars"]) == (12_500, 50_000)
    small = result(limit_chars=50_000, limit=8_000, points=four_chars_a_token)
    data = embedded(report([small]))
    assert (data["runs"][0]["limit"], data["runs"][0]["limitChars"]) == (8_000, 0)


@given(
    st.integers(0, 10**7),
    st.dictionaries(st.sampled_from(ORIGINS), st.integers(0, 10**6), max_size=7),
)
def test_parts_by_origin_always_add_up(tokens: int, by_origin: dict[str, int]) -> None:
    parts = split_tokens(point(tokens=tokens, by_origin=by_origin))
    assert sum(parts.values()) == tokens
    assert all(part >= 0 for part in parts.values())


def test_budgets_of_one_session_stand_side_by_side() -> None:
    pairs = [("a", "window"), ("a", "classic"), ("b", "window"), ("b", "window"), ("b", "classic")]
    assert groups([result(file, budget) for file, budget in pairs]) == [0, 0, 1, 2, 2]


def test_five_thousand_steps_make_a_small_file() -> None:
    edit = (EditNote(by="snip", reason="54 messages, over 50"),)
    points = tuple(
        point(step, tokens=20_000 + step * 37 % 9_000, edits=edit, before_tokens=9, cost=step * 1e4)
        for step in range(5_000)
    )
    assert len(chart_data([result(points=points)])) < 400_000


def test_a_session_without_requests_has_a_page() -> None:
    page = report([result(points=(), requests=0, cost=0.0, cost_ungoverned=0.0, edits={})])
    assert embedded(page)["runs"][0]["tokens"] == []
    assert report([]).startswith("<!doctype html>")


def test_sums_weigh_sessions_by_what_they_hold() -> None:
    long = result(
        shares=Shares(files=90, files_total=100),
        reach=Reachable(texts=98, visible=40, recovered=58),
        promised=10,
        kept=10,
        edits={"digest": 2},
    )
    short = result(
        "two.json",
        shares=Shares(files=0, files_total=10),
        reach=Reachable(texts=2, visible=0, recovered=1, lost=(4,)),
        promised=10,
        kept=5,
        edits={"digest": 1, "snip": 4},
    )
    (total,) = totals([long, short])
    assert total["needed_files"] == pytest.approx(90 / 110)
    assert total["recoverable"] == pytest.approx(0.99)
    assert total["active_request_visible"] == 0.75
    assert total["edits"] == {"digest": 3, "snip": 4}
    assert (total["requests"], total["cost"], total["sessions"]) == (6, 2_000.0, 2)
    assert [t["budget"] for t in totals([long, result(budget="classic")])] == ["window", "classic"]


def test_rows_tell_lines_not_read_and_invalid_requests() -> None:
    told = row(result(unread=("line 3: not JSON",), problems=("request 7: pairs",)))
    assert told["problems"] == ["line 3: not JSON", "request 7: pairs"]


def _palettes() -> list[dict[str, str]]:
    style = files("wayfare.replay").joinpath("report.css").read_text("utf-8")
    found: list[dict[str, str]] = []
    for block in re.findall(r":root \{(.*?)\}", style, re.S):
        colours = dict(re.findall(r"--([a-z]+): (#[0-9a-f]{6});", block))
        found.append({name: colours[name] for name in (*ORIGINS, "card")})
    return found


_SIGHT = {
    "usual": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "without red": (
        (0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "without green": (
        (0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "without blue": (
        (1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}  # fmt: skip
"""How linear RGB appears to eyes that lack a receptor (Machado, Oliveira and Fernandes, 2009)."""
_CLEAR = 20.0
"""CIE76 distance; 2.3 is just noticeable."""


def _lab(rgb: Sequence[float]) -> tuple[float, float, float]:
    red, green, blue = (min(max(part, 0.0), 1.0) for part in rgb)
    x = (0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.9505
    y = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    z = (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.089
    fx, fy, fz = (t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in (x, y, z))
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


def _seen(colour: str, sight: Sequence[Sequence[float]]) -> tuple[float, float, float]:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [((p + 0.055) / 1.055) ** 2.4 if p > 0.04045 else p / 12.92 for p in parts]
    return _lab([sum(w * p for w, p in zip(weights, linear, strict=True)) for weights in sight])


@pytest.mark.parametrize("palette", _palettes(), ids=["light", "dark"])
@pytest.mark.parametrize("sight", _SIGHT)
def test_every_eye_tells_the_colours_apart(palette: dict[str, str], sight: str) -> None:
    """From each other and from the paper they are drawn on."""
    seen = {name: _seen(colour, _SIGHT[sight]) for name, colour in palette.items()}
    for one, other in combinations(seen, 2):
        assert math.dist(seen[one], seen[other]) > _CLEAR, (one, other)
