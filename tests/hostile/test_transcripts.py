"""Transcripts that somebody else made: whatever they hold, and whatever stands in place of their files,
every reader ends in words, reads nothing from outside the archive and writes nothing there."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

import anyio
import pytest
from tests.cli.session_fixtures import Ran
from tests.flow.opened import Watching, asked
from tests.hostile.steering import STEERING, unsteered

from wayfare import tool
from wayfare.errors import ConfigError, NotFound
from wayfare.session import Places, read_address

Command = Callable[..., Ran]
Script = Callable[..., str]
Line: TypeAlias = dict[str, Any]
Change: TypeAlias = Callable[[list[Any]], list[Any]]
"""Of the lines of a log; a text or bytes among them stands as it is."""
SECRET = "SECRET-BYTES of another folder"
BLOB = ".task_outputs/tool-results"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A workspace with one session that has archived results, and the session's name."""
    work = tmp_path_factory.mktemp("made")

    @tool(read_only=True, kind="read", compactable=True)
    async def look(path: str) -> str:
        """Look at a page."""
        return f"a line of {path}\n" * 400

    script = [asked("look", f"c{n}", path=f"p{n}") for n in range(9)]
    watching = Watching(work, [*script, "done"], model={"window_tokens": 12_000,
                                                        "max_output_tokens": 1_000})  # fmt: skip

    async def run() -> str:
        async with watching.open(tools=[look]) as session:
            await session.run("Look at all pages.")
            return session.name

    return work, anyio.run(run)


@pytest.fixture
def session(made: tuple[Path, str], workspace: Path) -> str:
    """The same session in this test's workspace, with a secret beside it."""
    source, name = made
    for folder in (".transcripts", ".task_outputs"):
        shutil.copytree(source / folder, workspace / folder)
    (workspace.parent / "secret.txt").write_text(SECRET)
    outside = workspace.parent / "outside"
    shutil.copytree(workspace / ".transcripts" / name, outside)
    (outside / "transcript.jsonl").write_text(
        json.dumps({"v": 1, "id": 1, "time": 1, "wire": {"role": "user", "content": SECRET}}) + "\n"
    )
    (outside / "secret.txt").write_text(SECRET)
    return name


def written(log: Path, change: Change) -> None:
    """Put other lines into a log, in place of those its checkpoint stands for."""
    lines = change([json.loads(line) for line in log.read_bytes().split(b"\n")[:-1]])
    held = [
        line if isinstance(line, bytes) else line.encode() if isinstance(line, str)
        else json.dumps(line).encode()
        for line in lines
    ]  # fmt: skip
    log.write_bytes(b"".join(line + b"\n" for line in held))
    for checkpoint in log.parent.glob("*.checkpoint"):
        checkpoint.unlink()


def blob(**fields: Any) -> Change:
    """Every archived result has other fields in its address."""
    return _blobs(lambda told: {**told, **fields})


def _blobs(change: Callable[[Line], Any]) -> Change:
    def changed(lines: list[Any]) -> list[Any]:
        count = 0
        for line in lines:
            content = line.get("wire", {}).get("content")
            for block in content if isinstance(content, list) else ():
                held = block.get("content")
                if isinstance(held, dict) and "$blob" in held:
                    held["$blob"] = change(held["$blob"])
                    count += 1
        assert count
        return lines

    return changed


def more(*added: Any) -> Change:
    """One more line; of an entry without a number, the next one."""

    def changed(lines: list[Any]) -> list[Any]:
        last = max(line["id"] for line in lines)
        return [
            *lines,
            *({"v": 1, "id": last + 1, "time": 1.0, **one} if isinstance(one, dict) else one
              for one in added),
        ]  # fmt: skip

    return changed


def message(wire: Any, **fields: Any) -> Change:
    return more({"wire": wire, **fields})


def mark(name: str, detail: Any) -> Change:
    return more({"kind": "mark", "name": name, "detail": detail})


def edit(*ops: Any, **fields: Any) -> Change:
    return more({"kind": "edit", "by": "evil", "reason": STEERING, "ops": ops, "before": 1,
                 "after": 1, **fields})  # fmt: skip


def every(**fields: Any) -> Change:
    """Every entry has these."""
    return lambda lines: [{**line, **fields} for line in lines]


def raw(wire: str, **fields: str) -> Change:
    """A line that no encoder would write."""
    told = "".join(f',"{name}":{value}' for name, value in fields.items())
    return more(f'{{"v":1,"id":900,"time":1,"wire":{wire}{told}}}')


