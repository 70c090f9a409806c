"""Records: what is written reads back, edits keep what they do not say, indexes keep budgets."""

from __future__ import annotations

from dataclasses import replace

import yaml
from hypothesis import assume, example, given
from hypothesis import strategies as st

from wayfare.memory.folder import Entry
from wayfare.memory.index import IndexOrder, build_index
from wayfare.memory.journal import JournalState
from wayfare.memory.limits import MemoryLimits
from wayfare.memory.record import TYPES, Record, one_line, read_record
from wayfare.memory.record_text import changed_fields, render, rewrite, scalar
from wayfare.memory.slug import SLUG_BYTES, fold, free_file, is_record_file, slug

text = st.text(st.characters(exclude_categories=("Cs",)), max_size=60)
words = text.map(one_line).filter(bool)
lists = st.lists(words.filter(lambda s: s[0] != "["), max_size=3).map(tuple)
bodies = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\r\0")).map(
    lambda s: s.removeprefix("\ufeff").strip("\n") if s.strip() else ""
)
dates = st.dates().map(str)
records = st.builds(
    Record,
    name=words,
    description=words,
    type=st.sampled_from(TYPES),
    body=bodies,
    subject=words | st.just(""),
    expires=dates | st.just(""),
    aliases=lists,
    applies_to=lists,
    always=st.booleans(),
)


@given(text.map(one_line))
@example("\ufeff")
@example("a: b\u2029")
def test_every_scalar_is_read_as_itself_by_a_strict_parser(value: str) -> None:
    assert yaml.safe_load(f"key: {scalar(value)}\n") == {"key": value}


@given(records)
def test_a_written_record_reads_back(record: Record) -> None:
    found = read_record("any.md", render(record).encode())
    assert found.record == record
    assert not found.problems


@given(old=records, new=records, crlf=st.booleans())
def test_an_edit_says_what_it_should_and_keeps_comments_and_foreign_keys(
    old: Record, new: Record, crlf: bool
) -> None:
    text = render(old).replace("\n---\n", "\n# a comment\nmine: [kept, 1.10]\n---\n", 1)
    if crlf:
        assume("\n" not in old.body and "\n" not in new.body)
        text = text.replace("\n", "\r\n")
    edited = rewrite("any.md", text.encode(), new)
    assert changed_fields(read_record("any.md", edited).record, new) == set()
    assert b"# a comment" in edited
    assert b"mine: [kept, 1.10]" in edited
    if crlf:
        assert edited.count(b"\n") == edited.count(b"\r\n")


@given(records)
def test_an_edit_that_says_nothing_new_changes_no_byte(record: Record) -> None:
    content = render(record).encode()
    assert rewrite("any.md", content, read_record("any.md", content).record) == content


@given(st.binary(max_size=300) | st.text(max_size=300).map(lambda s: s.encode(errors="replace")))
@example(b"---\nname: [\n---\n")
@example(b"---\n? a\n: b\n---\n")
@example(b"---\n*a\n---\n")
def test_anything_is_read_and_no_edit_of_it_is_lost(content: bytes) -> None:
    found = read_record("any.md", content)
    assert found.record.description
    if found.rewritable:
        wanted = replace(found.record, description="a new line", body="A new body.")
        edited = rewrite("any.md", content, wanted)
        assert changed_fields(read_record("any.md", edited).record, wanted) == set()


@given(st.text(max_size=200))
def test_every_name_gives_a_file_name(name: str) -> None:
    stem = slug(name)
    assert 0 < len(stem.encode()) <= SLUG_BYTES
    assert is_record_file(f"{stem}.md")
    assert slug(stem) == stem or len(stem.encode()) > SLUG_BYTES - 10
    assert not set(stem) & set("/\\.")


@given(st.lists(st.text(max_size=20), max_size=12))
def test_files_of_many_names_differ_on_any_disk(names: list[str]) -> None:
    taken: set[str] = set()
    for name in names:
        file = fold(free_file(name, taken))
        assert file not in taken
        taken.add(file)


entries = st.builds(
    lambda n, name, description, kind, always: Entry(
        file=f"f{n}.md",
        name=name,
        description=description,
        type=kind,
        sha256="x",
        size_bytes=1,
        always=always,
    ),
    st.integers(0, 400),
    text,
    st.text(max_size=900),
    st.sampled_from(TYPES),
    st.booleans(),
)


@given(
    st.lists(entries, max_size=60, unique_by=lambda e: e.file),
    st.integers(5, 40),
    st.integers(900, 4_000),
)
def test_the_index_keeps_its_budget_and_accounts_for_every_record(
    found: list[Entry], lines: int, size: int
) -> None:
    order = IndexOrder()
    for one in found:
        order.put(one, JournalState(), {})
    index = build_index(order, MemoryLimits(index_lines=lines, index_bytes=size))
    assert len(index.text.encode()) <= size
    assert index.text.count("\n") <= lines
    on_pages = sum(page.count("\n") - 1 for page in index.pages.values())
    named = sum(line.startswith("- [") for line in index.text.split("\n"))
    assert on_pages == index.room.left_out
    assert named + on_pages == len(found)
