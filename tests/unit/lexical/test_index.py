"""The index on disk: the same ranking, kept, and rebuilt when it is not to be trusted."""

from __future__ import annotations

import sqlite3
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayfare.errors import StoreError
from wayfare.lexical import Document, LexicalIndex, Ranking

WORDS = st.sampled_from(
    [
        "tab",
        "space",
        "deploy",
        "deployed",
        "Tuesday",
        "getName",
        "get_name",
        "缩进",
        "空格",
        "提交",
        "タブ",
        "커밋",
        "3.11",
        "2023-05-08",
    ]
)
TEXTS = st.lists(WORDS, max_size=6).map(" ".join)
DOCUMENTS = st.builds(
    Document,
    key=st.sampled_from("abcdefgh"),
    body=TEXTS,
    name=TEXTS,
    aliases=st.lists(TEXTS, max_size=2).map(tuple),
    parent=st.sampled_from(["p", "q", None]),
    order=st.one_of(st.none(), st.integers(0, 9)),
)
PEARS = Document(key="pears", body="pears ripen in autumn")
PLUMS = Document(key="plums", body="plums ripen in summer")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "index" / "search.sqlite"


@pytest.fixture
def index(path: Path) -> Iterator[LexicalIndex]:
    with LexicalIndex(path) as opened:
        yield opened


def keys(index: LexicalIndex, query: str) -> list[str]:
    return [hit.key for hit in index.rank(query)]


@given(
    st.lists(DOCUMENTS, max_size=12),
    st.sets(st.sampled_from("abcdefgh")),
    TEXTS,
    st.sampled_from([None, {"p"}, {"a", "b", "q"}]),
)
@settings(max_examples=60)
def test_it_ranks_as_memory_does(
    documents: list[Document], leaving: set[str], query: str, within: set[str] | None
) -> None:
    ranking = Ranking()
    with LexicalIndex(":memory:") as index:
        for document in documents:
            ranking.put(document)
            index.put([document])
        for key in leaving:
            ranking.remove(key)
        index.remove(leaving)
        assert len(index) == len(ranking)
        found = index.rank(query, within=within)
        expected = ranking.rank(query, within=within)
        assert {hit.key: hit.score for hit in found} == pytest.approx(
            {hit.key: hit.score for hit in expected}
        )
        for hit in found:
            assert index.explain(query, hit.key) is not None


def test_it_is_still_there_when_opened_again(path: Path) -> None:
    with LexicalIndex(path) as index:
        assert index.put([PEARS, PLUMS]) == 2
    with LexicalIndex(path) as index:
        assert keys(index, "ripe pears")[0] == "pears"


def test_only_what_changed_is_written(index: LexicalIndex) -> None:
    index.put([PEARS, PLUMS])
    assert index.put([PEARS, Document(key="plums", body="plums make jam")]) == 1
    assert keys(index, "jam") == ["plums"]
    assert keys(index, "summer") == []


def test_it_says_what_is_stale_by_the_digests_of_the_caller(index: LexicalIndex) -> None:
    index.put([PEARS, PLUMS], digests={"pears": "1", "plums": "1"})
    stale = index.stale({"pears": "1", "plums": "2", "quinces": "1"})
    assert stale.changed == {"plums", "quinces"}
    assert stale.gone == set()
    assert index.stale({}).gone == {"pears", "plums"}


def test_removing_counts_what_was_there(index: LexicalIndex) -> None:
    index.put([PEARS, PLUMS])
    assert index.remove(["pears", "nobody"]) == 1
    assert keys(index, "ripen") == ["plums"]
    assert index.explain("ripen", "pears") is None


def test_a_failing_source_of_documents_leaves_the_index_as_it_was(index: LexicalIndex) -> None:
    index.put([PEARS])

    def broken() -> Iterator[Document]:
        yield PLUMS
        raise RuntimeError("cannot read the next one")

    with pytest.raises(RuntimeError, match="next one"):
        index.put(broken())
    assert len(index) == 1
    assert keys(index, "plums") == []


def test_the_file_is_only_for_its_owner(index: LexicalIndex, path: Path) -> None:
    index.put([PEARS])
    assert {stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()} == {0o600}
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_file_that_is_no_database_is_emptied_on_opening(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"this was never a database" * 200)
    with LexicalIndex(path) as index:
        assert index.stale({"pears": "1"}).changed == {"pears"}
        index.put([PEARS])
        assert keys(index, "pears") == ["pears"]


def test_a_file_of_another_version_is_emptied_on_opening(path: Path) -> None:
    with LexicalIndex(path) as index:
        index.put([PEARS])
    db = sqlite3.connect(path)
    db.execute("PRAGMA user_version = 99")
    db.close()
    with LexicalIndex(path) as index:
        assert len(index) == 0


def test_damage_found_later_is_said_and_leaves_an_empty_index(path: Path) -> None:
    many = [Document(key=f"d{number}", body=f"word{number} " * 50) for number in range(400)]
    with LexicalIndex(path) as index:
        index.put(many)
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * (size - 4096))
    try:
        index = LexicalIndex(path)
    except StoreError:
        pytest.fail("opening reads nothing but the head")
    try:
        if len(index):
            with pytest.raises(StoreError, match="damaged"):
                index.rank("word7")
        assert len(index) == 0
        index.put([PEARS])
        assert keys(index, "pears") == ["pears"]
    finally:
        index.close()


def test_a_writer_that_waits_too_long_says_so(path: Path) -> None:
    with LexicalIndex(path, busy_seconds=0.01) as index:
        index.put([PEARS])
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        try:
            assert keys(index, "pears") == ["pears"]
            with pytest.raises(StoreError, match="locked"):
                index.put([PLUMS])
        finally:
            other.close()
        assert index.put([PLUMS]) == 1


def test_a_place_where_no_file_can_be_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be opened"):
        LexicalIndex(tmp_path)


def test_a_query_within_a_very_large_parent_stays_within() -> None:
    with LexicalIndex(":memory:") as index:
        index.put(
            Document(key=f"in-{number}", body="pears", parent="large", order=number)
            for number in range(3_100)
        )
        index.put([Document(key="out", body="pears pears pears")])
        found = index.rank("pears", 5, within={"large"})
        assert len(found) == 5
        assert all(hit.key.startswith("in-") for hit in found)
