"""`write_file` and `edit_file`: whole or not at all, what stays as it was, and what is refused."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.unit.agent.builtin.workbench import Workbench

from wayfare.agent.builtin.changing import changed
from wayfare.agent.builtin.files_read import FILES_KEPT, FilesRead
from wayfare.agent.builtin.text_file import decoded
from wayfare.agent.builtin.writing import replace_file
from wayfare.clock import MovableClock

pytestmark = pytest.mark.anyio


async def test_a_new_file_is_made_with_its_folders_and_exactly_as_given(bench: Workbench) -> None:
    found = await bench.call("write_file", path="new/deep/a.txt", content="one\r\ntwo")
    assert (bench.workspace / "new/deep/a.txt").read_bytes() == b"one\r\ntwo"
    assert found.text == "new/deep/a.txt: created, 2 lines, 8 bytes"
    assert stat.S_IMODE((bench.workspace / "new/deep/a.txt").stat().st_mode) & 0o400
    assert [p.name for p in (bench.workspace / "new/deep").iterdir()] == ["a.txt"]


async def test_a_file_must_be_read_before_it_is_replaced_or_edited(bench: Workbench) -> None:
    place = bench.write("a.txt", "old\n")
    written = await bench.call("write_file", path="a.txt", content="new\n")
    edited = await bench.call("edit_file", path="a.txt", old_string="old", new_string="new")
    for found in (written, edited):
        assert found.is_error
        assert found.text == "a.txt exists and was not read in this session: read it first"
    assert place.read_text() == "old\n"
    await bench.call("read_file", path="a.txt")
    assert not (await bench.call("write_file", path="a.txt", content="new\n")).is_error
    edit = await bench.call("edit_file", path="a.txt", old_string="new", new_string="newer")
    assert not edit.is_error, "what one wrote oneself is known"
    assert place.read_text() == "newer\n"


def test_of_very_many_files_the_latest_are_known(tmp_path: Path) -> None:
    files, found = FilesRead(), tmp_path.stat()
    for number in range(FILES_KEPT):
        files.note(tmp_path / str(number), found)
    files.note(tmp_path / "0", found)
    files.note(tmp_path / "one more", found)
    assert files.was_read(tmp_path / "0"), "it was looked at again"
    assert not files.was_read(tmp_path / "1")
    assert files.was_read(tmp_path / "2")


async def test_what_somebody_else_changed_must_be_read_again(bench: Workbench) -> None:
    place = bench.write("a.txt", "one\ntwo\n")
    await bench.call("read_file", path="a.txt")
    stamp = place.stat()
    place.write_text("one\nTWO\n")
    os.utime(place, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    found = await bench.call("edit_file", path="a.txt", old_string="one", new_string="ONE")
    assert found.is_error
    assert "changed since you read it" in found.text
    place.write_text("one\ntwo\n")
    found = await bench.call("edit_file", path="a.txt", old_string="one", new_string="ONE")
    assert not found.is_error, "touched, but the same"


@pytest.mark.parametrize(
    ("before", "content", "after"),
    [
        (b"a\r\nb\r\n", "x\ny\n", b"x\r\ny\r\n"),
        (b"a\r\nb\r\n", "x\r\ny\r\n", b"x\r\ny\r\n"),
        (b"a\n", "x", b"x\n"),
        (b"a", "x", b"x"),
        (b"a", "x\n", b"x\n"),
        (b"\xef\xbb\xbfa\n", "x\n", b"\xef\xbb\xbfx\n"),
        (b"\xef\xbb\xbfa\n", "\ufeffx\n", b"\xef\xbb\xbfx\n"),
        ("ä\n".encode("utf-16"), "ö\n", "ö\n".encode("utf-16")),
        (b"a\n", "", b""),
    ],
)
async def test_a_replaced_file_keeps_its_line_ends_mark_and_final_newline(
    bench: Workbench, before: bytes, content: str, after: bytes
) -> None:
    place = bench.write("a.txt", before)
    await bench.call("read_file", path="a.txt")
    assert not (await bench.call("write_file", path="a.txt", content=content)).is_error
    assert place.read_bytes() == after


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        (b"a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz", b"x\r\ny\r\nz\r\nc\r\n"),
        (b"a\r\nb\r\n", "a", "x\ny", b"x\r\ny\r\nb\r\n"),
        (b"a\nb\r\nc\n", "b\n", "x\n", b"a\nx\r\nc\n"),
        (b"caf\xe9 one\n", "one", "two", b"caf\xe9 two\n"),
        (b"a b a", "b", "", b"a  a"),
        (b"\xef\xbb\xbfcaf\xe9 one\n", "one", "two", b"\xef\xbb\xbfcaf\xe9 two\n"),
        ("ä one\n".encode("utf-16"), "one", "zwei", "ä zwei\n".encode("utf-16")),
    ],
)
async def test_an_edit_leaves_every_other_byte_as_it_was(
    bench: Workbench, before: bytes, old: str, new: str, after: bytes
) -> None:
    place = bench.write("a.txt", before)
    await bench.call("read_file", path="a.txt")
    found = await bench.call("edit_file", path="a.txt", old_string=old, new_string=new)
    assert not found.is_error, found.text
    assert place.read_bytes() == after


async def test_an_edit_reports_what_changed_with_true_line_numbers(bench: Workbench) -> None:
    bench.write("a.py", "".join(f"line {n}\n" for n in range(1, 21)))
    await bench.call("read_file", path="a.py")
    found = await bench.call("edit_file", path="a.py", old_string="line 10\n", new_string="ten\n")
    assert found.text == (
        "a.py: edited, +1 −1 lines\n@@ -8,5 +8,5 @@\n line 8\n line 9\n-line 10\n+ten\n line 11\n"
        " line 12"
    )


async def test_a_text_that_stands_several_times_is_not_guessed_at(bench: Workbench) -> None:
    place = bench.write("a.py", "x = 1\ny = 2\nx = 1\n")
    await bench.call("read_file", path="a.py")
    found = await bench.call("edit_file", path="a.py", old_string="x = 1", new_string="x = 3")
    assert found.is_error
    assert "stands 2 times in a.py, at lines 1, 3" in found.text
    found = await bench.call(
        "edit_file", path="a.py", old_string="x = 1", new_string="x = 3", replace_all=True
    )
    assert found.text.startswith("a.py: 2 places edited, +2 −2 lines")
    assert place.read_text() == "x = 3\ny = 2\nx = 3\n"


@pytest.mark.parametrize(
    ("old", "said"),
    [
        (
            "def f():\n  return 1\n",
            "differs in indentation (tabs or blanks). The nearest is at line 3",
        ),
        ("def f():   \n    return 1\n", "differs in blanks at the end of lines"),
        ("3\tdef f():\n4\t    return 1\n", "has line numbers in front"),
        ("def f():\\n    return 1", "a backslash and an n where the file has line ends"),
        ("def f(a):\n    return 1\n", "Its line 1 differs. The nearest is at line 3:\n3\tdef f():"),
        ("nothing at all like it, anywhere", "Nothing in the file is like it"),
    ],
)
async def test_a_text_that_is_not_there_is_answered_with_the_reason(
    bench: Workbench, old: str, said: str
) -> None:
    bench.write("a.py", "import os\n\ndef f():\n    return 1\n")
    await bench.call("read_file", path="a.py")
    found = await bench.call("edit_file", path="a.py", old_string=old, new_string="other")
    assert found.is_error
    assert said in found.text


async def test_an_edit_made_twice_says_so(bench: Workbench) -> None:
    bench.write("a.py", "value = compute(1)\n")
    await bench.call("read_file", path="a.py")
    edit = {"old_string": "compute(1)", "new_string": "compute_all(1)"}
    await bench.call("edit_file", path="a.py", **edit)
    found = await bench.call("edit_file", path="a.py", **edit)
    assert "The new text already stands at line 1" in found.text


async def test_what_cannot_be_done_is_said(bench: Workbench) -> None:
    bench.write("a.txt", "one\n")
    await bench.call("read_file", path="a.txt")
    place = bench.write("locked.txt", "x\n")
    await bench.call("read_file", path="locked.txt")
    place.chmod(0o444)
    said = [
        await bench.call("edit_file", path="a.txt", old_string="one", new_string="one"),
        await bench.call("edit_file", path="a.txt", old_string="", new_string="x"),
        await bench.call("edit_file", path="none.txt", old_string="a", new_string="x"),
        await bench.call("write_file", path="a.txt", content="half \ud83d of a pair"),
        await bench.call("write_file", path="locked.txt", content="y\n"),
        await bench.call("write_file", path=".", content="y\n"),
        await bench.call("write_file", path="a.txt/b", content="y\n"),
    ]
    assert all(found.is_error for found in said)
    texts = [found.text for found in said]
    assert "nothing would change" in texts[0]
    assert "old_string is empty" in texts[1]
    assert "A new file is made with write_file" in texts[2]
    assert "character 6 of the content is half of a surrogate pair" in texts[3]
    assert "write-protected (-r--r--r--)" in texts[4]
    assert texts[5] == ". cannot be changed: it is a folder"
    assert "cannot be changed: Not a directory" in texts[6]
    same = await bench.call("write_file", path="a.txt", content="one\n")
    assert "already has exactly this content" in same.text


async def test_the_mode_of_a_file_stays(bench: Workbench) -> None:
    place = bench.write("run.sh", "echo 1\n")
    place.chmod(0o755)
    await bench.call("read_file", path="run.sh")
    await bench.call("edit_file", path="run.sh", old_string="1", new_string="2")
    assert stat.S_IMODE(place.stat().st_mode) == 0o755


async def test_nothing_is_written_out_of_the_workspace_unless_that_was_allowed(
    bench: Workbench, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (bench.workspace / "out").symlink_to(outside)
    for path in ("out/a.txt", "../outside/a.txt", str(outside / "a.txt")):
        found = await bench.call("write_file", path=path, content="x")
        assert "leads out of the workspace" in found.text
    allowed = {"out/a.txt": str(outside / "a.txt")}
    found = await bench.call("write_file", path="out/a.txt", content="x", judged=allowed)
    assert not found.is_error
    assert (outside / "a.txt").read_text() == "x"


async def test_a_link_that_moved_since_the_call_was_allowed_is_not_written_through(
    bench: Workbench, tmp_path: Path
) -> None:
    inside, outside = bench.workspace / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    (bench.workspace / "way").symlink_to(inside)
    allowed = {"way/a.txt": str(inside / "a.txt")}
    (bench.workspace / "way").unlink()
    (bench.workspace / "way").symlink_to(outside)
    found = await bench.call("write_file", path="way/a.txt", content="x", judged=allowed)
    assert found.is_error
    assert "nothing was done" in found.text
    assert list(outside.iterdir()) == []


async def test_a_link_that_moved_during_the_call_is_noticed_at_the_moment_of_writing(
    bench: Workbench, tmp_path: Path
) -> None:
    (tmp_path / "outside").mkdir()
    (bench.workspace / "way").symlink_to(tmp_path / "outside")
    found = changed(bench.context, "way/a.txt", None, "x", b"x", "created")
    assert found.is_error
    assert "leads out of the workspace" in found.text
    assert list((tmp_path / "outside").iterdir()) == []


def test_a_folder_that_became_a_link_after_the_last_look_is_not_entered(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "way").symlink_to(tmp_path / "outside")
    with pytest.raises(OSError, match="directory"):
        replace_file(tmp_path / "way" / "a.txt", b"x", clock=MovableClock())
    assert list((tmp_path / "outside").iterdir()) == []


def test_a_link_in_the_last_place_is_not_written_through(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("keep")
    (tmp_path / "link").symlink_to("target")
    with pytest.raises(OSError, match="no plain file"):
        replace_file(tmp_path / "link", b"x", clock=MovableClock())
    assert (tmp_path / "target").read_text() == "keep"


@given(st.binary())
def test_any_bytes_come_back_from_reading_and_writing(raw: bytes) -> None:
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raw = b"_" + raw
    file = decoded(raw)
    assert file.encoded(file.text) == raw


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(
    before=st.binary(max_size=40).filter(lambda b: b"\0" not in b and b"@" not in b),
    after=st.binary(max_size=40).filter(lambda b: b"\0" not in b and b"@" not in b),
    new=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n"), max_size=10),
)
async def test_an_edit_of_one_mark_changes_nothing_else(
    tmp_path_factory: pytest.TempPathFactory, before: bytes, after: bytes, new: str
) -> None:
    bench = Workbench(tmp_path_factory.mktemp("w").resolve())
    place = bench.write("a.txt", b"<" + before + b"@" + after)
    await bench.call("read_file", path="a.txt")
    found = await bench.call("edit_file", path="a.txt", old_string="@", new_string=new)
    same = new == "@"
    assert found.is_error is same
    expected = b"@" if same else new.encode()
    assert place.read_bytes() == b"<" + before + expected + after
