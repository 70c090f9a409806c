"""What is imported into a memory, and what a memory's own folder holds, brings in no file from elsewhere
and stops no command."""

from __future__ import annotations

import io
import json
import os
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest
from tests.cli.session_fixtures import Ran
from tests.hostile.steering import STEERING, unsteered

Command = Callable[..., Ran]
SECRET = "SECRET-BYTES"
Made: TypeAlias = Callable[[Path], object]
"""Puts something odd into a folder."""


def record(name: str) -> str:
    return f"---\nname: {name}\ndescription: {name} thing\ntype: project\n---\nThe {name} body.\n"


def named(*names: str) -> Made:
    """Records under odd file names."""
    return lambda folder: [(folder / name).write_text(record("odd")) for name in names]


def called(*names: str) -> Made:
    """Records that call themselves so."""
    return lambda folder: [
        (folder / f"r{at}.md").write_text(record(name)) for at, name in enumerate(names)
    ]


def saying(text: str, file: str = "a.md") -> Made:
    return lambda folder: (folder / file).write_text(text)


FOLDERS: dict[str, Made] = {
    "a link to a file": lambda f: (f / "a.md").symlink_to(f.parents[1] / "secret.md"),
    "a link to a folder": lambda f: (f / "deep").symlink_to(f.parents[1] / "outside"),
    "a link to itself": lambda f: (f / "a.md").symlink_to(f),
    "a link to nothing": lambda f: (f / "a.md").symlink_to("gone.md"),
    "a pipe": lambda f: os.mkfifo(f / "a.md"),
    "a device": lambda f: (f / "a.md").symlink_to("/dev/zero"),
    "a folder": lambda f: (f / "a.md").mkdir(),
    "an index elsewhere": lambda f: (f / "MEMORY.md").symlink_to(f.parents[1] / "secret.md"),
    "an index of paths": saying(
        f"- [a](../../secret.md)\n- [b](/etc/passwd.md)\n- [c](<x\ny.md>)\n- {STEERING} hello there\n",
        "MEMORY.md",
    ),
    "file names": named("a\nb.md", "\x1b[2J.md", "x" * 240 + ".md", "-rf.md", "..md", "a\u202eb.md"),
    "names": called("../../evil", "/etc/evil", "a\\b", "..", "\x1b[2J", "x" * 5_000, "MEMORY",
                    ".wayfare/journal", "CON", "~", "$HOME"),
    "a header without end": saying(f"---\nname: a\ntags: {'[' * 100_000}\n---\nb\n"),
    "a deep header": saying(f"---\nname: a\ntags: {'[' * 50_000}{']' * 50_000}\n---\nb\n"),
    "a quoted name": saying('---\nname: "\\u001b[2J\\ud800\\u202e"\n---\nb\n'),
    "no text": lambda f: (f / "a.md").write_bytes(b"\xff\xfe\0" * 500),
    "much": lambda f: (f / "a.md").touch() or os.truncate(f / "a.md", 60_000_000),
    "steering": saying(f"---\nname: {STEERING}\ndescription: {STEERING}\n---\n{STEERING} x\n"),
}  # fmt: skip


@pytest.fixture
def source(workspace: Path) -> Path:
    """A folder of records to import, with a secret outside of it."""
    (workspace.parent / "secret.md").write_text(f"- {SECRET} is the word\n")
    (workspace.parent / "outside").mkdir()
    (workspace.parent / "outside" / "s.md").write_text(record(SECRET))
    folder = workspace / "source"
    folder.mkdir()
    (folder / "good.md").write_text(record("good"))
    return folder


def outside(workspace: Path) -> dict[str, bytes]:
    beside = (p for p in workspace.parent.rglob("*") if not p.is_relative_to(workspace))
    return {str(p): p.read_bytes() for p in beside if p.is_file()}


def looked_at(command: Command, workspace: Path, *first: str) -> Ran:
    """Runs a command and then every way to look at the memory; nothing may come in from outside."""
    before = outside(workspace)
    ran = command(*first)
    for arguments in (
        ("list",), ("list", "--json"), ("doctor",), ("review",), ("log",), ("search", "body"),
    ):  # fmt: skip
        told = command("memory", *arguments)
        assert told.status in (0, 1, 2), arguments
        assert SECRET not in told.out + told.err, arguments
        unsteered(told.out)
        unsteered(told.err)
    assert SECRET not in command("memory", "export").out
    unsteered(ran.out)
    unsteered(ran.err)
    assert outside(workspace) == before
    for file in (workspace / ".memory").rglob("*"):
        if not file.is_symlink() and file.is_file():
            assert SECRET.encode() not in file.read_bytes(), file
            assert file.resolve().is_relative_to(workspace)
    return ran


@pytest.mark.parametrize("kind", ["", "memory", "basic-memory"])
@pytest.mark.parametrize("odd", FOLDERS)
def test_a_folder_that_is_imported_brings_in_its_own_files_alone(
    command: Command, workspace: Path, source: Path, odd: str, kind: str
) -> None:
    FOLDERS[odd](source)
    ran = looked_at(
        command, workspace, "memory", "import", *(["--kind", kind] if kind else []), str(source)
    )
    assert ran.status in (0, 1, 2)
    assert "good" in command("memory", "list").out or odd == "much"
    if odd in ("a link to a file", "a link to nothing", "a pipe", "a device"):
        assert "left out a.md: it is" in ran.err


