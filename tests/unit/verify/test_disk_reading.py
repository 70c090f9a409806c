"""The judge's own readers: addresses, calls without results, indentation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from wayfare.messages import assistant, call, result, results, user
from wayfare.model import Request
from wayfare.verify.disk_reading import (
    addresses_in,
    body_of,
    indentation,
    read_address,
    record_files,
    unpaired,
)

LOG = ".transcripts/s/transcript.jsonl"
BLOB = ".task_outputs/tool-results/s/c1.txt"


def written(workspace: Path, *entries: dict[str, Any]) -> None:
    """A transcript of these entries, and a blob."""
    for name in (LOG, BLOB):
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(entry) for entry in entries]
    (workspace / LOG).write_text("\n".join([*lines, "{torn"]), encoding="utf-8")
    (workspace / BLOB).write_bytes(b"all\r\nof it\x00")


def holding(id: int, content: Any) -> dict[str, Any]:
    return {"v": 1, "id": id, "wire": {"role": "user", "content": [{"content": content}]}}


def test_an_entry_leads_to_the_file_its_result_stands_in(tmp_path: Path) -> None:
    written(tmp_path, holding(3, "before"), holding(4, {"$blob": {"path": BLOB}}))
    assert b"all\r\nof it\x00" in read_address(tmp_path, f"{LOG}#4").contents
    assert b"before" not in read_address(tmp_path, f"{LOG}#4").contents
    assert b"before" in read_address(tmp_path, f"{LOG}#1-4").contents


def test_a_file_is_its_bytes_and_what_is_not_there_is_nothing(tmp_path: Path) -> None:
    written(tmp_path)
    assert read_address(tmp_path, BLOB).contents == (b"all\r\nof it\x00",)
    assert read_address(tmp_path, f"{BLOB}.gone").contents == ()
    assert read_address(tmp_path, f"{LOG}#9").contents == ()


def test_addresses_are_those_that_lead_somewhere(tmp_path: Path) -> None:
    written(tmp_path)
    text = f"[read_file a/b.txt: saved at {LOG}#4] and {BLOB}. Also .task_outputs/gone.txt"
    assert addresses_in(text, tmp_path) == [f"{LOG}#4", BLOB]


ASKED = assistant("", call("a", id="1"), call("b", id="2"))


@pytest.mark.parametrize(
    ("messages", "wrong"),
    [
        ([user("go"), ASKED, results(result("1", "x"), result("2", "y"))], []),
        ([user("go"), ASKED, results(result("1", "x"))], ["call 2 without a result"]),
        ([user("go"), ASKED], ["call 1 without a result", "call 2 without a result"]),
        ([user("go"), results(result("9", "x"))], ["result of 9 without its call"]),
        (
            [user("go"), ASKED, user("wait"), results(result("1", "x"), result("2", "y"))],
            [
                "call 1 without a result",
                "call 2 without a result",
                "result of 1 without its call",
                "result of 2 without its call",
            ],
        ),
    ],
)
def test_calls_and_results_are_paired(messages: list[Any], wrong: list[str]) -> None:
    assert unpaired(Request(messages=tuple(messages))) == wrong


@pytest.mark.parametrize(
    ("text", "how"),
    [
        ("def f():\n\treturn 1\n", "tabs"),
        ("def f():\n    return 1\n\n        more\n", "four spaces"),
        ("def f():\n  return 1\n", "mixed"),
        ("def f():\n\tif x:\n\t    return 1\n", "mixed"),
        ("x = 1\n", "none"),
        ("", "none"),
    ],
)
def test_indentation_is_read_from_bytes(tmp_path: Path, text: str, how: str) -> None:
    (tmp_path / "f.py").write_text(text)
    assert indentation(tmp_path / "f.py") == how


def test_records_are_files_without_the_index(tmp_path: Path) -> None:
    folder = tmp_path / ".memory"
    folder.mkdir()
    (folder / "MEMORY.md").write_text("- [a](a.md)\n")
    (folder / "a.md").write_text("---\nname: a\n---\nTabs.\n---\nmore\n")
    assert [path.name for path in record_files(tmp_path)] == ["a.md"]
    assert body_of(folder / "a.md") == "Tabs.\n---\nmore"
