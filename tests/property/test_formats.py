"""What every codec promises, over generated messages: hostile ones and whole histories."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wayfare.formats import codec, dumps, format_names, loads
from wayfare.formats.roles import has_wrong_role

relaxed = settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)

texts = st.text(st.characters(), max_size=8) | st.sampled_from(
    [
        "",
        " ",
        "\x00",
        "\ud800",
        "data:image/png;base64,QUJD",
        "data:,x",
        '{"a": 1}',
        "{",
        "[[",
        "中",
    ]
)
scalars = st.none() | st.booleans() | st.integers(-5, 2**70) | texts
json_values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)


def listed(words: str) -> list[str]:
    return words.split()


KEYS = listed(
    """
    text thinking signature data id name input tool_use_id content is_error source url type
    media_type title cache_control image_url input_audio file file_data file_id refusal
    call_id arguments output summary encrypted_content action status function custom
    x_unknown
    """
)
KINDS = listed(
    """
    text thinking redacted_thinking tool_use tool_result image document server_tool_use
    web_search_tool_result image_url input_audio file refusal input_text output_text
    input_image input_file summary_text base64 url function custom x_future
    """
)


def objects(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {"type": st.sampled_from(KINDS) | scalars},
        optional={key: inner for key in KEYS if key != "type"},
    )


blocks = st.recursive(
    json_values,
    lambda inner: st.lists(inner, max_size=3) | objects(json_values | inner),
    max_leaves=5,
)
ITEMS = listed(
    """
    message reasoning function_call function_call_output custom_tool_call local_shell_call
    custom_tool_call_output local_shell_call_output shell_call shell_call_output
    web_search_call computer_call_output apply_patch_call item_reference compaction x_future
    """
)
wire_messages = st.fixed_dictionaries(
    {},
    optional={
        "role": st.sampled_from(["user", "assistant", "system", "developer", "tool", "function"])
        | scalars,
        "type": st.sampled_from(ITEMS) | scalars,
        "content": st.lists(blocks, max_size=3) | blocks,
        "tool_calls": st.lists(blocks, max_size=3) | json_values,
        "function_call": blocks,
        "audio": blocks,
        "reasoning_details": st.lists(blocks, max_size=2),
        "output": st.lists(blocks, max_size=2) | texts,
        **dict.fromkeys(
            [
                "tool_call_id",
                "call_id",
                "id",
                "name",
                "arguments",
                "input",
                "refusal",
                "reasoning_content",
                "summary",
                "action",
                "encrypted_content",
                "x_unknown",
            ],
            json_values,
        ),
    },
)
names = st.sampled_from(format_names())


@relaxed
@given(names, wire_messages)
def test_an_untouched_message_comes_back_as_the_very_object(name: str, wire: Any) -> None:
    before = deepcopy(wire)
    message = codec(name).decode(wire)
    assert message.wire is wire
    (out,) = codec(name).encode([message])
    assert out is wire
    assert wire == before
    assert loads(dumps(out)) == loads(dumps(before))


@relaxed
@given(names, names, st.lists(wire_messages, max_size=4))
def test_no_history_fails_or_is_changed_on_the_way_to_any_format(
    source: str, target: str, wires: Any
) -> None:
    before = deepcopy(wires)
    messages = [codec(source).decode(wire) for wire in wires]
    dumps(codec(target).encode(messages))
    for message in messages:
        dumps(codec(target).encode_one(message))
    assert wires == before


@relaxed
@given(names, wire_messages)
def test_an_edited_message_keeps_the_very_objects_of_its_untouched_blocks(
    name: str, wire: Any
) -> None:
    before = deepcopy(wire)
    message = codec(name).decode(wire)
    written = codec(name).encode([message.with_blocks(message.blocks)])
    kept = set(identities(written))
    # A message that is one block, a result of the chat format, may come with a role that is none.
    whole = wire if has_wrong_role(message) else None
    if written:
        assert all(
            id(block.wire) in kept
            for block in message.blocks
            if block.wire is not None and block.wire is not whole
        )
    assert wire == before


def identities(value: Any) -> Iterator[int]:
    """The identity of every object inside of `value`."""
    if isinstance(value, dict):
        yield id(value)
        value = list(value.values())
    if isinstance(value, list | tuple):
        for inner in value:
            yield from identities(inner)
