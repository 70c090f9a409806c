"""Finding out what a file is, and what is said about files that are nothing."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayfare.errors import RecordingError
from wayfare.replay.reading import read_recordings
from wayfare.replay.recording import Recording

USER = {"role": "user", "content": "hello"}
REPLY = {"role": "assistant", "content": "hi"}
CLAUDE_LINE = {
    "type": "user",
    "uuid": "u1",
    "parentUuid": None,
    "sessionId": "s",
    "message": USER,
}


SHIPPED = sorted(
    path
    for path in (Path(__file__).parents[3] / "recordings").iterdir()
    if path.suffix in (".json", ".traj")
)


def written(folder: Path, content: bytes | str | Any, name: str = "file") -> Path:
    path = folder / name
    if not isinstance(content, bytes | str):
        content = json.dumps(content)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def lines(*values: Any) -> str:
    return "".join(json.dumps(value) + "\n" for value in values)


def read_one(folder: Path, content: bytes | str | Any) -> Recording:
    (found,) = read_recordings(written(folder, content))
    return found


@pytest.mark.parametrize(
    ("content", "kind", "format"),
    [
        (json.dumps({"messages": [USER, REPLY]}), "openai-chat", "openai-chat"),
        (json.dumps({"messages": [USER]}, indent=2), "openai-chat", "openai-chat"),
        (json.dumps([USER, REPLY]), "openai-chat", "openai-chat"),
        (lines(USER, REPLY), "openai-chat", "openai-chat"),
        (json.dumps(USER), "openai-chat", "openai-chat"),
        (json.dumps({"system": "s", "messages": [USER]}), "anthropic", "anthropic"),
        (
            json.dumps([{"role": "user", "content": [{"type": "tool_result"}]}]),
            "anthropic",
            "anthropic",
        ),
        (
            json.dumps({"input": [{"type": "function_call", "call_id": "c"}]}),
            "openai-responses",
            "openai-responses",
        ),
        (json.dumps(CLAUDE_LINE), "claude-code", "anthropic"),
        (json.dumps([CLAUDE_LINE]), "claude-code", "anthropic"),
        (
            lines({"type": "response_item", "payload": {"type": "message", "role": "user"}}),
            "codex",
            "openai-responses",
        ),
        (
            json.dumps({"trajectory_format": "mini-swe-agent-1.1", "messages": [USER]}),
            "mini-swe-agent",
            "openai-chat",
        ),
        (json.dumps({"history": [{**USER, "agent": "main"}]}), "swe-agent", "openai-chat"),
    ],
)
def test_the_format_is_found_by_content(
    tmp_path: Path, content: str, kind: str, format: str
) -> None:
    found = read_one(tmp_path, content)
    assert (found.kind, found.format) == (kind, format)
    assert len(found.messages) == len(found.times) >= 1
    assert found.name == "file"


@pytest.mark.parametrize(
    ("content", "line", "reason"),
    [
        (b"", 1, "empty"),
        (b"\n \n\n", 1, "empty"),
        (b"\x00" * 4096, 1, "NUL"),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00", 1, "binary"),
        (b"\x7fELF\x02\x01\x00\x00", 1, "binary"),
        (b"PK\x03\x04", 1, "zip"),
        (json.dumps(USER).encode("utf-16"), 1, "UTF-16"),
        (b"# notes\n\nnothing here\n", 1, "not JSON"),
        (b"42", 1, "unknown format: a number"),
        (b"{}", 1, "unknown format: an empty object"),
        (b'\n{"foo": 1, "bar": [1]}', 2, "the keys foo, bar"),
        (b'{"foo": 1}\n{"foo": 2}\n', 1, "the keys foo"),
        (b'{"messages": []}', 1, "no message"),
        (b'{\n "messages": [\n  {"role": "user",\n', 3, "not JSON"),
        (b"[" * 200_000, 1, "recursion"),
    ],
)
def test_a_file_that_is_nothing_says_where_and_why(
    tmp_path: Path, content: bytes, line: int, reason: str
) -> None:
    path = written(tmp_path, content)
    with pytest.raises(RecordingError) as caught:
        read_recordings(path)
    assert caught.value.path == str(path)
    assert caught.value.line == line
    assert reason in caught.value.reason
    assert "Claude Code JSONL" in str(caught.value)
    assert f"line {line}" in str(caught.value)


def test_a_file_that_cannot_be_opened_says_so(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="No such file"):
        read_recordings(tmp_path / "missing")
    with pytest.raises(RecordingError, match="folder"):
        read_recordings(tmp_path)


def test_bad_lines_are_told_and_the_others_read(tmp_path: Path) -> None:
    content = b"garbage\n" + lines(USER).encode() + b"\x00\x00\x00\n\n" + lines(REPLY).encode()
    found = read_one(tmp_path, content + b'{"role": "user", "con')
    assert found.messages == (USER, REPLY)
    assert [problem.line for problem in found.problems] == [1, 3, 6]
    assert "NUL" in found.problems[1].reason
    assert "Unterminated string" in found.problems[2].reason


def test_strings_stay_what_they_were(tmp_path: Path) -> None:
    said = "a\x00b \ud800 \u2028 é 中文 \U0001f600 \r\n"
    found = read_one(tmp_path, lines({"role": "user", "content": said}))
    assert found.messages[0]["content"] == said
    assert not found.problems


@pytest.mark.parametrize("raw", ["a\x00b\tc\x1b", "caf\u00e9"])
def test_raw_control_characters_are_read(tmp_path: Path, raw: str) -> None:
    found = read_one(tmp_path, f'{{"role":"user","content":"{raw}"}}\n'.encode() * 2)
    assert [message["content"] for message in found.messages] == [raw, raw]


def test_broken_utf8_is_read_and_told(tmp_path: Path) -> None:
    bad = b'{"role":"user","content":"a\xff\xfe"}\n'
    lone = b'{"role":"user","content":"a\xed\xa0\x80"}\n'
    found = read_one(tmp_path, lone + bad)
    assert found.messages[0]["content"] == "a\ud800"
    assert found.messages[1]["content"] == "a\ufffd\ufffd"
    assert [(p.line, "UTF-8" in p.reason) for p in found.problems] == [(2, True)]


def test_a_byte_order_mark_line_ends_of_windows_and_gzip_do_not_matter(tmp_path: Path) -> None:
    plain = lines(USER, REPLY).encode()
    for content in (b"\xef\xbb\xbf" + plain, plain.replace(b"\n", b"\r\n"), gzip.compress(plain)):
        assert read_one(tmp_path, content).messages == (USER, REPLY)


def test_a_cut_gzip_file_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    content = lines(*[{"role": "user", "content": f"{i} {i * i}"} for i in range(5000)]).encode()
    packed = gzip.compress(content)
    found = read_one(tmp_path, packed[: len(packed) // 2])
    assert 0 < len(found.messages) < 5000
    assert "reading stopped" in found.problems[-1].reason


def test_one_session_a_line(tmp_path: Path) -> None:
    content = lines({"messages": [USER]}, {"nothing": 1}, {"messages": [USER, REPLY]})
    path = written(tmp_path, content, "log.jsonl")
    first, second = read_recordings(path)
    assert (first.name, second.name) == ("log.jsonl#1", "log.jsonl#2")
    assert (len(first.messages), len(second.messages)) == (1, 2)
    assert [(p.line, p.reason[:10]) for p in first.problems] == [(2, "no session")]


def test_problems_are_counted_when_there_are_too_many(tmp_path: Path) -> None:
    found = read_one(tmp_path, lines(USER) + "garbage\n" * 3000)
    assert len(found.problems) == 1001
    assert "2000 more" in found.problems[-1].reason


def test_a_very_long_line_and_many_lines(tmp_path: Path) -> None:
    big = {"role": "user", "content": "x" * 5_000_000}
    found = read_one(tmp_path, lines(big, *[REPLY] * 20_000))
    assert len(found.messages) == 20_001
    assert len(found.messages[0]["content"]) == 5_000_000


@given(content=st.binary(max_size=200) | st.text(max_size=200).map(lambda t: t.encode("utf-8")))
def test_any_bytes_are_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    read_or_refused(written(tmp_path_factory.mktemp("any"), content))


_KEYS = st.sampled_from(
    [
        *("messages", "role", "content", "type", "payload", "message", "uuid", "parentUuid"),
        *("sessionId", "history", "trajectory", "action", "observation", "source", "kind", "v"),
        *("id", "wire", "format", "tool_calls", "attempts", "samples", "eval", "epoch"),
        *("timestamp", "data", "parentId", "attachment", "prompt", "compactions", "at_message"),
        *("info", "exit_status", "submission", "detail", "origin", "ops", "subtype", "agent"),
    ]
)
_JSON = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=True) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_KEYS, inner, max_size=6),
    max_leaves=25,
)
_NAMES = st.sampled_from(
    [
        *("user", "assistant", "system", "tool", "message", "response_item", "event_msg"),
        *("compacted", "session_meta", "attachment", "queue-operation", "progress", "edit"),
        *("MessageEvent", "ActionEvent", "session.start", "assistant.message", "tool_result"),
    ]
)
_ROWS = st.dictionaries(_KEYS, _JSON | _NAMES | st.dictionaries(_KEYS, _JSON | _NAMES), max_size=8)


@settings(max_examples=50)
@given(rows=st.lists(_ROWS, max_size=6), as_list=st.booleans())
def test_any_json_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, rows: list[Any], as_list: bool
) -> None:
    """Objects that look like every format a little, but are none."""
    content = json.dumps(rows) if as_list else lines(*rows)
    read_or_refused(written(tmp_path_factory.mktemp("any"), content))


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.name)
def test_a_recording_with_wrong_values_here_and_there_is_read_or_refused(
    tmp_path: Path, path: Path
) -> None:
    chance = random.Random(path.name)
    whole = json.loads(path.read_text(encoding="utf-8"))
    for _ in range(10):
        read_or_refused(written(tmp_path, _spoilt(whole, chance)))


def _spoilt(value: Any, chance: random.Random) -> Any:
    """The value with one in fifty of its parts replaced, and one key in a hundred missing."""
    if chance.random() < 0.02:
        return chance.choice([None, 1, "x", [], {}, [1], {"a": 1}, True, -1.5])
    if isinstance(value, dict):
        pairs: Any = value.items()  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        return {key: _spoilt(one, chance) for key, one in pairs if chance.random() > 0.01}
    if isinstance(value, list):
        items: Any = value[:30]  # pyright: ignore[reportUnknownVariableType]
        return [_spoilt(one, chance) for one in items]
    return value


def read_or_refused(path: Path) -> None:
    """Whatever a file holds: whole recordings, or one clear error."""
    try:
        every = read_recordings(path)
    except RecordingError as error:
        refused = error
    else:
        assert every
        for found in every:
            assert len(found.messages) == len(found.times)
            assert all(isinstance(message, dict) for message in found.messages)
            assert all(0 <= one.index <= len(found.messages) for one in found.compactions)
        return
    assert refused.reason
    assert refused.path == str(path)
