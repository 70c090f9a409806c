"""Splitting: what the same thing looks like, however it is written."""

from __future__ import annotations

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayfare.lexical import tokens
from wayfare.lexical.english import porter, stem


@pytest.mark.parametrize(
    "written", ["fooBar", "foo_bar", "foo-bar", "FOO_BAR", "foo.bar", "FooBar"]
)
def test_an_identifier_is_one_word_and_its_parts_in_any_notation(written: str) -> None:
    assert sorted(tokens(written)) == ["bar", "foo", "foobar"]


def test_a_path_gives_its_parts_its_segments_and_itself() -> None:
    words = tokens("src/payments/retry_policy.py")
    assert {"src", "payment", "retri", "polici", "py"} <= set(words)
    assert "retrypolicypi" in words
    assert "srcpaymentsretrypolicypi" in words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3.11.7", ["3.11.7", "3.11"]),
        ("v2.0", ["2.0"]),
        ("1,250 rows", ["1250", "row"]),
        ("the 8th", ["8"]),
        ("C++ and C#", ["c++", "c#"]),
        ("don't", []),
        ("the user's café", ["user", "cafe"]),
        ("Ｆｕｌｌ　ｗｉｄｔｈ", ["full", "width"]),
        ("100ms", ["100ms", "100", "ms"]),
    ],
)
def test_numbers_versions_and_signs(text: str, expected: list[str]) -> None:
    assert tokens(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "2023-05-08",
        "8 May 2023",
        "May 8th, 2023",
        "8th of May, 2023",
        "2023年5月8日",
        "2023년 5월 8일",
    ],
)
def test_a_date_is_the_same_in_every_notation(text: str) -> None:
    assert {"@05-08", "@2023-05-08", "@2023-05", "@time"} <= set(tokens(text))


@pytest.mark.parametrize("text", ["May 2023 was warm", "in may, 2023"])
def test_a_month_of_a_year_is_a_date_too(text: str) -> None:
    assert "@2023-05" in tokens(text.replace("may", "May"))


@pytest.mark.parametrize("text", ["2023-13-08", "99月99日", "version 1.2.3", "you may 3 times"])
def test_what_only_looks_like_a_date_is_none(text: str) -> None:
    assert not [word for word in tokens(text) if word.startswith("@")]


def test_unspaced_scripts_give_characters_and_pairs_without_grammar() -> None:
    assert tokens("缩进用空格") == ["缩", "进", "缩进", "用", "进用", "空", "用空", "格", "空格"]
    assert tokens("커밋은") == ["커", "밋", "커밋", "밋은"]
    assert "タブ" in tokens("タブを使う")
    assert "ทด" in tokens("ทดสอบ")


def test_stop_words_leave_nothing() -> None:
    assert tokens("What is it that you have been doing with this?") == []
    assert tokens("这是什么吗？") == []
    assert tokens("") == []


@pytest.mark.parametrize(
    ("form", "base"),
    [("went", "go"), ("bought", "buying"), ("children", "child"), ("written", "writes")],
)
def test_irregular_forms_meet_their_base(form: str, base: str) -> None:
    assert stem(form) == stem(base)


def test_the_stemmer_agrees_with_sqlite() -> None:
    words = sorted(
        {
            base + ending
            for base in [
                "relat",
                "condit",
                "vali",
                "configur",
                "authentic",
                "migrat",
                "deploy",
                "rout",
                "hop",
                "fail",
                "plasti",
                "pony",
                "agre",
                "control",
                "adopt",
                "possib",
                "psycholog",
                "general",
                "organ",
                "process",
                "sky",
                "say",
                "employ",
            ]
            for ending in [
                "e",
                "es",
                "ed",
                "ing",
                "ation",
                "ations",
                "ational",
                "er",
                "ers",
                "ive",
                "iveness",
                "able",
                "ibly",
                "ment",
                "ments",
                "y",
                "ies",
                "ical",
                "ousness",
                "al",
                "ally",
                "fulness",
                "ism",
                "ist",
                "ity",
            ]
        }
    )
    db = sqlite3.connect(":memory:")
    try:
        db.execute("CREATE VIRTUAL TABLE texts USING fts5 (word, tokenize = 'porter ascii')")
        db.execute("CREATE VIRTUAL TABLE terms USING fts5vocab (texts, 'instance')")
        db.executemany("INSERT INTO texts (rowid, word) VALUES (?, ?)", enumerate(words))
        expected = dict(db.execute("SELECT doc, term FROM terms"))
    finally:
        db.close()
    assert {word: porter(word) for word in words} == {
        word: expected[place] for place, word in enumerate(words)
    }


def test_what_is_too_long_for_a_word_is_left_out_but_a_long_run_is_not() -> None:
    assert tokens("before " + "x" * 5_000_000 + " behind") == ["behind"]
    assert len(tokens("缩进" * 500)) > 900


@given(st.text())
def test_words_of_any_text_have_no_blanks_and_can_be_quoted(text: str) -> None:
    for word in tokens(text):
        assert word
        assert not any(character.isspace() or character in '"\x00' for character in word)


@given(st.text())
def test_splitting_depends_on_nothing_but_the_text(text: str) -> None:
    assert tokens(text) == tokens(text)
    assert tokens(text + " ") == tokens(text)
