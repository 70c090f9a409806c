"""What every `Docs` must do, as checks to run on one's own.

Each check takes a function that makes a store; every call makes one more on the same place, which
is fresh for each check.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio

from wayfare.errors import Conflict, WriteFailed
from wayfare.store import Docs
from wayfare.store.ref import digest
from wayfare.testing.expect import expect

MakeDocs = Callable[[], Docs]
DocsCheck = Callable[[MakeDocs], Awaitable[None]]

GOOD_NAMES = ("tabs", "use-tabs.v2", "项目-约定", "with space", "Ünïcode", "_", "a" * 120)
BAD_NAMES = (
    "",
    ".",
    "..",
    ".hidden",
    "../out",
    "in/to",
    "in\\to",
    "/absolute",
    "nul\0",
    "line\nend",
    "\x1b[31m",
    "half \ud800",
    "x" * 400,
)


async def a_new_store_is_empty(make: MakeDocs) -> None:
    docs = make()
    assert await docs.names() == ()
    assert await docs.stamps() == {}
    assert await docs.read("tabs") is None


async def texts_come_back_byte_for_byte(make: MakeDocs) -> None:
    docs = make()
    for name in GOOD_NAMES:
        content = f"---\r\nname: {name}\n".encode() + b"\x00\xff"
        assert await docs.write(name, content, expected=None) == digest(content)
        assert await docs.read(name) == content
        assert await make().read(name) == content
    assert await docs.names() == tuple(sorted(GOOD_NAMES))
    assert set(await docs.stamps()) == set(GOOD_NAMES)


async def only_the_version_that_was_read_is_replaced(make: MakeDocs) -> None:
    docs = make()
    first = await docs.write("tabs", b"one", expected=None)
    second = await docs.write("tabs", b"two", expected=first)
    await _conflict(docs, "tabs", b"three", expected=first, found=second)
    await _conflict(docs, "tabs", b"three", expected=None, found=second)
    await _conflict(docs, "spaces", b"three", expected=first, found=None)
    assert await docs.read("tabs") == b"two"
    assert await docs.names() == ("tabs",)


async def only_the_version_that_was_read_is_deleted(make: MakeDocs) -> None:
    docs = make()
    first = await docs.write("tabs", b"one", expected=None)
    second = await docs.write("tabs", b"two", expected=first)
    for name, expected, found in (("tabs", first, second), ("spaces", first, None)):
        call = docs.delete(name, expected=expected)
        error = await expect(Conflict, call, f"{name} was deleted in a version it does not have")
        assert (error.expected, error.found) == (expected, found)
    assert await docs.read("tabs") == b"two"
    await docs.delete("tabs", expected=second)
    assert await docs.read("tabs") is None
    assert await docs.names() == ()
    await docs.write("tabs", b"three", expected=None)


async def a_stamp_changes_with_its_text(make: MakeDocs) -> None:
    docs = make()
    one = await docs.write("one", b"a", expected=None)
    await docs.write("two", b"b", expected=None)
    before = await docs.stamps()
    assert await docs.stamps() == before
    await docs.write("one", b"c", expected=one)
    after = await docs.stamps()
    assert after["one"] != before["one"], "as long as before, and yet another text"
    assert after["two"] == before["two"]


async def names_that_lead_elsewhere_are_refused(make: MakeDocs) -> None:
    docs = make()
    for name in BAD_NAMES:
        await _not_written(docs, name)
        assert await docs.read(name) is None, name
    assert await docs.names() == ()


async def names_that_some_disks_take_for_one_are_refused(make: MakeDocs) -> None:
    docs = make()
    await docs.write("Tabs", b"one", expected=None)
    await docs.write("caf\u00e9", b"one", expected=None)
    for name in ("tabs", "TABS", "cafe\u0301", "CAF\u00c9"):
        await _not_written(docs, name)
    assert await docs.read("Tabs") == b"one"
    assert await docs.names() == ("Tabs", "caf\u00e9")


async def of_racing_writers_one_wins(make: MakeDocs) -> None:
    docs = make()
    start = await docs.write("count", b"0", expected=None)
    won: list[int] = []

    async def swap(number: int) -> None:
        try:
            await make().write("count", b"%d" % number, expected=start)
            won.append(number)
        except Conflict:
            pass

    async with anyio.create_task_group() as tasks:
        for number in range(1, 9):
            tasks.start_soon(swap, number)
    assert len(won) == 1, won
    assert await docs.read("count") == b"%d" % won[0]


async def who_reads_again_after_a_conflict_loses_nothing(make: MakeDocs) -> None:
    docs = make()
    await docs.write("count", b"0", expected=None)

    async def count_up() -> None:
        mine = make()
        while True:
            content = await mine.read("count")
            assert content is not None
            try:
                await mine.write("count", b"%d" % (int(content) + 1), expected=digest(content))
                return
            except Conflict:
                continue

    async with anyio.create_task_group() as tasks:
        for _ in range(8):
            tasks.start_soon(count_up)
    assert await docs.read("count") == b"8"


async def _conflict(
    docs: Docs, name: str, content: bytes, *, expected: str | None, found: str | None
) -> None:
    call = docs.write(name, content, expected=expected)
    error = await expect(Conflict, call, f"{name} was written over a version nobody had read")
    assert (error.expected, error.found) == (expected, found), (error.expected, error.found)


async def _not_written(docs: Docs, name: str) -> None:
    call = docs.write(name, b"content", expected=None)
    error = await expect(WriteFailed, call, f"{name!r} was written")
    assert error.reason


DOCS_CHECKS: tuple[DocsCheck, ...] = (
    a_new_store_is_empty,
    texts_come_back_byte_for_byte,
    only_the_version_that_was_read_is_replaced,
    only_the_version_that_was_read_is_deleted,
    a_stamp_changes_with_its_text,
    names_that_lead_elsewhere_are_refused,
    names_that_some_disks_take_for_one_are_refused,
    of_racing_writers_one_wins,
    who_reads_again_after_a_conflict_loses_nothing,
)