USER: Line = {"role": "user", "content": "x"}
CHANGES: dict[str, Change] = {
    "blob above": blob(path="../secret.txt", bytes=len(SECRET)),
    "blob above, without a hash": blob(path="../secret.txt", bytes=len(SECRET), sha256=""),
    "blob by dots": blob(path=f"{BLOB}/../../../secret.txt", bytes=-1, sha256=""),
    "blob absolute": blob(path="/etc/passwd", bytes=-1, sha256=""),
    "blob in the workspace": blob(path="wayfare.toml", bytes=-1, sha256=""),
    "blob with NUL": blob(path=f"{BLOB}/s/a\0b.txt"),
    "blob with line ends": blob(path=f"{BLOB}/s/a\n\r\x1b[2J{STEERING}.txt"),
    "blob with half a character": blob(path=f"{BLOB}/s/\ud800.txt"),
    "blob long": blob(path=f"{BLOB}/s/{'x' * 5_000}.txt"),
    "blob deep": blob(path=f"{BLOB}/{'x/' * 5_000}a.txt"),
    "blob of other kinds": blob(path=5, bytes="x", sha256=None),
    "blob of nothing": _blobs(lambda told: {}),
    "blob null": _blobs(lambda told: None),
    "blob list": _blobs(lambda told: [told]),
    "blob larger": blob(bytes=10**30),
    "blob of a float": blob(bytes=1e300),
    "blob smaller": blob(bytes=-5),
    "blob with another hash": blob(sha256="0" * 16),
    "blob with a false hash": blob(sha256="\x1b[2J"),
    "blob with half a hash": lambda lines: _blobs(lambda b: {**b, "sha256": b["sha256"][:8]})(lines),
    "blobs counted": every(blobs=99),
    "wire text": message("hello", blobs=1),
    "wire null": message(None),
    "wire number": message(5),
    "wire list": message([1, 2]),
    "wire without role": message({"content": "x"}),
    "wire with odd role": message({"role": STEERING, "content": STEERING}),
    "wire with a number as role": message({"role": 5, "content": "x"}),
    "content number": message({"role": "user", "content": 5}),
    "content of odd blocks": message({"role": "user", "content": [5, None, "x", {"type": 5}]}),
    "call of other kinds": message({"role": "assistant", "content": [
        {"type": "tool_use", "id": 5, "name": None, "input": "x"}, {"type": "tool_use"}]}),
    "result of other kinds": message({"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": {"a": 1}, "content": {"x": 1}}]}),
    "picture of other kinds": message({"role": "user", "content": [
        {"type": "image", "source": {"type": "base64", "media_type": 5, "data": []}}]}),
    "text of a number": message({"role": "user", "content": [{"type": "text", "text": 5}]}),
    "deep": raw('{"role":"user","content":' + "[" * 20_000 + "]" * 20_000 + "}"),
    "deep kind": more('{"kind":"mark","v":1,"id":900,"time":1,"name":"x","detail":{"a":'
                      + "[" * 20_000 + "]" * 20_000 + "}}"),
    "long": raw(f'{{"role":"user","content":"{"a" * 5_000_000}"}}'),
    "digits": raw('{"role":"assistant","content":"x"}', usage=f"[{'9' * 5_000},0,0,0]"),
    "no number": raw('{"role":"user","content":"x"}', time="NaN"),
    "format": message(USER, format=STEERING),
    "origin": message(USER, origin="evil"),
    "usage": message({"role": "assistant", "content": "x"}, usage=[10**18, -5, 10**18, 0]),
    "time": every(time=1e300),
    "time before": every(time=-1e18),
    "number large": message(USER, id=2**63 - 1),
    "number below": message(USER, id=-5),
    "numbers alike": every(id=3),
    "numbers backwards": lambda lines: lines[::-1],
    "version": every(v=99),
    "version of letters": every(v="x"),
    "kind": more({"kind": "evil"}),
    "no entries": lambda lines: [],
    "bytes": more(b"\x00\x01\xff\xfe"),
    "model": mark("model", {"model": 5}),
    "model in no JSON": more('{"kind":"mark","v":1,"id":900,"time":1.0,"name":"model",'
                             '"detail":{"model":"a\\q\x01"}}'),
    "turn": mark("turn", {"ended": ["x"]}),
    "head": mark("session", {"format": {"a": 1}, "tools": 5, "system": {"x": 1}, "model": [1]}),
    "window of letters": mark("session", {"format": "anthropic", "window_tokens": "many"}),
    "window of nothing": mark("session", {"format": "anthropic", "window_tokens": 0}),
    "window below": mark("session", {"format": "anthropic", "window_tokens": -(10**30)}),
    "budget": mark("session", {"format": "anthropic", "budget": STEERING}),
    "todo": mark("todo", {"items": [5, {"id": {}}]}),
    "edit of nothing": edit(["omit", 10**15], ["stub", -1, -1], ["dropblocks", 3, [10**9, -1]]),
    "edit backwards": edit(["collapse", 4, 1]),
    "edit of everything": edit(["collapse", 1, 10**15, None, [99, -1], "digest", [10**15, -1, -1]]),
    "edit of a form": edit(["collapse", 1, 4, None, [], STEERING]),
    "edit by numbers": edit(["preview", 4, 0, -5], ["headtail", 4, 0, -5]),
    "edit in one order": edit(["reorder", 3, [5, 5, 5]]),
    "edit as text": edit(["astext", 4, 7, STEERING]),
    "undo": edit(undoes=[1, 2, 10**15, -1]),
}  # fmt: skip


