"""The index and the manifest: lines, budgets, order, numbers."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayfare.memory.folder import Entry, Folder, natural
from wayfare.memory.index import HEADING, Index, IndexOrder, build_index, index_line
from wayfare.memory.journal import JournalState
from wayfare.memory.limits import MemoryLimits
from wayfare.memory.manifest import age, build_manifest

DAY_NS = 86_400_000_000_000


def entry(number: int, **more: object) -> Entry:
    fields: dict[str, object] = {
        "file": f"m{number}.md",
        "name": f"m{number}",
        "description": f"fact number {number}",
        "type": "project",
        "sha256": str(number),
        "size_bytes": 10,
        "stamp": f"10-{1_700_000_000_000_000_000 + number * DAY_NS}-{number}",
    }
    return Entry(**{**fields, **more})  # type: ignore[arg-type]


def index_of(
    *entries: Entry,
    state: JournalState | None = None,
    used: dict[str, float] | None = None,
    limits: MemoryLimits | None = None,
) -> Index:
    order = IndexOrder()
    for one in entries:
        order.put(one, state or JournalState(), used or {})
    return build_index(order, limits or MemoryLimits())


def listed(index: Index) -> list[str]:
    return re.findall(r"\]\(([^)]+)\) — ", index.text)


def test_the_newest_survive_the_line_budget_and_the_rest_is_on_pages() -> None:
    entries = [entry(n, type="user" if n == 1 else "project") for n in range(1, 251)]
    index = index_of(*entries)
    assert len(index.text.splitlines()) == 200
    assert listed(index)[:2] == ["m250.md", "m249.md"]
    assert index.room.left_out == 52
    last = index.text.splitlines()[-1]
    assert last == (
        "*52 more records are not listed here: .wayfare/index/user.md (1), "
        ".wayfare/index/project.md (51)*"
    )
    on_pages = re.findall(r"\]\(([^)]+)\)", "".join(index.pages.values()))
    assert sorted(on_pages + listed(index)) == sorted(e.file for e in entries)


def test_the_byte_budget_cuts_between_lines() -> None:
    entries = [entry(n, description="中文描述很长" * 55 + f"编号{n}") for n in range(1, 61)]
    index = index_of(*entries)
    assert len(index.text.encode()) <= 25 * 1_024
    assert listed(index)[0] == "m60.md"
    assert all(line.endswith(("…", "*", "-->")) for line in index.text.splitlines())
    assert index.room.bytes_left >= 0
    assert "编号1\n" in index.pages["project"]


def test_order_is_standing_corrected_used_changed() -> None:
    state = JournalState(corrected={"m2.md": 5.0}, changed={"m4.md": 2_000_000_000.0})
    entries = [entry(n, always=n == 1) for n in range(1, 6)]
    index = index_of(*entries, state=state, used={"m3.md": 7.0})
    assert listed(index) == ["m1.md", "m2.md", "m3.md", "m4.md", "m5.md"]


def test_an_empty_memory_has_an_empty_index() -> None:
    assert index_of().text == HEADING + "\n"


@pytest.mark.parametrize(
    ("more", "line"),
    [
        ({"name": "a [b]"}, r"- [a \[b\]](m1.md) — fact number 1"),
        ({"file": "foo (1).md"}, "- [m1](<foo (1).md>) — fact number 1"),
        ({"description": "one\n- [evil](x.md) — two"}, "- [m1](m1.md) — one - [evil](x.md) — two"),
        ({"name": "\n"}, "- [m1](m1.md) — fact number 1"),
    ],
)
def test_a_line_stays_one_line(more: dict[str, object], line: str) -> None:
    assert index_line(entry(1, **more)) == line


def test_ranking_a_record_again_moves_it() -> None:
    order = IndexOrder()
    for n in (1, 2, 3):
        order.put(entry(n), JournalState(), {})
    order.put(entry(1), JournalState(), {"m1.md": 1.0})
    order.remove("m3.md")
    order.remove("m3.md")
    assert list(order) == ["m1.md", "m2.md"]
    assert len(order) == 2


def test_a_dated_record_is_ranked_by_its_date() -> None:
    index = index_of(entry(1, updated="2033-01-01"), entry(2, created="2032-01-01"), entry(3))
    assert listed(index) == ["m1.md", "m2.md", "m3.md"]


def test_the_manifest_numbers_records_from_zero() -> None:
    entries = [entry(1), entry(2, type="user", description="a\nb")]
    now = 1_700_000_000.0 + 4 * 86_400
    manifest = build_manifest(entries, now=now, when=lambda e: e.written)
    assert manifest.text.splitlines() == [
        "[0] project | m1.md | 3 days ago | fact number 1",
        "[1] user | m2.md | 2 days ago | a b",
    ]
    assert manifest.files == ("m1.md", "m2.md")
    assert not manifest.narrowed


def test_descriptions_are_shortened_before_a_record_is_left_out() -> None:
    entries = [entry(n, description="x" * 400) for n in range(80)]
    manifest = build_manifest(entries, now=0.0, when=lambda e: 0.0)
    assert len(manifest.files) == 80
    assert len(manifest.text) <= 12_000
    assert not manifest.narrowed


def test_a_long_manifest_is_narrowed_to_the_likely_and_standing() -> None:
    entries = [entry(n, always=n == 999, description="x" * 300) for n in range(1_000)]
    asked: list[int] = []

    def likely(count: int) -> list[str]:
        asked.append(count)
        return ["m700.md", "m500.md"]

    manifest = build_manifest(entries, now=0.0, when=lambda e: 0.0, likely=likely)
    assert asked == [200]
    assert manifest.files[:4] == ("m999.md", "m700.md", "m500.md", "m0.md")
    assert len(manifest.text) <= 12_000
    assert manifest.narrowed


def test_a_folder_lists_by_value_of_numbers() -> None:
    folder = Folder()
    for n in (10, 9, 1):
        folder.put(entry(n))
    assert [e.file for e in folder.in_order()] == ["m1.md", "m9.md", "m10.md"]
    assert natural("9.md") < natural("10.md") < natural("a.md")


def test_a_folder_finds_by_name_file_and_spelling() -> None:
    folder = Folder()
    folder.put(entry(1, name="Deploy Notes", file="x.md"))
    for name in ("x", "x.md", "deploy_notes", "DEPLOY notes"):
        found = folder.find(name)
        assert found is not None
        assert found.file == "x.md"
    folder.remove("x.md")
    assert folder.find("deploy notes") is None


@pytest.mark.parametrize(
    ("days", "told"),
    [(0, "today"), (1, "1 day ago"), (45, "1 month ago"), (800, "2 years ago"), (-3, "today")],
)
def test_ages(days: int, told: str) -> None:
    assert age(days * 86_400.0) == told


@given(
    moves=st.lists(
        st.tuples(st.integers(1, 12), st.sampled_from(["project", "user", "gone"]), st.booleans()),
        max_size=40,
    ),
    lines=st.integers(3, 9),
)
def test_an_index_kept_step_by_step_is_the_one_made_at_once(
    moves: list[tuple[int, str, bool]], lines: int
) -> None:
    """Pages are kept from one index to the next; what was kept must never show."""
    limits = MemoryLimits(index_lines=lines)
    order = IndexOrder()
    present: dict[str, Entry] = {}
    for number, kind, always in moves:
        if kind == "gone":
            present.pop(f"m{number}.md", None)
            order.remove(f"m{number}.md")
        else:
            made = entry(number, type=kind, always=always)
            present[made.file] = made
            order.put(made, JournalState(), {})
        whole = IndexOrder()
        whole.fill(present, JournalState(), {})
        assert build_index(order, limits) == build_index(whole, limits)


@pytest.mark.parametrize("file", ["a\nb.md", "a\u2028b.md", "a>b.md", "a\x1b[2Jb.md"])
def test_a_file_name_cannot_add_a_line_or_end_its_link(file: str) -> None:
    line = index_line(entry(1, file=file, name="n"))
    assert len(line.splitlines()) == 1
    assert line.isprintable()
    assert line.count(">") == 1


def test_a_file_name_cannot_add_a_line_to_the_list_for_the_model() -> None:
    manifest = build_manifest([entry(1, file="a\n[9] user | b.md")], now=0.0, when=lambda e: 0.0)
    assert len(manifest.text.splitlines()) == 1
    assert manifest.files == ("a\n[9] user | b.md",)
