"""A log cut at any byte loads to a prefix of its lines, and says what was cut off."""

from __future__ import annotations

from pathlib import Path

import anyio
from hypothesis import given
from hypothesis import strategies as st

from wayfare.backends import FileLog
from wayfare.backends.line_index import LineIndex
from wayfare.testing import FaultyDisk

PATH = Path("/w/transcript.jsonl")

line = st.binary(max_size=40).map(lambda content: content.replace(b"\n", b"\r"))
long_line = st.integers(60_000, 140_000).map(lambda size: b"x" * size)
lines = st.lists(st.one_of(line, line, line, long_line), max_size=12)


@given(lines=lines, data=st.data())
def test_a_log_cut_anywhere_loads_to_a_prefix(lines: list[bytes], data: st.DataObject) -> None:
    whole = b"".join(content + b"\n" for content in lines)
    cut = data.draw(st.integers(0, len(whole)))

    async def check() -> None:
        disk = FaultyDisk()
        disk.make_folder(PATH.parent)
        disk.open(PATH).write(whole[:cut])
        log = FileLog(PATH, disk=disk, sync="never")
        unopened = [entry.content async for entry in FileLog(PATH, disk=disk).read()]
        opened = await log.open()
        read = [entry async for entry in log.read()]
        kept = whole[:cut].count(b"\n")
        assert [entry.content for entry in read] == unopened == lines[:kept]
        assert [entry.number for entry in read] == list(range(1, kept + 1))
        assert opened.lines == kept
        torn = whole[:cut].rpartition(b"\n")[2]
        assert opened.torn_bytes == len(torn)
        if torn:
            assert disk.read(Path(opened.torn_path)) == torn
        await log.append([b"after"])
        assert disk.read(PATH) == b"".join(content + b"\n" for content in [*lines[:kept], b"after"])

    anyio.run(check)


@given(lines=lines, data=st.data())
def test_any_range_is_the_same_however_the_file_was_read_in(
    lines: list[bytes], data: st.DataObject
) -> None:
    first = data.draw(st.integers(1, len(lines) + 2))
    last = data.draw(st.integers(0, len(lines) + 2))

    async def check() -> None:
        disk = FaultyDisk()
        log = FileLog(PATH, disk=disk, sync="never")
        await log.open()
        at = 0
        while at < len(lines):
            step = data.draw(st.integers(1, 5))
            await log.append(lines[at : at + step])
            at += step
        expected = list(enumerate(lines, start=1))[first - 1 : max(last, first - 1)]
        for reader in (log, FileLog(PATH, disk=disk)):
            read = [(entry.number, entry.content) async for entry in reader.read(first, last)]
            assert read == expected

    anyio.run(check)


@given(content=st.lists(st.sampled_from([b"\n", b"x", b"y" * 70_000]), max_size=30).map(b"".join))
def test_an_index_points_to_the_start_of_a_line(content: bytes) -> None:
    index = LineIndex()
    index.feed(content)
    assert index.lines == content.count(b"\n")
    assert index.whole_bytes == content.rfind(b"\n") + 1
    for number in range(1, index.lines + 1):
        offset, there = index.near(number)
        assert there <= number
        assert content[:offset].count(b"\n") == there - 1
        assert offset == 0 or content[offset - 1 : offset] == b"\n"