def looks(workspace: Path, session: str) -> list[tuple[str, ...]]:
    """Every way to look at a session."""
    log = f".transcripts/{session}/transcript.jsonl"
    return [
        ("sessions",), ("sessions", "--json"),
        ("context", session), ("context", session, "--json"), ("notes", session),
        *(("why", f"{log}{end}") for end in ("", "#1-99", "#3", "#4", "#900")),
        ("why", f".transcripts/{session}/contents.tsv"),
        ("replay", str(workspace / log)), ("replay", str(workspace / log), "--json"),
    ]  # fmt: skip


def looked_at(command: Command, workspace: Path, session: str) -> None:
    """Looks in every way; nothing may steer, leak, or end otherwise than in words."""
    for arguments in looks(workspace, session):
        told = command(*arguments)
        assert told.status in (0, 1, 2), (arguments, told.err[-500:])
        assert SECRET not in told.out + told.err, arguments
        unsteered(told.out)
        unsteered(told.err)
    for end in ("transcript.jsonl", "transcript.jsonl#3", "transcript.jsonl#4", "contents.tsv"):
        with suppress(NotFound, ConfigError):
            shown = shown_at(workspace, f".transcripts/{session}/{end}")
            assert SECRET.encode() not in shown, end


def shown_at(workspace: Path, address: str) -> bytes:
    """What `wayfare show` would write."""
    return anyio.run(read_address, Places(workspace=workspace), address)


def outside(workspace: Path) -> dict[str, bytes]:
    """What stands beside the workspace."""
    beside = (p for p in workspace.parent.rglob("*") if not p.is_relative_to(workspace))
    return {str(p): p.read_bytes() for p in beside if p.is_file() and "script" not in p.name}


@pytest.mark.parametrize("change", CHANGES)
def test_a_log_that_lies_is_read_in_words_and_gone_on_with_or_refused(
    command: Command, script: Script, workspace: Path, session: str, change: str
) -> None:
    log = workspace / ".transcripts" / session / "transcript.jsonl"
    written(log, CHANGES[change])
    before = outside(workspace)
    looked_at(command, workspace, session)
    went_on = command("run", "-s", session, "-m", script("Went on.", "b", "c"), "Go on.")
    assert went_on.status in (0, 1, 2), went_on.err
    unsteered(went_on.out)
    unsteered(went_on.err)
    assert SECRET not in log.read_text("utf-8", "replace")
    assert outside(workspace) == before


