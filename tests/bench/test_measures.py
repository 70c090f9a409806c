"""What counts as needed, and that the incremental look-up says what a plain search says."""

from __future__ import annotations

from typing import Any

import pytest
from bench.measures import (
    NeededIndex,
    Shares,
    Standing,
    compaction_points,
    compaction_row,
    newest_names,
    score,
)
from bench.names import file_names, identifiers, patch_blocks, replaced_texts
from bench.recordings import Recording
from bench.wire import Call, text_of
from hypothesis import given
from hypothesis import strategies as st


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def step(id: str, name: str = "read", result: str = "ok", **wanted: Any) -> list[dict[str, Any]]:
    call = {"type": "tool_use", "id": id, "name": name, "input": wanted}
    answer = {"type": "tool_result", "tool_use_id": id, "content": result}
    return [{"role": "assistant", "content": [call]}, {"role": "user", "content": [answer]}]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see src/a/parse_date.py:12, then README.md.", {"parse_date.py", "README.md"}),
        ("v1.2.3 and example.com and .gitignore", set[str]()),
        ("x.test.ts Makefile .eslintrc.json", {"x.test.ts", ".eslintrc.json"}),
    ],
)
def test_file_names(text: str, expected: set[str]) -> None:
    assert file_names(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("parse_date parseDate ParseDate MAX_SIZE HTTPServer", {"parse_date", "parseDate", "ParseDate", "MAX_SIZE", "HTTPServer"}),
        ("Parser README parser a_b __init 123456", set[str]()),
    ],
)  # fmt: skip
def test_identifiers(text: str, expected: set[str]) -> None:
    assert identifiers(text) == expected


def test_replaced_texts_of_edits_lists_of_edits_and_patches() -> None:
    patch = (
        "*** Begin Patch\n*** Update File: a.py\n@@ def f\n keep\n-old one\n+new\n after\n"
        "@@\n only context\n+inserted\n*** Add File: b.py\n+fresh\n*** End Patch"
    )
    arguments = {
        "path": "a.py",
        "old_string": "alpha",
        "edits": [{"oldText": "beta", "newText": "x"}, {"old_str": " "}],
    }
    assert replaced_texts(Call(id="", name="edit", arguments=arguments)) == ["alpha", "beta"]
    assert replaced_texts(Call(id="", name="apply_patch", arguments=patch)) == [
        "keep\nold one\nafter"
    ]
    shell = {"cmd": f"apply_patch <<'E'\n{patch}\nE"}
    assert patch_blocks(patch) == replaced_texts(Call(id="", name="sh", arguments=shell))


def test_needed_names_are_those_the_next_ten_calls_use_and_that_occurred_before() -> None:
    messages = [
        user("look at early.py and setup_path"),
        *step("1", path="early.py"),
        *step("2", path="late.py", result="recent.py"),
        *(m for n in range(3, 14) for m in step(str(n), path=f"file_{n}.py")),
        *step("99", path="early.py"),
    ]
    index = NeededIndex(messages, "anthropic")
    # The step at message 5 uses file_3 and nine more; none of those occurred before.
    assert index.needed(5).files == frozenset()
    # Ten turns before the last one, early.py is in sight; nothing else that is used is known.
    place = len(messages) - 2 - 2 * 9
    assert index.needed(place).files == {"early.py"}
    assert index.needed(place - 2).files == frozenset()


def test_what_stands_only_in_the_last_two_messages_is_not_needed() -> None:
    messages = [
        user("go"),
        *step("1", path="x", result="found fresh_name.py"),
        *step("2", path="fresh_name.py"),
    ]
    assert NeededIndex(messages, "anthropic").needed(3).files == frozenset()
    later = [*messages[:3], *step("3", path="y"), *messages[3:]]
    assert NeededIndex(later, "anthropic").needed(5).files == {"fresh_name.py"}


def test_keys_of_the_input_are_no_identifiers() -> None:
    messages = [
        user("file_path old_string"),
        *step("1", path="x"),
        *step("2", file_path="a", old_string="b"),
    ]
    assert NeededIndex(messages, "anthropic").needed(3).identifiers == frozenset()


def test_replaced_text_stands_whole_behind_line_numbers() -> None:
    numbered = "     1→def load():\n     2→    return 1\n     3→"
    old = "def load():\n    return 1"
    messages = [
        user("go"),
        *step("1", path="a.py", result=numbered),
        *step("2", "edit", old_string=old),
    ]
    index = NeededIndex(messages, "anthropic")
    needed = index.needed(3)
    assert needed.contents == {old}
    whole = index.shares(needed, text_of(messages[:3], "anthropic"))
    assert (whole.contents, whole.contents_unnumbered, whole.contents_needed) == (1, 0, 1)
    assert index.shares(needed, "def load():\n    return").contents == 0