def zipped(folder: Path) -> Path:
    with zipfile.ZipFile(folder / "m.md", "w") as archive:
        archive.writestr("../../evil.md", record("evil"))
        archive.writestr("/abs.md", record("abs"))
    return folder / "m.md"


def tarred(folder: Path, mode: str) -> Path:
    with tarfile.open(folder / "m.md", f"w:{mode}") as archive:
        member = tarfile.TarInfo("../../evil.md")
        member.size = len(record("evil"))
        archive.addfile(member, io.BytesIO(record("evil").encode()))
        link = tarfile.TarInfo("l.md")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    return folder / "m.md"


@pytest.mark.parametrize(
    "packed",
    [zipped, *(lambda f, m=m: tarred(f, m) for m in ("", "gz", "bz2", "xz"))],
    ids=["zip", "tar", "tar.gz", "tar.bz2", "tar.xz"],
)
def test_an_archive_is_named_and_not_unpacked(
    command: Command, workspace: Path, source: Path, packed: Callable[[Path], Path]
) -> None:
    ran = looked_at(command, workspace, "memory", "import", str(packed(source)))
    assert ran.status == 2
    assert "is an archive; unpack it" in ran.err
    assert not list(workspace.parent.rglob("evil*"))


FILES: dict[str, Callable[[Path], str]] = {
    "x.json of brackets": lambda _: "[" * 200_000,
    "x.json of deep values": lambda _: f'{{"results":[{"[" * 20_000}{"]" * 20_000}]}}',
    "x.json of digits": lambda _: f'{{"results":[{{"memory":"x y","n":{"9" * 5_000}}}]}}',
    "x.json of odd values": lambda _: json.dumps(
        {"results": [{"memory": STEERING + " a b c", "metadata": {"type": ["x"]}, "categories": 5},
                     {"memory": 5}, 5, None, {"memory": "../../evil is a name"}]}),
    "x.md of bullets": lambda _: f"- {STEERING} some words\n- ../../etc/passwd is good\n{'- ' * 9_999}x",
    "x.md of an export": lambda _: f"# Memory\n\n## About the user\n\n### ../../e{STEERING}\n\nbody\n",
    "x.md of one name": lambda _: "# Memory\n\n## About the user\n\n" + "### n\n\nb\n\n" * 300,
}  # fmt: skip


@pytest.mark.parametrize("kind", FILES)
def test_a_file_of_any_shape_is_imported_or_refused_in_words(
    command: Command, workspace: Path, source: Path, kind: str
) -> None:
    file = source / kind.partition(" ")[0]
    file.write_text(FILES[kind](file))
    ran = looked_at(command, workspace, "memory", "import", str(file))
    assert ran.status in (0, 1, 2)


@pytest.mark.parametrize("name", ["x.md", "x.json"])
def test_what_is_no_file_is_not_waited_for(
    command: Command, workspace: Path, source: Path, name: str
) -> None:
    os.mkfifo(source / name)
    (source / "device.md").symlink_to("/dev/zero")
    for path in (source / name, source / "device.md", Path("/dev/zero"), source / "gone.md"):
        assert looked_at(command, workspace, "memory", "import", str(path)).status == 2


@pytest.mark.parametrize("odd", FOLDERS)
def test_a_memory_of_any_shape_is_looked_at(
    command: Command, workspace: Path, source: Path, odd: str
) -> None:
    FOLDERS[odd](source)
    source.rename(workspace / ".memory")
    assert looked_at(command, workspace, "memory", "list").status == 0


STATES: dict[str, Made] = {
    "brackets": lambda p: p.write_bytes(b'{"x":' + b"[" * 100_000),
    "deep": lambda p: p.write_bytes(b'{"x":' + b"[" * 50_000 + b"]" * 50_000 + b"}\n"),
    "a list": lambda p: p.write_bytes(b"[1,2]\n"),
    "bytes": lambda p: p.write_bytes(b"\xff\xfe\0\n" * 50),
    "numbers": lambda p: p.write_bytes(
        b'{"last":1e300,"began":1e300,"looked":-1e300,"running":true,"v":1,"kind":"plan",'
        b'"at":1e300,"number":99999999999999999999999999}\n'),
    "a pipe": lambda p: os.mkfifo(p),
    "a device": lambda p: p.symlink_to("/dev/zero"),
    "a link": lambda p: p.symlink_to(p.parents[p.parts[::-1].index(".memory") + 1] / "secret.md"),
    "a folder": lambda p: p.mkdir(),
}  # fmt: skip


@pytest.mark.parametrize(
    "name", ["journal.jsonl", "inbox/a.json", "inbox/a.md", "quarantine/a.json",
             "state/dream.json", "state/cursors.json", "state/snapshot.json", "locks/x"],
)  # fmt: skip
@pytest.mark.parametrize("odd", STATES)
def test_a_state_of_any_shape_beside_the_records_is_done_without(
    command: Command, workspace: Path, source: Path, name: str, odd: str
) -> None:
    source.rename(workspace / ".memory")
    (workspace / "more").mkdir()
    (workspace / "more" / "m.md").write_text(record("more"))
    assert command("memory", "import", str(workspace / "more")).status == 0
    path = workspace / ".memory/.wayfare" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    STATES[odd](path)
    assert looked_at(command, workspace, "memory", "dream").status in (0, 1, 2)
