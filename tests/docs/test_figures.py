"""Figures that pages quote stand in BENCHMARKS.md as they are quoted, those of pictures in them.

All figures of a sentence, or of a table's row, stand in one section: by itself a figure may well
stand somewhere by chance.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
QUOTING = [
    f"docs/{tree}/{page}.md" for tree in ("en", "zh") for page in ("bill-and-wait", "design")
]
PAGES = [*QUOTING, "README.md", "README.zh.md", "CHANGELOG.md"]
DOLLARS_A_MILLION = 3
_FENCE = re.compile(r"^(`{3,}).*?^\1$", re.M | re.S)
_CODE = re.compile(r"`[^`\n]*`|\]\([^)\n]*\)|\d+ [年月]")
_SENTENCE = re.compile(r"(?<=[.;:])\s+|(?<=[。；：])|\n")
_QUOTED = re.compile(
    r"(?<![\w.,\-/@$])(?:\d{1,3}(?:,\d{3})+|\d+\.\d+|\d+(?= [%×])|\d{2,})(?: [%×])?(?![.,]?\d|-\w)",
    re.A,
)
"""Numbers of two figures and more, numbers with a fraction, shares and ratios."""
_NO_MEASURE = {
    # Windows and round sizes of what is measured, among them those of a generated session.
    *("1,000", "5,000", "12,500", "50,000", "200,000"),
    # Settings and what their pages say of them: characters of an index, a share, seconds.
    *("1,900", "44 %", "1.5", "10"),
    # Prices of a provider, as a multiple.
    "1.25",
    # The column `ms` of a replay, which anybody sees on their own recordings.
    *("0.1", "0.6"),
    # Versions of Python, and ours; the year of a size.
    *("3.11", "3.12", "3.13", "0.1.0", "1.0", "2026"),
}
_SIZE = re.compile(r"\d+ MB")
_MONEY = re.compile(r"\| ([\d,]+) \| (\d+) \|")


def quoted(page: str) -> Iterator[tuple[int, list[str]]]:
    """The figures of each sentence of a page, with its line; code, links and dates quote nothing."""
    text = (ROOT / page).read_text("utf-8")
    text = _FENCE.sub(lambda fence: "\n" * fence[0].count("\n"), text)
    for number, line in enumerate(text.splitlines(), start=1):
        for sentence in _SENTENCE.split(
            _MONEY.sub(r"| \1 | |", _SIZE.sub("", _CODE.sub("", line)))
        ):
            found = [f for f in _QUOTED.findall(sentence) if f not in _NO_MEASURE]
            if found:
                yield number, found


def sections() -> Mapping[str, str]:
    """The sections of BENCHMARKS.md by name."""
    text = (ROOT / "BENCHMARKS.md").read_text("utf-8")
    parts = re.split(r"<!-- section: (\S+) -->", text)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def measured(figure: str, section: str) -> bool:
    """Whether a figure stands there by itself, not as a part of another one."""
    return bool(re.search(rf"(?<![\d.,]){re.escape(figure)}(?![.,]?\d)", section))


@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_quotes_was_measured(page: str) -> None:
    found = list(quoted(page))
    assert found or page not in QUOTING
    old: list[str] = []
    for line, figures in found:
        lacking = {
            name: [figure for figure in figures if not measured(figure, text)]
            for name, text in sections().items()
        }
        nearest = min(lacking, key=lambda name: len(lacking[name]))
        if lacking[nearest]:
            old.append(f"{page}:{line}: not in section {nearest}: {', '.join(lacking[nearest])}")
    assert old == []


def test_the_money_is_what_the_units_cost() -> None:
    rows = [row for page in QUOTING for row in _MONEY.findall(_text(page))]
    assert len(rows) == 10
    for units, dollars in rows:
        assert float(dollars) == pytest.approx(
            int(units.replace(",", "")) * DOLLARS_A_MILLION / 1_000, abs=0.5
        )


def _text(page: str) -> str:
    return (ROOT / page).read_text("utf-8")


def test_the_sizes_of_an_installation_are_the_same_in_both_languages() -> None:
    english, chinese = (sorted(_SIZE.findall(_text(p))) for p in ("README.md", "README.zh.md"))
    assert english == chinese
    assert english


@pytest.mark.parametrize("tree", ["en", "zh"])
def test_what_the_page_of_pictures_says_of_one_stands_in_it(tree: str) -> None:
    drawn = "".join(file.read_text("utf-8") for file in (ROOT / "docs/pictures" / tree).iterdir())
    told = re.findall(r"\d{2},\d{3}", _text(f"docs/{tree}/how-it-works.md"))
    assert "20,032" in told
    assert [f for f in told if f not in _NO_MEASURE and f">{f}<" not in drawn] == []


@pytest.mark.parametrize(
    ("figure", "there"), [("28 %", True), ("8 %", False), ("1,9", False), ("0.87", False)]
)
def test_a_part_of_a_figure_is_not_that_figure(figure: str, there: bool) -> None:
    assert measured(figure, "| 28 % | 1,900 | 0.870 |") is there
