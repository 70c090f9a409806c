"""The two trees have one shape, every link leads somewhere, and the reference is what the code says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from docs.generate.__main__ import PAGES, differing
from tests.docs.pages import DOCS, ROOT, headings, links, pages, prose

READMES = [
    ROOT / "README.md",
    ROOT / "README.zh.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
]
EVERY = [
    *READMES,
    *(DOCS / language / page for language in ("en", "zh") for page in pages(language)),
]
_HAN = re.compile(r"[\u4e00-\u9fff]")


def test_both_languages_have_the_same_pages() -> None:
    assert pages("en") == pages("zh")
    assert len(pages("en")) > 15


@pytest.mark.parametrize("page", pages("en"), ids=str)
def test_a_page_has_the_same_headings_in_both_languages(page: Path) -> None:
    levels = [
        [heading.partition(" ")[0] for heading in headings(DOCS / language / page)]
        for language in ("en", "zh")
    ]
    assert levels[0] == levels[1]


@pytest.mark.parametrize("page", pages("en"), ids=str)
def test_each_tree_is_in_its_language(page: Path) -> None:
    assert not _HAN.search(prose(DOCS / "en" / page).replace("中文", ""))
    assert _HAN.search(prose(DOCS / "zh" / page))


@pytest.mark.parametrize("page", EVERY, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    for target in links(page):
        if re.match(r"https?://", target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), f"{target}: no such file"
        assert file.is_relative_to(ROOT), f"{target} leads out of the repository"
        if anchor:
            assert anchor in {_anchor(h) for h in headings(file)}, f"{target}: no such heading"


def test_every_page_can_be_reached_from_the_first() -> None:
    for language in ("en", "zh"):
        seen, ahead = set[Path](), [DOCS / language / "index.md"]
        while ahead:
            page = ahead.pop()
            if page in seen:
                continue
            seen.add(page)
            found = ((page.parent / t.partition("#")[0]).resolve() for t in links(page))
            ahead += [p for p in found if p.suffix == ".md" and p.is_relative_to(DOCS / language)]
        assert {p.relative_to(DOCS / language) for p in seen} >= set(pages(language))


def test_the_reference_is_what_the_code_says() -> None:
    assert differing() == [], "run: python -m docs.generate"
    assert set(PAGES) <= {str(page) for page in pages("en")}


def _anchor(heading: str) -> str:
    """The anchor the usual renderers make of a heading."""
    text = re.sub(r"[`*]", "", heading.lstrip("# ")).lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
