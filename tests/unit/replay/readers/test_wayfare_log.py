"""wayfare's own transcripts, as the runtime writes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from wayfare.clock import MovableClock
from wayfare.formats import codec
from wayfare.messages import Origin, user
from wayfare.replay.reading import read_recordings
from wayfare.replay.recording import Recording
from wayfare.session import Places, file_transcript
from wayfare.transcript import Collapse, Edit

SESSION: list[dict[str, Any]] = [
    {"role": "user", "content": "go"},
    {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}],
    },
    {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "a", "content": "é\ud800" * 5000}],
    },
    {"role": "assistant", "content": [{"type": "text", "text": "done"}]},
    {
        "role": "user",
        "content": [
            {
                "type": "tool_result",
                "tool_use_id": "a",
                "content": [{"type": "text", "text": "x" * 9000}, {"type": "text", "text": "y"}],
            }
        ],
    },
]


async def write(workspace: Path) -> Path:
    """A session with archived results, a note of wayfare's own, and a committed digest."""
    clock = MovableClock(1000.0)
    places = Places(workspace=workspace)
    transcript = file_transcript(places, "one", clock=clock, sync="never")
    await transcript.open()
    await transcript.begin({})
    for wire in SESSION:
        clock.advance(1)
        await transcript.add([codec("anthropic").decode(wire)])
    await transcript.add([user("what I keep in mind", origin=Origin.NOTES)])
    digest = Collapse(first=2, last=4, message=user("so far: a.py", origin=Origin.SUMMARY))
    await transcript.commit(
        [Edit(by="digest", reason="over the limit", ops=(digest,))], before=900, after=100
    )
    await transcript.close()
    return places.log("one")


def one(path: Path) -> Recording:
    (found,) = read_recordings(path)
    return found


async def test_a_session_reads_back_as_it_came_in(tmp_path: Path) -> None:
    path = await write(tmp_path)
    assert "$blob" in path.read_text()
    found = one(path)
    assert (found.kind, found.format) == ("wayfare", "anthropic")
    assert list(found.messages) == SESSION
    assert found.times == (1001.0, 1002.0, 1003.0, 1004.0, 1005.0)
    (noted,) = found.compactions
    assert (noted.index, noted.summary, noted.trigger) == (5, "so far: a.py", "digest")
    assert noted.tokens_before == 900
    assert not found.problems


async def test_an_archived_result_that_is_gone_or_changed_is_told(tmp_path: Path) -> None:
    path = await write(tmp_path)
    files = sorted((tmp_path / ".task_outputs").rglob("a-*.*"))
    assert len(files) == 2
    for file in files:
        file.chmod(0o600)
    files[0].write_text("[]" if files[0].suffix == ".json" else "other")
    files[1].unlink()
    found = one(path)
    assert len(found.messages) == len(SESSION)
    assert sorted(problem.reason.split()[-1] for problem in found.problems) == [
        "changed",
        "missing",
    ]


async def test_a_torn_last_line_and_an_address_out_of_the_workspace(tmp_path: Path) -> None:
    path = await write(tmp_path / "work")
    (tmp_path / "secret.txt").write_text("secret")
    reference = {"$blob": {"path": "../secret.txt", "bytes": 6, "sha256": ""}}
    block = {"type": "tool_result", "tool_use_id": "b", "content": reference}
    row = {"kind": "message", "v": 1, "id": 99, "time": 1.0, "origin": "tool", "blobs": 1}
    line = json.dumps({**row, "wire": {"role": "user", "content": [block]}})
    with path.open("a") as stream:
        stream.write(line + "\n" + '{"kind":"mess')
    found = one(path)
    assert "missing" in found.messages[-1]["content"][0]["content"]
    assert "secret" not in json.dumps(found.messages[-1]).replace("secret.txt", "")
    assert len(found.problems) == 2


def test_messages_of_another_format_than_the_first_are_told(tmp_path: Path) -> None:
    path = tmp_path / "transcript.jsonl"
    head = {"kind": "mark", "v": 1, "id": 1, "time": 1.0, "name": "session"}
    row = {"kind": "message", "v": 1, "time": 1.0, "origin": "user"}
    rows = [
        {**head, "detail": {"format": "openai-chat", "model": "m"}},
        {**row, "id": 2, "wire": {"role": "user", "content": "go"}},
        {**row, "id": 3, "format": "anthropic", "wire": {"role": "user", "content": "x"}},
        {**row, "id": 4},
    ]
    path.write_text("".join(json.dumps(one) + "\n" for one in rows))
    found = one(path)
    assert (found.format, found.model, len(found.messages)) == ("openai-chat", "m", 1)
    assert [problem.line for problem in found.problems] == [3, 4]
