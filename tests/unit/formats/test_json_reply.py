"""JSON in replies of models, in the shapes they really come in."""

from __future__ import annotations

import pytest

from wayfare.formats.json_reply import json_values, reply_indices, reply_objects

TEA = {"name": "tea", "body": "Drinks green tea."}
LIST = '[{"name":"tea","body":"Drinks green tea."}]'


@pytest.mark.parametrize(
    "reply",
    [
        LIST,
        f"```json\n{LIST}\n```",
        f"The format:\n```json\n[]\n```\nAnd the result:\n```json\n{LIST}\n```\nDone. ```",
        f"Based on {{that}}, here it is: {LIST} Hope this helps {{really}}.",
        LIST.replace("}]", ",}, ]"),
        '{"memories":' + LIST + "}",
        '{"name":"tea","body":"Drinks green tea."}',
        '"' + LIST.replace('"', '\\"') + '"',
        f"<think>maybe [{{}}] or [1]</think>\n{LIST}",
        "[" + LIST[1:-1] + ', {"name": "coffee", "body": "Dri',
        f"\ufeff  {LIST}",
        '[\n  {"name": "tea",\n "body": "Drinks green tea."},\n  "and a word"\n]',
    ],
)
def test_objects_are_found_in_every_wrapping(reply: str) -> None:
    assert reply_objects(reply, keys=("memories",)) == [TEA]


def test_line_ends_inside_of_texts_are_read() -> None:
    assert reply_objects('[{"body": "one\ntwo"}]') == [{"body": "one\ntwo"}]


@pytest.mark.parametrize(
    "reply", ["[]", "```json\n[]\n```", '{"memories": []}', "[]\nNone, [1] is near."]
)
def test_an_empty_list_is_an_answer(reply: str) -> None:
    assert reply_objects(reply, keys=("memories",)) == []


@pytest.mark.parametrize(
    "reply", ["", "no idea", "null", "[1, 2]", '{"memories": 3}', "{", "[" * 100_000, "{a}" * 5_000]
)
def test_what_holds_no_objects_is_refused(reply: str) -> None:
    with pytest.raises(ValueError):
        reply_objects(reply, keys=("memories",))


def test_halves_of_a_pair_are_replaced_and_whole_pairs_joined() -> None:
    found = reply_objects('[{"body": "\\ud83c\\udf78 \\ud83c", "k\\udc00": 1}]')
    assert found == [{"body": "🍸 \ufffd", "k\ufffd": 1}]


@pytest.mark.parametrize(
    ("reply", "indices"),
    [
        ("[0, 2]", (0, 2)),
        ("[1, 1, 1]", (1,)),
        ('[0, 9, -1, true, 1.0, "2"]', (0,)),
        ('{"selected": [1]}', (1,)),
        ("[]", ()),
        ("I looked at [3] first. Final answer: [0, 1]", (0, 1)),
        ("[2]\nbecause [0] is about something else", (2,)),
        ("[0, 2,]", (0, 2)),
    ],
)
def test_indices_that_count(reply: str, indices: tuple[int, ...]) -> None:
    assert reply_indices(reply, 4, keys=("selected",)) == indices


@pytest.mark.parametrize(
    "reply",
    [
        '["0"]',
        "[1.0, 2.5]",
        "[true]",
        "[false]",
        "[7, 400]",
        "[-1]",
        "[[0],[2]]",
        "null",
        "2",
        "alpha",
        "[99999999999999999999]",
        "[NaN]",
        "",
        "[" + "9" * 5_000 + "]",
    ],
)
def test_replies_without_a_usable_index_are_refused(reply: str) -> None:
    with pytest.raises(ValueError):
        reply_indices(reply, 4, keys=("selected",))


def test_only_the_outermost_values_are_listed() -> None:
    values = [f.value for f in json_values('x {"a": [1]} y [2, {"b": 3}] z')]
    assert values == [{"a": [1]}, [2, {"b": 3}]]