def gone(path: Path) -> Path:
    """Make room for something else under a name."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    return path


KINDS: dict[str, Callable[[Path], object]] = {
    "link": lambda path: gone(path).symlink_to(path.parents[3] / "secret.txt"),
    "device": lambda path: gone(path).symlink_to("/dev/zero"),
    "pipe": lambda path: os.mkfifo(gone(path)),
    "folder": lambda path: gone(path).mkdir(),
    "nothing": lambda path: gone(path).touch(),
    "gone": gone,
    "half a character": lambda path: gone(path).write_bytes(b"\xff\xfe\x00\xed\xa0\x80\n" * 40),
    "one line": lambda path: gone(path).write_bytes(b"x" * 5_000_000),
    "deep": lambda path: gone(path).write_bytes(b"[" * 100_000 + b"\n"),
    "sparse": lambda path: os.truncate(path, 60_000_000),
    "steering": lambda path: gone(path).write_text(STEERING * 50 + "\n"),
    "unreadable": lambda path: path.chmod(0),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["transcript.jsonl", "contents.tsv", "notes.md", "log.checkpoint"])
def test_whatever_stands_in_place_of_a_sessions_file_ends_in_words(
    command: Command, script: Script, workspace: Path, session: str, name: str, kind: str
) -> None:
    path = workspace / ".transcripts" / session / name
    if name.endswith(".checkpoint"):
        path = next(path.parent.glob("*.checkpoint"), path)
    if not path.exists():
        path.write_text("# Current State\n\nAll is well.\n")
    KINDS[kind](path)
    before = outside(workspace)
    looked_at(command, workspace, session)
    went_on = command("run", "-s", session, "-m", script("Went on.", "b", "c"), "Go on.")
    assert went_on.status in (0, 1, 2), went_on.err
    unsteered(went_on.err)
    assert outside(workspace) == before


@pytest.mark.parametrize("kind", KINDS)
def test_whatever_stands_in_place_of_an_archived_result_is_not_the_result(
    command: Command, script: Script, workspace: Path, session: str, kind: str
) -> None:
    stored = sorted((workspace / BLOB / session).glob("*.txt"))
    for path in stored:
        KINDS[kind](path)
    before = outside(workspace)
    looked_at(command, workspace, session)
    if kind != "unreadable" or os.geteuid():
        with pytest.raises(NotFound):
            shown_at(workspace, stored[0].relative_to(workspace).as_posix())
    command("run", "-s", session, "-m", script("Went on.", "b", "c"), "Go on.")
    assert outside(workspace) == before


@pytest.mark.parametrize("linked", [".transcripts", ".transcripts/{0}", BLOB, BLOB + "/{0}"])
def test_a_folder_that_is_a_link_out_of_the_workspace_is_not_followed(
    command: Command, script: Script, workspace: Path, session: str, linked: str
) -> None:
    folder = workspace / linked.format(session)
    elsewhere = workspace.parent / "outside"
    if linked == ".transcripts":
        (elsewhere / session).mkdir()
        shutil.copy(elsewhere / "transcript.jsonl", elsewhere / session)
    shutil.rmtree(folder)
    folder.symlink_to(elsewhere)
    before = outside(workspace)
    for arguments in looks(workspace, session):
        told = command(*arguments)
        assert told.status in (0, 1, 2)
        # A list may say what a link leads to begins with; no session is opened there.
        if arguments[0] not in ("sessions", "replay"):
            assert SECRET not in told.out + told.err, arguments
    went_on = command("run", "-s", session, "-m", script("Went on.", "b", "c"), "Go on.")
    assert SECRET not in went_on.out + went_on.err
    assert outside(workspace) == before


@pytest.mark.parametrize(
    "name", ["20200101-000000-\x1b[2J\u202e", "a\nb", "-x", "--help", "x" * 200, "%s{0}", "..."]
)
def test_a_session_of_any_name_is_listed_and_looked_at(
    command: Command, workspace: Path, session: str, name: str
) -> None:
    (workspace / ".transcripts" / session).rename(workspace / ".transcripts" / name)
    for arguments in (("sessions",), ("sessions", "--json"), ("context", "--", name),
                      ("notes", "--", name), ("why", f".transcripts/{name}/transcript.jsonl#3")):  # fmt: skip
        told = command(*arguments)
        assert told.status in (0, 1, 2), (arguments, told.err)
        unsteered(told.out)
        unsteered(told.err)


@pytest.mark.parametrize("seconds", [2**40, -(2**40)])
def test_a_log_written_at_no_known_time_is_listed(
    command: Command, workspace: Path, session: str, seconds: int
) -> None:
    log = workspace / ".transcripts" / session / "transcript.jsonl"
    try:
        os.utime(log, (seconds, seconds))
    except OverflowError:
        pytest.skip("this file system has no such time")
    assert session in command("sessions").out


def test_rows_of_a_table_of_contents_lead_nowhere(
    command: Command, workspace: Path, session: str
) -> None:
    table = workspace / ".transcripts" / session / "contents.tsv"
    rows = [
        "99\tresult\tbash\tls\t3\t../secret.txt", "x", "\t" * 50_000, "9" * 5_000 + "\tresult",
        f"1\tresult\tbash\t{STEERING}\t-1\t/etc/passwd", "1\tresult\t" + "x" * 2_000_000, "\0" * 9,
    ]  # fmt: skip
    with table.open("a") as file:
        file.write("".join(f"{row}\n" for row in rows))
    looked_at(command, workspace, session)
    assert command("show", "../secret.txt").status == 1


def test_a_recording_from_elsewhere_names_files_of_this_machine_in_vain(
    command: Command, workspace: Path, session: str
) -> None:
    """The log lies as shallow as a download does: whatever it names is near."""
    log = workspace.parent / "log.jsonl"
    shutil.copy(workspace / ".transcripts" / session / "transcript.jsonl", log)
    whole = log.read_text()
    for sha256 in ("", "0" * 16, None):
        log.write_text(whole)
        path = (workspace.parent / "secret.txt").as_posix()
        written(log, blob(path=path, bytes=len(SECRET), sha256=sha256))
        told = command("replay", str(log), "--html", "r.html", "--out", "out")
        assert SECRET not in told.out + told.err
        for file in workspace.rglob("*"):
            assert not file.is_file() or SECRET.encode() not in file.read_bytes(), file
