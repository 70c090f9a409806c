"""`read_file`: pages, kinds of files, addresses, and what was read before."""

from __future__ import annotations

import os
import struct
from pathlib import Path

import pytest
from tests.unit.agent.builtin.workbench import Workbench, lines

from wayfare.messages import Media, ToolResult, assistant, call, result, results, user

pytestmark = pytest.mark.anyio
PNG = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", 640, 480) + b"rest"


async def test_lines_have_numbers_and_a_page_says_how_to_go_on(bench: Workbench) -> None:
    bench.write("a.txt", lines(range(1, 101)))
    found = await bench.call("read_file", path="a.txt", offset=3, limit=2)
    assert found.text == "3\tline 3\n4\tline 4\n[lines 3–4 of 100; go on with offset=5]"
    last = await bench.call("read_file", path="a.txt", offset=-1)
    assert last.text == "100\tline 100"


async def test_a_page_fits_the_room_results_have(tmp_path: Path) -> None:
    bench = Workbench(tmp_path, result_chars=1_000)
    bench.write("long.txt", lines(range(1, 10_000)))
    found = await bench.call("read_file", path="long.txt")
    assert len(found.text) < 1_100
    assert "go on with offset=" in found.text


async def test_the_same_page_is_not_given_twice_while_it_is_in_sight(bench: Workbench) -> None:
    place = bench.write("a.py", "one\ntwo\n")
    await bench.call("read_file", path="a.py")
    whole = await bench.call("read_file", path="a.py")
    assert whole.text == "1\tone\n2\ttwo", "the first result left the context"
    bench.sight.visible = {"c1", "c2"}
    again = await bench.call("read_file", path="a.py")
    assert again.text.startswith("[a.py lines 1–2 of 2: unchanged since the call c2")
    other = await bench.call("read_file", path="a.py", offset=2)
    assert other.text == "2\ttwo", "another page is another result"
    place.write_text("one\nTWO\n")
    assert (await bench.call("read_file", path="a.py")).text == "1\tone\n2\tTWO"


async def test_a_picture_is_shown_as_one(bench: Workbench) -> None:
    bench.write("shot.png", PNG)
    found = await bench.call("read_file", path="shot.png")
    assert found.text == f"shot.png: PNG picture, 640×480 pixels, {len(PNG)} bytes"
    (block,) = found.blocks
    assert isinstance(block, Media)
    assert (block.kind, block.media_type) == ("image", "image/png")


async def test_a_picture_no_model_takes_is_refused_with_its_size(bench: Workbench) -> None:
    bench.write("big.png", PNG + b"\0" * 4_000_000)
    found = await bench.call("read_file", path="big.png")
    assert found.is_error
    assert "too large to be shown" in found.text


async def test_a_binary_file_is_named_not_poured_out(bench: Workbench) -> None:
    bench.write("a.out", b"\x7fELF\x02\x01\x01" + b"\0" * 100)
    found = await bench.call("read_file", path="a.out")
    assert found.text.startswith("a.out is a binary file of 107 bytes that begins 7f 45 4c 46")
    assert not found.is_error


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        (b"\xef\xbb\xbffirst\r\nsecond\r\n", "1\tfirst\n2\tsecond"),
        ("ä\nö\n".encode("utf-16"), "1\tä\n2\tö"),
        (b"caf\xe9\n", "1\tcaf\ufffd\n[\ufffd stands for bytes that are no UTF-8]"),
        (b"", "odd.txt is empty"),
        (b"no end", "1\tno end"),
    ],
)
async def test_texts_of_all_sorts_are_read(bench: Workbench, content: bytes, shown: str) -> None:
    bench.write("odd.txt", content)
    assert (await bench.call("read_file", path="odd.txt")).text == shown


async def test_a_line_longer_than_a_page_can_be_read_to_its_end(tmp_path: Path) -> None:
    bench = Workbench(tmp_path, result_chars=1_000)
    whole = "".join(f"{n:05}," for n in range(1_000))
    bench.write("data.json", whole + "\n")
    found = await bench.call("read_file", path="data.json")
    assert "read on in one with offset=1 column=1001" in found.text
    together, column = "", 1
    while True:
        found = (
            await bench.call("read_file", path="data.json", column=column) if column > 1 else found
        )
        text, _, note = found.text.rpartition("\n[")
        together += text.partition("\t")[2].partition(" […")[0] if column == 1 else text
        if "ends here" in note:
            break
        column = int(note.partition("column=")[2].rstrip("]"))
    assert together == whole


async def test_what_is_not_there_is_answered_with_what_is_near(bench: Workbench) -> None:
    bench.write("src/session.py", "x\n")
    near = await bench.call("read_file", path="src/sesion.py")
    assert near.text == "src/sesion.py does not exist. Did you mean src/session.py?"
    ending = await bench.call("read_file", path="src/Session")
    assert "Did you mean src/session.py?" in ending.text
    folder = await bench.call("read_file", path="lib/deep/a.py")
    assert folder.text == "lib/deep/a.py does not exist, nor does its folder; . does"
    listed = await bench.call("read_file", path="src")
    assert listed.text == "src is a folder; use glob to list it. It holds: session.py"
    beyond = await bench.call("read_file", path="src/session.py", offset=9)
    assert beyond.text == "src/session.py has 1 lines; line 9 is beyond them"
    assert all(f.is_error for f in (near, ending, folder, listed, beyond))


async def test_pipes_and_circles_do_not_hold_it_up(bench: Workbench) -> None:
    os.mkfifo(bench.workspace / "pipe")
    (bench.workspace / "loop").symlink_to("loop")
    assert "not a file" in (await bench.call("read_file", path="pipe")).text
    assert "leads nowhere" in (await bench.call("read_file", path="loop")).text
    assert "not a file" in (await bench.call("read_file", path="/dev/zero")).text


async def test_a_link_that_moved_since_the_call_was_allowed_is_not_followed(
    bench: Workbench, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_text("secret\n")
    link = bench.workspace / "link"
    link.symlink_to(tmp_path / "secret")
    allowed = {"link": str(bench.write("plain", "plain\n"))}
    found = await bench.call("read_file", path="link", judged=allowed)
    assert found.is_error
    assert "led to" in found.text
    assert "nothing was done" in found.text


async def test_addresses_of_the_log_and_the_archive_are_read_like_files(bench: Workbench) -> None:
    history = bench.transcript
    await history.open()
    await history.begin({})
    big = lines(range(1, 500))
    asking = assistant("I look", call("bash", {"command": "seq"}, id="t1"))
    added = await history.add([user("please\nlook"), asking, results(result("t1", big))])
    entry = await bench.call("read_file", path=f"{history.path}#{added[0].id}", offset=2)
    assert entry.text == "2\tlook"
    (ref,) = added[2].refs.values()
    page = await bench.call("read_file", path=str(ref), offset=400, limit=1)
    assert page.text == "400\tline 400\n[lines 400–400 of 499; go on with offset=401]"
    nowhere = await bench.call("read_file", path=f"{history.path}#99")
    assert nowhere.is_error
    assert isinstance(added[2].message.blocks[0], ToolResult)
