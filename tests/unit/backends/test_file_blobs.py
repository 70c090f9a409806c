"""Local blob files: names, what stands there already, and addresses that lead elsewhere."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

import pytest

from wayfare.backends import FileBlobs
from wayfare.errors import NotFound, WriteFailed
from wayfare.store import Ref
from wayfare.store.ref import digest
from wayfare.testing import FaultyDisk

CONTENT = b"the full result\n" * 100


def blobs_in(workspace: Path, **settings: object) -> FileBlobs:
    return FileBlobs(workspace / "results" / "s", workspace=workspace, **settings)  # pyright: ignore


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("call_1.txt", "call_1"),
        ("toolu_01AbC-x.txt", "toolu_01AbC-x"),
        ("../../etc/passwd.txt", "_.._etc_passwd"),
        (".hidden.txt", "hidden"),
        ("--flag.txt", "flag"),
        ("", "blob"),
        ("///.txt", "blob"),
        ("调用 一.txt", "调用_一"),
        ("x" * 1_426 + ".txt", "x" * 100),
        ("语" * 500 + ".txt", "语" * 33),
    ],
)
async def test_the_name_says_whose_result_it_is(name: str, stem: str, tmp_path: Path) -> None:
    ref = await blobs_in(tmp_path).put(name, CONTENT)
    suffix = ".bin" if name == "" else ".txt"
    assert ref.path == f"results/s/{stem}-{digest(CONTENT)[:8]}{suffix}"
    assert (tmp_path / ref.path).read_bytes() == CONTENT
    assert stat.S_IMODE((tmp_path / ref.path).stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "results" / "s").stat().st_mode) == 0o700


async def test_names_that_differ_by_case_alone_do_not_meet(tmp_path: Path) -> None:
    """On a disk that folds case the hash in the name still keeps different results apart."""
    blobs = blobs_in(tmp_path)
    one, two = await blobs.put("Call.txt", b"one"), await blobs.put("call.txt", b"two")
    assert one.path.casefold() != two.path.casefold()


async def test_a_file_with_other_content_keeps_its_name(tmp_path: Path) -> None:
    blobs = blobs_in(tmp_path)
    expected = digest(CONTENT)
    names = [f"call_1-{expected[:length]}.txt" for length in (8, 16, 32, 64)]
    (tmp_path / "results" / "s").mkdir(parents=True)
    for name in names:
        (tmp_path / "results" / "s" / name).write_bytes(b"somebody else's")
    ref = await blobs.put("call_1.txt", CONTENT)
    assert ref.path == f"results/s/call_1-{expected}-2.txt"
    assert await blobs.get(ref) == CONTENT
    assert await blobs.get(Ref.parse(str(ref))) == CONTENT
    assert (tmp_path / "results" / "s" / names[0]).read_bytes() == b"somebody else's"


@pytest.mark.parametrize("changed", [b"", b"the full resulT\n" * 100, CONTENT + b"more"])
async def test_a_changed_file_is_not_used_again(changed: bytes, tmp_path: Path) -> None:
    blobs = blobs_in(tmp_path)
    first = await blobs.put("call_1.txt", CONTENT)
    (tmp_path / first.path).write_bytes(changed)
    second = await blobs.put("call_1.txt", CONTENT)
    assert second.path != first.path
    assert await blobs.get(second) == CONTENT
    for ref in (first, Ref.parse(str(first))):
        with pytest.raises(NotFound, match="bytes"):
            await blobs.get(ref)


async def test_a_link_or_folder_in_its_place_is_not_used(tmp_path: Path) -> None:
    blobs = blobs_in(tmp_path)
    target = tmp_path / "outside.txt"
    content = b"x" * len(str(target))  # as long as a link to it is
    target.write_bytes(content)
    (tmp_path / "results" / "s").mkdir(parents=True)
    (tmp_path / "results" / "s" / f"call_1-{digest(content)[:8]}.txt").symlink_to(target)
    (tmp_path / "results" / "s" / f"call_1-{digest(content)[:16]}.txt").mkdir()
    ref = await blobs.put("call_1.txt", content)
    assert digest(content)[:32] in ref.path
    assert not (tmp_path / ref.path).is_symlink()


async def test_links_out_are_not_read(tmp_path: Path) -> None:
    workspace, outside = tmp_path / "work", tmp_path / "outside"
    outside.mkdir()
    (outside / "key.txt").write_text("secret")
    blobs = blobs_in(workspace)
    await blobs.put("call_1.txt", CONTENT)
    (workspace / "results" / "s" / "file.txt").symlink_to(outside / "key.txt")
    (workspace / "results" / "s" / "folder").symlink_to(outside)
    for path in ("results/s/file.txt", "results/s/folder/key.txt"):
        with pytest.raises(NotFound):
            await blobs.get(Ref(path=path))
        assert not await blobs.has(Ref(path=path))


async def test_a_results_folder_that_leads_out_is_refused(tmp_path: Path) -> None:
    """A repository may ship the results folder as a link to somewhere private."""
    workspace, outside = tmp_path / "work", tmp_path / "outside"
    (outside / "s").mkdir(parents=True)
    (outside / "s" / "key.txt").write_text("secret")
    workspace.mkdir()
    (workspace / "results").symlink_to(outside)
    blobs = blobs_in(workspace)
    with pytest.raises(WriteFailed, match="link"):
        await blobs.put("call_1.txt", CONTENT)
    with pytest.raises(NotFound):
        await blobs.get(Ref(path="results/s/key.txt"))
    assert [entry.name for entry in (outside / "s").iterdir()] == ["key.txt"]


async def test_other_roots_are_read_only_where_they_are_named(tmp_path: Path) -> None:
    other = FileBlobs(tmp_path / "results" / "old", workspace=tmp_path)
    ref = await other.put("call_1.txt", CONTENT)
    with pytest.raises(NotFound):
        await blobs_in(tmp_path).get(ref)
    assert await blobs_in(tmp_path, readable=[tmp_path / "results"]).get(ref) == CONTENT


async def test_a_workspace_reached_through_a_link_works(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    ref = await blobs_in(tmp_path / "link").put("call_1.txt", CONTENT)
    assert await blobs_in(tmp_path / "link").get(ref) == CONTENT
    assert await blobs_in(tmp_path / "real").get(ref) == CONTENT


async def test_a_folder_deleted_meanwhile_is_made_again(tmp_path: Path) -> None:
    blobs = blobs_in(tmp_path, gitignore_in=tmp_path / "results")
    first = await blobs.put("call_1.txt", CONTENT)
    shutil.rmtree(tmp_path / "results")
    with pytest.raises(NotFound):
        await blobs.get(first)
    assert await blobs.get(await blobs.put("call_1.txt", CONTENT)) == CONTENT
    assert (tmp_path / "results" / ".gitignore").read_text() == "*\n"


async def test_a_pipe_in_its_place_does_not_hold_up_anybody(tmp_path: Path) -> None:
    blobs = blobs_in(tmp_path)
    ref = await blobs.put("call_1.txt", CONTENT)
    (tmp_path / ref.path).unlink()
    os.mkfifo(tmp_path / ref.path)
    with pytest.raises(NotFound):
        await blobs.get(ref)
    assert (await blobs.put("call_1.txt", CONTENT)).path != ref.path


async def test_what_dead_writers_left_is_swept(tmp_path: Path) -> None:
    folder = tmp_path / "results" / "s"
    folder.mkdir(parents=True)
    old, young = folder / ".wayfare-11111111.tmp", folder / ".wayfare-22222222.tmp"
    for temp in (old, young):
        temp.write_bytes(b"half")
    os.utime(old, (1, 1))
    await blobs_in(tmp_path).put("call_1.txt", CONTENT)
    assert not old.exists()
    assert young.exists(), "its writer may still live"


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("full", "disk full"),
        ("denied", "not writable: permission denied"),
        ("io_error", "the disk reports an input/output error"),
    ],
)
async def test_a_refusal_says_where_and_why_and_leaves_nothing(fault: str, reason: str) -> None:
    disk = FaultyDisk()
    blobs = FileBlobs(Path("/w/results"), workspace=Path("/w"), disk=disk)
    await blobs.put("call_0.txt", b"first")
    before = disk.entries(Path("/w/results"))
    disk.inject(fault, where="/w/results/")  # pyright: ignore[reportArgumentType]
    with pytest.raises(WriteFailed) as refused:
        await blobs.put("call_1.txt", CONTENT)
    assert refused.value.reason == reason
    assert refused.value.path.startswith("/w/results/call_1-")
    assert disk.entries(Path("/w/results")) == before
