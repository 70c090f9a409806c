"""Finding a codec, and what all formats share."""

from __future__ import annotations

import pytest

from wayfare.errors import ConfigError
from wayfare.formats import codec, format_names, split_system
from wayfare.formats.call_ids import fitting_call_id
from wayfare.formats.found_text import found_text
from wayfare.messages import Message, Origin, Text, assistant, user


def test_each_name_has_one_codec() -> None:
    assert [codec(name).name for name in format_names()] == list(format_names())
    assert codec("anthropic") is codec("anthropic")
    assert codec("openai").name == "openai-chat"


def test_an_unknown_format_says_which_are_known() -> None:
    with pytest.raises(ConfigError, match="openai-responses") as caught:
        codec("gemini")
    assert (caught.value.setting, caught.value.value) == ("format", "gemini")


def test_the_system_prompt_is_what_a_history_opens_with() -> None:
    first, second, later = (
        Message(role=role, blocks=(Text(text=role),), origin=Origin.SYSTEM)
        for role in ("system", "developer", "system")
    )
    hello, answer = user("hello"), assistant("hi")
    assert split_system([first, second, hello, later, answer]) == (
        (first, second),
        (hello, later, answer),
    )
    assert split_system([hello]) == ((), (hello,))
    assert split_system([first]) == ((first,), ())


@pytest.mark.parametrize("call_id", ["", "a.b", "a b", "中", "\ud800", "x" * 41])
def test_an_unfit_id_becomes_a_fit_one_of_its_own(call_id: str) -> None:
    fit = fitting_call_id(call_id, 40)
    assert fit == fitting_call_id(call_id, 40)
    assert fit.isascii()
    assert fit.replace("_", "").replace("-", "").isalnum()
    assert len(fit) <= 40
    assert fit not in {fitting_call_id(other, 40) for other in ("a_b", "_", "x" * 42)}


def test_a_fit_id_stays() -> None:
    assert fitting_call_id("toolu_01-A", 40) == "toolu_01-A"


def test_text_is_found_in_unknown_blocks_but_no_bytes_or_marks() -> None:
    block = {
        "type": "x_future",
        "id": "b1",
        "title": "head",
        "parts": [{"text": "body", "data": "QUJD"}, 4, None, ["tail"]],
    }
    assert found_text(block) == "head\nbody\ntail"


def test_looking_for_text_ends_in_deep_nesting() -> None:
    nested: list[object] = ["deep"]
    for _ in range(5000):
        nested = [nested]
    assert found_text(["top", nested]) == "top"