def test_text_that_was_never_seen_is_not_needed() -> None:
    messages = [user("go"), *step("1", path="a.py"), *step("2", "edit", old_string="never seen")]
    assert NeededIndex(messages, "anthropic").needed(3).contents == frozenset()


def test_chat_arguments_are_read_as_the_object_they_hold() -> None:
    arguments = '{"path": "pkg/known_file.py"}'
    call = {"id": "c", "type": "function", "function": {"name": "r", "arguments": arguments}}
    messages: list[dict[str, Any]] = [
        user("known_file.py"),
        {"role": "assistant", "content": "hm"},
        user("on"),
        {"role": "assistant", "content": None, "tool_calls": [call]},
    ]
    assert NeededIndex(messages, "openai-chat").needed(3).files == {"known_file.py"}


WORDS = st.sampled_from(
    [
        "alpha_one",
        "beta_two",
        "x.py",
        "deep.x.py",
        "gammaRay",
        "12:",
        "\n",
        " ",
        "-",
        "     7→",
        "é",
    ]
)
TEXTS = st.lists(WORDS, max_size=8).map("".join)


@given(st.lists(st.tuples(TEXTS, TEXTS, TEXTS), min_size=2, max_size=8), st.data())
def test_incremental_look_up_equals_a_plain_search(
    rows: list[tuple[str, str, str]], data: st.DataObject
) -> None:
    messages = [user("alpha_one x.py")]
    for number, (path, old, result) in enumerate(rows):
        messages += step(str(number), path=path, old_string=old, result=result)
    index = NeededIndex(messages, "anthropic")
    standing = Standing(index)
    for place in (turn.start for turn in index.turns):
        chosen = data.draw(st.lists(st.integers(0, place - 1), unique=True))
        request = [messages[i] for i in sorted(chosen)]
        standing.move_to(index.interner.intern(request))
        needed = index.needed(place)
        plain = Shares()
        for name in needed.files:
            seen = any(name in t for m in request for t in (text_of([m], "anthropic"),))
            plain += Shares(files=int(seen), files_needed=1)
        found = standing.shares(needed)
        assert (found.files, found.files_needed) == (plain.files, plain.files_needed)
        assert found.identifiers == sum(
            name in text_of(request, "anthropic") for name in needed.identifiers
        )
        assert found.contents >= found.contents_unnumbered


def test_everything_stands_in_the_whole_history() -> None:
    messages = [user("a_name in x.py")]
    for number in range(20):
        messages += step(str(number), path="x.py", old_string="a_name", result=f"a_name {number}")
    index = NeededIndex(messages, "anthropic")
    standing = Standing(index)
    total = Shares()
    for turn in index.turns:
        standing.move_to(index.seen[: turn.start])
        total += standing.shares(index.needed(turn.start))
    assert total.files == total.files_needed > 0
    assert total.identifiers == total.identifiers_needed
    assert total.rows()["needed_content"] == 1.0


def compacted() -> Recording:
    before = [user("fix lost.py, kept.py and deep_name"), *step("1", path="kept.py")]
    after = [*step("2", path="kept.py"), *step("3", path="lost.py", text="deep_name newName_x")]
    messages = [*before, user("Summary: worked on kept.py"), *after]
    return Recording(
        name="r",
        format="anthropic",
        messages=messages,
        compactions=[{"at_message": 3, "summary_message": 3}, {"at_message": 3}],
    )


def test_compaction_point_scores_the_real_summary() -> None:
    (point,) = compaction_points(compacted())
    assert point.files == {"kept.py", "lost.py"}
    assert point.identifiers == {"deep_name"}
    scored = score(point, point.summary)
    assert (scored.files, scored.files_needed, scored.identifiers) == (1, 2, 0)
    assert scored.file_name_chars == len("kept.py")
    row = compaction_row([point], lambda p: "lost.py kept.py deep_name")
    assert (row["files"], row["identifiers"], row["files_median"]) == (1.0, 1.0, 1.0)


def test_newest_names_keeps_to_its_size_and_starts_with_the_newest() -> None:
    (point,) = compaction_points(compacted())
    assert newest_names(point, 8) == "kept.py"
    assert newest_names(point, 100).split()[0] == "kept.py"
    assert set(newest_names(point, 100).split()) == {"kept.py", "lost.py", "deep_name"}
