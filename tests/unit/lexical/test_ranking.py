"""Ranking in memory: what comes first, what is found in other words, what is not an answer."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayfare.lexical import ABSTAIN_BELOW, Document, Ranking, tokens, turn


def record(
    key: str, body: str, *, name: str = "", description: str = "", aliases: tuple[str, ...] = ()
) -> Document:
    return Document(key=key, body=body, name=name, description=description, aliases=aliases)


def keys(ranking: Ranking, query: str, limit: int = 10, **options: object) -> list[str]:
    return [hit.key for hit in ranking.rank(query, limit, **options)]  # type: ignore[arg-type]


FILLER = [
    record(f"filler-{number}", text)
    for number, text in enumerate(
        (
            "The quarterly report is due in spring.",
            "Lunch is served on the second floor.",
            "Parking needs a badge from reception.",
            "办公室在三楼，请带上门禁卡。",
            "会議室は予約してから使う。",
            "주차장은 지하에 있다.",
        )
    )
]


def test_the_rarer_word_decides() -> None:
    ranking = Ranking(
        [
            record("often", "build build report"),
            record("rare", "build with bazel"),
            *(record(f"other-{number}", "build it") for number in range(5)),
        ]
    )
    assert keys(ranking, "bazel build")[0] == "rare"


@pytest.mark.parametrize("field", ["name", "aliases", "description"])
def test_a_word_in_a_heading_counts_more_than_in_the_body(field: str) -> None:
    heading = {"name": "", "description": "", "aliases": ()}
    heading[field] = ("bazel",) if field == "aliases" else "bazel"
    ranking = Ranking(
        [
            record("a-body", "we use bazel here now"),
            Document(key="z-heading", body="we use it here now", **heading),  # type: ignore[arg-type]
            *FILLER,
        ]
    )
    assert keys(ranking, "bazel")[:2] == ["z-heading", "a-body"]


def test_a_notion_is_found_in_another_language_and_below_the_word_itself() -> None:
    ranking = Ranking(
        [
            record("english", "indentation is done with tabs"),
            record("chinese", "统一使用制表符缩进"),
            *FILLER,
        ]
    )
    assert keys(ranking, "缩进")[:2] == ["chinese", "english"]
    assert keys(ranking, "indentation")[:2] == ["english", "chinese"]
    (hit,) = [hit for hit in ranking.rank("缩进") if hit.key == "english"]
    assert hit.matched == ("~indent",)


@pytest.mark.parametrize(
    ("query", "written"),
    [
        ("time zone", "timezone"),
        ("kuberentes", "kubernetes"),
        ("authentication", "auth0"),
        ("getUserName", "get_user_name"),
        ("running", "ran"),
    ],
)
def test_another_spelling_is_found(query: str, written: str) -> None:
    ranking = Ranking([record("wanted", f"here {written} matters"), *FILLER])
    assert keys(ranking, query) == ["wanted"]


def test_a_word_that_exists_is_not_replaced_by_a_similar_one() -> None:
    similar = record("similar", "a book of photography")
    exact = record("exact", "one photograph")
    assert keys(Ranking([similar, *FILLER]), "photograph") == ["similar"]
    assert keys(Ranking([similar, exact, *FILLER]), "photograph") == ["exact"]
    assert keys(Ranking([similar, *FILLER]), "phone") == []


def test_replacing_and_removing() -> None:
    ranking = Ranking([record("one", "apples"), record("two", "pears")])
    ranking.put(record("one", "plums"))
    assert keys(ranking, "apples") == []
    assert keys(ranking, "plums") == ["one"]
    assert ranking.remove("one")
    assert not ranking.remove("one")
    assert keys(ranking, "plums") == []
    assert "one" not in ranking
    assert len(ranking) == 1


def test_equal_scores_come_in_the_order_of_their_keys() -> None:
    ranking = Ranking([record(key, "same words") for key in ("c", "a", "b")])
    assert keys(ranking, "words", 2) == ["a", "b"]


def test_nothing_is_found_in_nothing() -> None:
    assert Ranking().rank("anything") == []
    ranking = Ranking(FILLER)
    assert ranking.rank("") == []
    assert ranking.rank("what is it?") == []
    assert ranking.rank("lunch", 0) == []


def test_a_question_that_nothing_answers_gets_none() -> None:
    ranking = Ranking(
        [
            record("tabs", "Indents with tabs, never spaces.", name="indent-tabs"),
            record("deploy", "Deploys go out on Tuesday.", name="deploy-day"),
            *FILLER,
        ]
    )
    unanswered = "how many floors does the tallest tower of the town have on record"
    assert ranking.rank(unanswered)
    assert ranking.rank(unanswered, floor=ABSTAIN_BELOW) == []
    assert keys(ranking, "tabs or spaces?", floor=ABSTAIN_BELOW) == ["tabs"]


def test_a_long_message_still_finds_the_record_it_touches() -> None:
    ranking = Ranking([record("tabs", "Indents with tabs.", name="indent-tabs"), *FILLER])
    message = (
        "Please refactor the authentication module, keep its public interface as it is, move the "
        "token parsing into a file of its own and indent with tabs. "
    )
    assert keys(ranking, message * 20, floor=ABSTAIN_BELOW) == ["tabs"]


DIALOGUE = [
    turn(key, text, parent=session, order=order)
    for session, lines in {
        "2023-05-08": [
            "Maria: Hi Tom, how was the trip?",
            "Tom: Long. Maria, which instrument does your daughter play now?",
            "Maria: The cello, since January.",
            "Tom: Lovely.",
        ],
        "2023-06-01": [
            "Tom: My brother plays the trumpet, very loud.",
            "Maria: Poor neighbours.",
            "Maria: I joined a choir last week.",
            "Tom: The choir of the church is famous.",
        ],
    }.items()
    for order, text in enumerate(lines)
    for key in (f"{session}#{order}",)
]


def test_an_answer_is_found_by_its_question() -> None:
    ranking = Ranking(DIALOGUE)
    query = "Which instrument does the daughter of Maria play?"
    assert "2023-05-08#2" in keys(ranking, query, 2)
    alone = ranking.rank(query, 2, surroundings=False)
    assert "2023-05-08#2" not in [hit.key for hit in alone]


def test_a_question_for_a_time_prefers_who_says_when() -> None:
    assert keys(Ranking(DIALOGUE), "When was the choir joined?", surroundings=False)[0] == (
        "2023-06-01#2"
    )


def test_a_question_about_somebody_means_what_that_person_said() -> None:
    first = keys(Ranking(DIALOGUE), "What did Tom say about the choir?", surroundings=False)[0]
    assert first == "2023-06-01#3"


def test_the_date_of_a_session_counts_in_all_of_its_turns() -> None:
    assert {key[:10] for key in keys(Ranking(DIALOGUE), "on June 1st")} == {"2023-06-01"}


def test_turns_of_one_place_are_neighbours_by_key_whichever_came_first() -> None:
    turns = [turn(key, text, parent="p", order=0) for key, text in (("a", "tabs"), ("b", "."))]
    one, other = Ranking(turns), Ranking(reversed(turns))
    assert one.rank("tabs") == other.rank("tabs")


def test_only_within_a_parent_or_some_keys() -> None:
    ranking = Ranking(DIALOGUE)
    within = {"2023-05-08"}
    assert {key[:10] for key in keys(ranking, "Tom plays", within=within)} == within
    assert keys(ranking, "choir", within={"2023-06-01#3"}) == ["2023-06-01#3"]
    assert keys(ranking, "choir", within={"nowhere"}) == []


def test_an_explanation_adds_up_and_names_what_is_missing() -> None:
    ranking = Ranking(DIALOGUE)
    query = "Which instrument does the daughter of Maria play in the orchestra?"
    hit = ranking.rank(query)[0]
    why = ranking.explain(query, hit.key)
    assert why is not None
    assert why.score == pytest.approx(hit.score)
    assert why.own == pytest.approx(sum(part for _, part in why.parts))
    assert why.score == pytest.approx(why.own + why.neighbour + why.parent)
    assert "orchestra" in why.missing
    assert hit.key in str(why)
    assert ranking.explain(query, "no such key") is None


def test_a_document_that_did_not_come_up_is_explained_too() -> None:
    why = Ranking(DIALOGUE).explain("choir", "2023-05-08#0")
    assert why is not None
    assert why.own == 0
    assert why.missing == ("choir",)


_WORDS = st.sampled_from(
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
_TEXTS = st.lists(_WORDS, max_size=6).map(" ".join)
DOCUMENTS = st.builds(
    Document,
    key=st.sampled_from("abcdefgh"),
    body=_TEXTS,
    name=_TEXTS,
    description=_TEXTS,
    parent=st.sampled_from(["p", "q", None]),
    order=st.integers(0, 9),
)


@given(st.lists(DOCUMENTS, max_size=12), st.sets(st.sampled_from("abcdefgh")), _TEXTS)
@settings(max_examples=60)
def test_coming_and_going_leaves_no_trace(
    documents: list[Document], leaving: set[str], query: str
) -> None:
    ranking = Ranking(documents)
    for key in leaving:
        ranking.remove(key)
    kept = {document.key: document for document in documents if document.key not in leaving}
    fresh = Ranking(kept.values())
    assert [(hit.key, pytest.approx(hit.score)) for hit in fresh.rank(query)] == [
        (hit.key, hit.score) for hit in ranking.rank(query)
    ]


@given(st.lists(DOCUMENTS, max_size=12), _TEXTS)
@settings(max_examples=60)
def test_what_is_found_has_something_in_common_and_a_sound_strength(
    documents: list[Document], query: str
) -> None:
    ranking = Ranking(documents)
    hits = ranking.rank(query, surroundings=False)
    assert bool(hits) <= bool(tokens(query))
    for hit in hits:
        assert hit.matched
        assert 0 < hit.strength <= 1
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
