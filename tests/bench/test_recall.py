"""The recall benchmark: what it reads, what it counts, and that the shipped set shows a lead."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bench.recall.__main__ import SHIPPED, main
from bench.recall.measure import measure
from bench.recall.scale import scale
from bench.recall.sets import language_of, load

Write = Callable[..., Path]


@pytest.fixture
def written(tmp_path: Path) -> Write:
    def write(documents: list[dict[str, Any]], queries: list[dict[str, Any]]) -> Path:
        for name, lines in (("documents", documents), ("queries", queries)):
            text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
            (tmp_path / f"{name}.jsonl").write_text(text, encoding="utf-8")
        return tmp_path

    return write


def rows(figures: dict[str, Any], part: str = "all") -> dict[str, dict[str, Any]]:
    return {row["ranker"]: row for row in figures["rows"] if row["part"] == part}


def ticking() -> Callable[[], float]:
    """A clock that moves a millisecond at every look."""
    looks = iter(range(10**9))
    return lambda: next(looks) / 1000


FRUIT = [
    {"id": "a", "text": "apples are red"},
    {"id": "b", "text": "bananas are yellow"},
    {"id": "c", "text": "cherries are red"},
]


def test_it_counts_hits_and_recall(written: Write) -> None:
    folder = written(
        FRUIT,
        [
            {"query": "yellow bananas", "relevant": "b"},
            {"query": "red", "relevant": ["a", "c"]},
            {"query": "apples", "relevant": ["b"]},
            {"query": "submarine", "relevant": []},
        ],
    )
    figures = measure(load(folder), clock=ticking())
    words = rows(figures)["plain BM25 words"]
    assert figures["answerable"] == words["queries"] == 3
    assert words["hit_at_1"] == pytest.approx(2 / 3, abs=1e-4)
    assert words["recall_at_5"] == pytest.approx(2 / 3, abs=1e-4)
    assert (words["unanswerable"], words["kept_silent"]) == (1, 1)
    assert words["without_hit"] == 0
    assert words["ms_a_query"] == pytest.approx(1)
    assert figures["sharing_no_word"] == 1


def test_each_ranker_sees_words_in_its_own_way(written: Write) -> None:
    folder = written(
        [*FRUIT, {"id": "d", "text": "数据库备份在周日"}],
        [
            {"query": "Yellow, please", "relevant": "b"},
            {"query": "备份", "relevant": "d"},
            {"query": "red cherry", "relevant": "c"},
        ],
    )
    figures = measure(load(folder))
    chinese, english = rows(figures, "zh"), rows(figures, "en")
    assert chinese["plain BM25 words"]["without_hit"] == 1
    assert chinese["FTS5 trigram"]["without_hit"] == 1
    assert chinese["ours"]["hit_at_1"] == 1
    assert english["split on spaces"]["without_hit"] == 1
    assert english["plain BM25 words"]["hit_at_1"] == 0.5
    assert english["ours"]["hit_at_1"] == 1


TALK = [
    {"id": f"{chat}-{place}", "text": text, "parent": f"{chat}/monday", "order": place}
    for chat, lines in {
        "chat-1": ["Ann: Which colour has your boat?", "Ben: Green with a white mast."],
        "chat-2": ["Ann: My boat has no colour at all.", "Ben: Strange."],
        "chat-11": ["Ann: Boat colour, boat colour!", "Ben: Stop it."],
    }.items()
    for place, text in enumerate(lines)
]


def test_turns_are_fused_and_queries_stay_within_their_group(written: Write) -> None:
    folder = written(
        TALK,
        [{"query": "colour of the boat of Ben", "relevant": ["chat-1-1"], "within": "chat-1"}],
    )
    collection = load(folder)
    assert collection.inside(collection.queries[0]) == {"chat-1-0", "chat-1-1"}
    table = rows(measure(collection))
    assert table["ours, fused"]["recall_at_5"] == 1
    assert table["ours, fused"]["parent_hit_at_1"] == 1
    assert "ours, abstaining" not in table


@pytest.mark.parametrize("within", ["chat-2/monday", ["chat-2/monday"], "chat-2", "x"])
def test_within_names_a_parent_a_beginning_or_any_field(
    written: Write, within: str | list[str]
) -> None:
    documents = [{**turn, "group": turn["id"].split("-")[1]} for turn in TALK]
    folder = written(documents, [{"query": "boat", "relevant": [], "within": within}])
    collection = load(folder)
    inside = collection.inside(collection.queries[0])
    if within == "x":
        assert inside is None
        assert "1 queries are within a group" in collection.problems[0]
    else:
        assert inside == {"chat-2-0", "chat-2-1"}


def test_a_parent_may_be_the_answer(written: Write) -> None:
    folder = written(TALK, [{"query": "white mast", "relevant": ["chat-1/monday"]}])
    assert rows(measure(load(folder)))["ours"]["hit_at_1"] == 1


@pytest.mark.parametrize(
    ("line", "reason"),
    [("{", "documents.jsonl:1"), ("[]", "not an object"), ('{"id": 1}', "needs id and text")],
)
def test_a_broken_line_is_named(
    tmp_path: Path, line: str, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "documents.jsonl").write_text(line)
    (tmp_path / "queries.jsonl").write_text("")
    assert main([str(tmp_path)]) == 2
    assert reason in capsys.readouterr().err


def test_a_missing_set_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "nowhere")]) == 2
    assert "documents.jsonl" in capsys.readouterr().err


def test_the_command_prints_tables_and_writes_json(
    written: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = written(FRUIT, [{"query": "cherries", "relevant": "c"}])
    out = tmp_path / "figures.json"
    assert main([str(folder), "--json", str(out), "--scale", "10"]) == 0
    printed = capsys.readouterr().out
    assert "recall@10" in printed
    assert "ours, abstaining" in printed
    figures = json.loads(out.read_text(encoding="utf-8"))
    assert rows(figures)["ours"]["hit_at_1"] == 1
    assert [row["held_in"] for row in figures["scale"]] == ["memory", "disk"]


def test_scale_times_every_size_in_both_places(written: Write) -> None:
    folder = written(FRUIT, [{"query": "red", "relevant": "a"}])
    timed = scale(load(folder), [3, 12], clock=ticking())
    assert [(row["documents"], row["held_in"]) for row in timed] == [
        (3, "memory"),
        (3, "disk"),
        (12, "memory"),
        (12, "disk"),
    ]
    assert all(row["query_ms_median"] == pytest.approx(1) for row in timed)


@pytest.mark.parametrize(
    ("text", "language"),
    [("plain", "en"), ("提交", "zh"), ("コミット", "ja"), ("提出する", "ja"), ("커밋", "ko")],
)
def test_the_language_is_read_from_the_script(text: str, language: str) -> None:
    assert language_of(text) == language


def test_the_shipped_set_is_what_it_claims() -> None:
    collection = load(SHIPPED)
    assert collection.problems == ()
    assert len(collection.documents) >= 150
    assert len(collection.queries) >= 400
    assert {query.language for query in collection.queries} == {"en", "zh", "ja", "ko"}
    kinds = {query.kind for query in collection.queries}
    assert {"paraphrase", "identifier", "correction", "nothing"} <= kinds
    asked = {name for query in collection.queries for name in query.relevant}
    assert asked == {text.id for text in collection.documents}


def test_on_the_shipped_set_ours_leads_in_every_language() -> None:
    figures = measure(load(SHIPPED))
    assert figures["sharing_no_word"] >= figures["answerable"] / 3 - 1
    for part in ("all", "en", "zh", "ja", "ko", "no shared word"):
        table = rows(figures, part)
        for other in ("split on spaces", "plain BM25 words", "FTS5 trigram"):
            for measured in ("hit_at_1", "recall_at_5", "recall_at_10"):
                assert table["ours"][measured] > table[other][measured], (part, other, measured)
    abstaining = rows(figures)["ours, abstaining"]
    assert abstaining["kept_silent"] >= 0.7 * abstaining["unanswerable"]
