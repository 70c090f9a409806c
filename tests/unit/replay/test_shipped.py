"""The recordings in the repository load whole, and have their papers with them."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from wayfare.replay.reading import read_recordings

FOLDER = Path(__file__).parents[3] / "recordings"
FILES = sorted(path for path in FOLDER.iterdir() if path.suffix in (".json", ".traj"))


def test_there_are_several_in_two_formats_and_they_are_small() -> None:
    formats = {one.format for path in FILES for one in read_recordings(path)}
    assert len(FILES) >= 4
    assert formats >= {"anthropic", "openai-chat"}
    assert sum(path.stat().st_size for path in FOLDER.rglob("*") if path.is_file()) < 3_000_000


@pytest.mark.parametrize(
    ("name", "sessions", "messages"),
    [
        ("pi-large-session.json", 1, 907),
        ("multi_swe_bench_example_0.json", 1, 47),
        ("multi_swe_bench_example_1.json", 1, 68),
        ("pydicom__pydicom-1458.traj", 1, 26),
        ("taubench-gpt4o-airline-25.json", 25, 1104),
    ],
)
def test_each_loads_whole(name: str, sessions: int, messages: int) -> None:
    found = read_recordings(FOLDER / name)
    assert (len(found), sum(len(one.messages) for one in found)) == (sessions, messages)
    assert len({one.name for one in found}) == sessions
    assert not any(one.problems for one in found)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_results_stand_after_their_calls(path: Path) -> None:
    for recording in read_recordings(path):
        if recording.format == "openai-chat":
            awaited: list[str] = []
            for message in recording.messages:
                if message["role"] == "tool":
                    assert message["tool_call_id"] in awaited
                else:
                    awaited = [call["id"] for call in message.get("tool_calls", ())]
        else:
            known: set[str] = set()
            for message in recording.messages:
                blocks: list[Any] = message["content"]
                known |= {block["id"] for block in blocks if block["type"] == "tool_use"}
                results = {b["tool_use_id"] for b in blocks if b["type"] == "tool_result"}
                assert results <= known


def test_each_is_named_with_its_hash_and_licence() -> None:
    papers = (FOLDER / "README.md").read_text(encoding="utf-8")
    for path in FILES:
        assert hashlib.sha256(path.read_bytes()).hexdigest() in papers
    assert len(list((FOLDER / "licences").glob("*.LICENSE.txt"))) == 4
