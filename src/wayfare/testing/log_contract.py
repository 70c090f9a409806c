"""What every `Log` must do, as checks to run on one's own.

```python
@pytest.mark.parametrize("check", LOG_CHECKS, ids=lambda check: check.__name__)
async def test_my_log(check):
    place = MyPlace()                        # fresh for each check
    await check(lambda: MyLog(place))        # every call: one more log on the same place
```
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio

from wayfare.errors import LeaseHeld, WriteFailed
from wayfare.store import Log
from wayfare.testing.expect import expect

MakeLog = Callable[[], Log]
LogCheck = Callable[[MakeLog], Awaitable[None]]

ODD_LINES = (
    b"plain",
    b"",
    b"ends with a carriage return\r",
    "line\u2028separators\u2029and\u0085others\x0b\x0c\x1c".encode(),
    b"\x00 nul and no utf-8 \xff\xfe",
    "漢字 ✓".encode(),
    b" " * 3,
)
"""Bytes that are one line, though many a reader thinks otherwise."""


async def a_new_log_is_empty(make: MakeLog) -> None:
    log = make()
    opened = await log.open()
    assert (opened.lines, opened.torn_bytes, opened.torn_path) == (0, 0, ""), opened
    assert await _contents(log) == []
    assert await log.size() == 0
    await log.close()


async def lines_come_back_byte_for_byte_and_numbered(make: MakeLog) -> None:
    log = make()
    await log.open()
    await log.append(ODD_LINES[:1])
    await log.append(ODD_LINES[1:])
    read = [(line.number, line.content) async for line in log.read()]
    assert read == list(enumerate(ODD_LINES, start=1)), read
    assert await log.size() == sum(map(len, ODD_LINES)) + len(ODD_LINES)
    await log.close()


async def a_range_is_read_with_both_ends(make: MakeLog) -> None:
    log = make()
    await log.open()
    await log.append([b"%d" % number for number in range(1, 11)])
    for first, last, expected in [
        (3, 5, [b"3", b"4", b"5"]),
        (10, 10, [b"10"]),
        (9, 99, [b"9", b"10"]),
        (8, None, [b"8", b"9", b"10"]),
        (11, None, []),
        (5, 4, []),
        (1, 1, [b"1"]),
    ]:
        read = [line.content async for line in log.read(first, last)]
        assert read == expected, (first, last, read)
    await log.close()


async def a_reopened_log_goes_on(make: MakeLog) -> None:
    log = make()
    await log.open()
    await log.append([b"one", b"two"])
    await log.close()
    again = make()
    assert (await again.open()).lines == 2
    await again.append([b"three"])
    assert await _contents(again) == [b"one", b"two", b"three"]
    assert [line.number async for line in again.read(3)] == [3]
    await again.close()


async def opening_twice_changes_nothing(make: MakeLog) -> None:
    log = make()
    await log.open()
    await log.append([b"one"])
    assert (await log.open()).lines == 1
    await log.append([b"two"])
    assert await _contents(log) == [b"one", b"two"]
    await log.close()
    await log.close()


async def a_line_end_inside_a_line_is_refused(make: MakeLog) -> None:
    log = make()
    await log.open()
    call = log.append([b"good", b"two\nlines"])
    await expect(ValueError, call, "a line with a line end inside was taken")
    assert await _contents(log) == []
    await log.close()


async def appending_nothing_is_nothing(make: MakeLog) -> None:
    log = make()
    await log.open()
    await log.append([])
    assert await log.size() == 0
    await log.close()


async def a_closed_log_takes_nothing(make: MakeLog) -> None:
    log = make()
    await log.open()
    await log.append([b"one"])
    await log.close()
    error = await expect(WriteFailed, log.append([b"two"]), "a closed log took a line")
    assert error.reason
    assert await _contents(make()) == [b"one"]


async def a_second_writer_is_refused(make: MakeLog) -> None:
    log, second = make(), make()
    await log.open()
    error = await expect(LeaseHeld, second.open(), "two logs on one place were open at once")
    assert error.holder
    await log.close()
    await second.open()
    await second.append([b"mine now"])
    await second.close()


async def reading_needs_no_opening(make: MakeLog) -> None:
    log, reader = make(), make()
    assert await _contents(reader) == []
    assert await reader.size() == 0
    await log.open()
    await log.append([b"one"])
    assert await _contents(reader) == [b"one"]
    await log.append([b"two"])
    assert await _contents(reader) == [b"one", b"two"]
    assert await reader.size() == await log.size() == 8
    await log.close()


async def reading_ends_where_the_log_ended_when_it_began(make: MakeLog) -> None:
    log = make()
    await log.open()
    await log.append([b"%d" % number for number in range(3)])
    seen = 0
    async for _ in log.read():
        seen += 1
        await log.append([b"more"])
    assert seen == 3, seen
    await log.close()


async def lines_of_one_append_stay_together(make: MakeLog) -> None:
    log = make()
    await log.open()
    async with anyio.create_task_group() as tasks:
        for writer in range(20):
            tasks.start_soon(log.append, [b"%d-%d" % (writer, part) for part in range(3)])
    lines = await _contents(log)
    assert len(lines) == 60, len(lines)
    for at in range(0, 60, 3):
        writer = lines[at].split(b"-")[0]
        assert lines[at : at + 3] == [b"%s-%d" % (writer, part) for part in range(3)], lines
    await log.close()


async def a_long_log_is_read_from_anywhere(make: MakeLog) -> None:
    log = make()
    await log.open()
    lines = [b"%d " % number + b"x" * (number * 7919 % 700) for number in range(1, 3_001)]
    lines[1_499] = b"long " + b"y" * 3_000_000
    for at in range(0, 3_000, 500):
        await log.append(lines[at : at + 500])
    for reader in (log, make()):
        assert await _contents(reader) == lines
        for first in (1, 2, 1_499, 1_500, 1_501, 2_718, 3_000):
            read = [line async for line in reader.read(first, first + 1)]
            assert [line.number for line in read] == [*range(first, min(first + 2, 3_001))]
            assert [line.content for line in read] == lines[first - 1 : first + 1]
    await log.close()


async def _contents(log: Log) -> list[bytes]:
    return [line.content async for line in log.read()]


LOG_CHECKS: tuple[LogCheck, ...] = (
    a_new_log_is_empty,
    lines_come_back_byte_for_byte_and_numbered,
    a_range_is_read_with_both_ends,
    a_reopened_log_goes_on,
    opening_twice_changes_nothing,
    a_line_end_inside_a_line_is_refused,
    appending_nothing_is_nothing,
    a_closed_log_takes_nothing,
    a_second_writer_is_refused,
    reading_needs_no_opening,
    reading_ends_where_the_log_ended_when_it_began,
    lines_of_one_append_stay_together,
    a_long_log_is_read_from_anywhere,
)
