"""What every `Blobs` must do, as checks to run on one's own.

Each check takes a function that makes a store; every call makes one more on the same place, which
is fresh for each check.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

import anyio

from wayfare.errors import NotFound
from wayfare.store import Blobs, Ref
from wayfare.store.ref import digest
from wayfare.testing.expect import expect

MakeBlobs = Callable[[], Blobs]
BlobsCheck = Callable[[MakeBlobs], Awaitable[None]]

HOSTILE_NAMES = (
    "call_1.txt",
    "CALL_1.txt",
    "",
    ".",
    "..",
    "../../etc/passwd.txt",
    "..\\..\\windows\\system.txt",
    "/absolute.txt",
    "-rf.txt",
    ".hidden.txt",
    "nul\0byte.txt",
    "line\nend\r\u2028.txt",
    "\x1b[31mred.txt",
    "half a character \ud800.txt",
    "call#12-40.txt",
    "调用_读取.json",
    "cafe\u0301.txt",
    "toolu_" + "x" * 1_420,
    "语" * 500 + ".txt",
    "no suffix",
    "a.long-and-strange-suffix",
    "con.txt",
)
"""Names as tool call ids may be; a model or a server makes them up."""


async def contents_come_back_byte_for_byte(make: MakeBlobs) -> None:
    blobs = make()
    for number, content in enumerate(
        (b"", b"text", b"\x00\xff\xfe", b"a\r\nb\n", "漢字".encode(), bytes(range(256)) * 12_000)
    ):
        ref = await blobs.put(f"call_{number}.txt", content)
        assert (ref.bytes, ref.sha256) == (len(content), digest(content)), ref
        assert await blobs.has(ref)
        assert await blobs.get(ref) == content
        assert await make().get(ref) == content


async def a_printed_address_leads_back(make: MakeBlobs) -> None:
    blobs = make()
    for name in HOSTILE_NAMES:
        content = b"content of " + repr(name).encode()
        ref = await blobs.put(name, content)
        printed = str(ref)
        assert printed.isprintable(), printed
        assert ".." not in printed.split("/"), printed
        assert await make().get(Ref.parse(printed)) == content, printed
        assert await blobs.has(Ref.parse(printed))


async def the_same_is_stored_once(make: MakeBlobs) -> None:
    first = await make().put("call_1.txt", b"same")
    again = await make().put("call_1.txt", b"same")
    assert first == again, (first, again)


async def a_name_used_again_overwrites_nothing(make: MakeBlobs) -> None:
    blobs = make()
    refs = [await blobs.put("call_1.txt", b"%d" % number) for number in range(20)]
    assert len({ref.path for ref in refs}) == 20, refs
    for number, ref in enumerate(refs):
        assert await blobs.get(ref) == b"%d" % number


async def the_kind_of_content_shows_in_the_address(make: MakeBlobs) -> None:
    blobs = make()
    for suffix in (".txt", ".json", ".png"):
        ref = await blobs.put(f"call_1{suffix}", b"x")
        assert ref.path.endswith(suffix), ref


async def an_address_with_other_length_or_hash_is_refused(make: MakeBlobs) -> None:
    blobs = make()
    ref = await blobs.put("call_1.txt", b"content")
    await _refused(blobs, replace(ref, bytes=6))
    await _refused(blobs, replace(ref, sha256=digest(b"CONTENT")))
    assert not await blobs.has(replace(ref, bytes=6))


async def an_address_to_nowhere_is_refused(make: MakeBlobs) -> None:
    blobs = make()
    ref = await blobs.put("call_1.txt", b"content")
    for path in (
        "",
        "nowhere.txt",
        ref.path + "x",
        "../" + ref.path,
        "/etc/hostname",
        "~/.profile",
        ref.path.rsplit("/", 1)[0],
        ref.path.rsplit("/", 1)[0] + "/../../etc/hostname",
        ref.path + "\0",
    ):
        await _refused(blobs, Ref(path=path))
        assert not await blobs.has(Ref(path=path)), path
    entry = Ref(path=ref.path, first=1, last=1)
    await _refused(blobs, entry)
    assert not await blobs.has(entry)


async def many_at_once_do_not_mix(make: MakeBlobs) -> None:
    blobs = make()
    refs: dict[int, Ref] = {}

    async def put(number: int) -> None:
        refs[number] = await blobs.put(f"call_{number % 3}.txt", b"%d" % (number % 10))

    async with anyio.create_task_group() as tasks:
        for number in range(30):
            tasks.start_soon(put, number)
    for number, ref in refs.items():
        assert await blobs.get(ref) == b"%d" % (number % 10)


async def _refused(blobs: Blobs, ref: Ref) -> None:
    error = await expect(NotFound, blobs.get(ref), f"{ref!r} was read")
    assert error.ref == str(ref), (error.ref, ref)


BLOBS_CHECKS: tuple[BlobsCheck, ...] = (
    contents_come_back_byte_for_byte,
    a_printed_address_leads_back,
    the_same_is_stored_once,
    a_name_used_again_overwrites_nothing,
    the_kind_of_content_shows_in_the_address,
    an_address_with_other_length_or_hash_is_refused,
    an_address_to_nowhere_is_refused,
    many_at_once_do_not_mix,
)
