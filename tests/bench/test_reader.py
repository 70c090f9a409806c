"""The independent reader: two reads at most, from nothing but the request text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from bench.judges.layout import addresses
from bench.judges.reader import Recovery, recoverable

BLOBS = ".task_outputs/tool-results/s1"
SESSION = ".transcripts/s1"


def write(root: Path, path: str, data: str | bytes) -> str:
    full = root / path
    full.parent.mkdir(parents=True, exist_ok=True)
    full.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def entry(id: int, wire: Any) -> str:
    return json.dumps({"v": 1, "id": id, "kind": "message", "wire": wire}) + "\n"


def find(text: str, request: str, root: Path) -> Recovery:
    (found,) = recoverable([text], request, root)
    return found


def test_visible_text_needs_no_read(tmp_path: Path) -> None:
    assert find("hello", "say hello there", tmp_path) == Recovery(found=True, reads=0, chars_read=0)


def test_text_without_any_address_is_lost(tmp_path: Path) -> None:
    write(tmp_path, f"{BLOBS}/c1-0a1b2c3d.txt", "the text")
    assert not find("the text", "nothing leads there", tmp_path).found


def test_blob_is_one_read_and_comes_back_byte_for_byte(tmp_path: Path) -> None:
    text = "a\r\nb\u2028c\x85d\x00e"
    path = write(tmp_path, f"{BLOBS}/c1-0a1b2c3d.txt", text)
    found = find(text, f"Full output: {path}\nPreview: a", tmp_path)
    assert (found.found, found.reads, found.chars_read) == (True, 1, len(text))
    write(tmp_path, path, text.replace("\r\n", "\n"))
    assert not find(text, f"Full output: {path}", tmp_path).found


def test_part_of_a_file_is_found_and_charged_whole(tmp_path: Path) -> None:
    path = write(tmp_path, f"{BLOBS}/c1-0a1b2c3d.txt", "x" * 100 + "needle" + "y" * 100)
    assert find("needle", f"at {path}", tmp_path).chars_read == 206


def test_leaf_of_a_block_list_is_found(tmp_path: Path) -> None:
    blocks = [{"type": "text", "text": 'quoted "text"\nwith lines'}]
    path = write(tmp_path, f"{BLOBS}/c1-0a1b2c3d.json", json.dumps(blocks))
    assert find('quoted "text"\nwith lines', f"at {path}.", tmp_path).reads == 1


def test_transcript_entry_is_one_read_of_that_line_only(tmp_path: Path) -> None:
    lines = [entry(i, {"role": "user", "content": f"message {i} " * 50}) for i in range(100)]
    path = write(tmp_path, f"{SESSION}/transcript.jsonl", "".join(lines))
    found = find("message 57 " * 50, f"see {path}#57", tmp_path)
    assert (found.found, found.reads) == (True, 1)
    assert found.chars_read == len(lines[57])
    assert not find("message 58 " * 50, f"see {path}#57", tmp_path).found


def test_entry_ids_count_and_not_line_numbers(tmp_path: Path) -> None:
    lines = [entry(i * 10, {"role": "user", "content": f"number {i}"}) for i in range(5)]
    path = write(tmp_path, f"{SESSION}/transcript.jsonl", "".join(lines))
    assert find("number 3", f"{path}#30", tmp_path).found
    assert not find("number 3", f"{path}#3", tmp_path).found


def test_blob_named_by_an_entry_is_the_second_read(tmp_path: Path) -> None:
    blob = write(tmp_path, f"{BLOBS}/c1-0a1b2c3d.txt", "big result")
    part = {"type": "tool_result", "content": {"$blob": {"path": blob, "bytes": 10, "sha256": ""}}}
    line = entry(7, {"role": "user", "content": [part]})
    path = write(tmp_path, f"{SESSION}/transcript.jsonl", line)
    found = find("big result", f"{path}#7", tmp_path)
    assert (found.reads, found.chars_read) == (2, len(line) + 10)


def test_table_of_contents_leads_to_the_text(tmp_path: Path) -> None:
    blob = write(tmp_path, f"{BLOBS}/c1-0a1b2c3d.txt", "big result")
    table = f"7\tresult\tread\tmain.py\t10\t{blob}\n"
    path = write(tmp_path, f"{SESSION}/contents.tsv", table)
    found = find("big result", f"[80 messages archived at {path}]", tmp_path)
    assert (found.reads, found.chars_read) == (2, len(table) + 10)


def test_three_reads_are_too_many(tmp_path: Path) -> None:
    blob = write(tmp_path, f"{BLOBS}/c1-0a1b2c3d.txt", "big result")
    wire = {"role": "user", "content": {"$blob": {"path": blob}}}
    transcript = write(tmp_path, f"{SESSION}/transcript.jsonl", entry(7, wire))
    table = write(tmp_path, f"{SESSION}/contents.tsv", f"7\tresult\t{transcript}#7\n")
    assert not find("big result", f"at {table}", tmp_path).found


def test_range_of_more_than_200_lines_costs_the_whole_file(tmp_path: Path) -> None:
    rows = "".join(f"{i}\trow {i}\n" for i in range(1, 402))
    path = write(tmp_path, f"{SESSION}/contents.tsv", rows)
    assert find("7\trow 7", f"{path}#1-200", tmp_path).chars_read < len(rows) / 2
    assert find("7\trow 7", f"{path}#1-201", tmp_path).chars_read == len(rows)
    assert not find("400\trow 400", f"{path}#1-201", tmp_path).found


def test_cheapest_way_is_reported(tmp_path: Path) -> None:
    lines = [entry(i, {"role": "user", "content": f"message {i}"}) for i in range(50)]
    path = write(tmp_path, f"{SESSION}/transcript.jsonl", "".join(lines))
    found = find("message 3", f"all at {path}, the third at {path}#3", tmp_path)
    assert found.chars_read == len(lines[3])


def test_values_of_call_arguments_are_found_inside_their_json_text(tmp_path: Path) -> None:
    arguments = json.dumps({"patch": "line one\nline two"})
    call = {"id": "c", "type": "function", "function": {"name": "p", "arguments": arguments}}
    path = write(tmp_path, f"{SESSION}/transcript.jsonl", entry(1, {"tool_calls": [call]}))
    assert find("line one\nline two", f"{path}#1", tmp_path).reads == 1


def test_address_may_not_leave_the_root(tmp_path: Path) -> None:
    write(tmp_path, "secret.txt", "the hidden words")
    root = tmp_path / "root"
    (root / ".transcripts").mkdir(parents=True)
    assert not find("the hidden words", "at .transcripts/../../secret.txt", root).found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(.transcripts/s1/transcript.jsonl#57)", [".transcripts/s1/transcript.jsonl#57"]),
        (
            "saved at .task_outputs/tool-results/s/a-1f.txt.",
            [".task_outputs/tool-results/s/a-1f.txt"],
        ),
        ("/home/u/.transcripts/会话/contents.tsv, then", [".transcripts/会话/contents.tsv"]),
        ("`.transcripts/s/x.jsonl#1-3` .transcripts/s/x.jsonl#1-3", [".transcripts/s/x.jsonl#1-3"]),
        ("no address in transcripts/s/x.jsonl", []),
    ],
)
def test_addresses_are_cut_out_of_prose(text: str, expected: list[str]) -> None:
    assert addresses(text) == expected


def test_name_of_a_session_may_hold_the_sign_of_an_entry(tmp_path: Path) -> None:
    path = write(tmp_path, ".transcripts/set#3/transcript.jsonl", entry(7, {"content": "the text"}))
    assert addresses(f"all of it: {path}#7-9.") == [f"{path}#7-9"]
    assert find("the text", f"all of it: {path}#7", tmp_path).reads == 1
