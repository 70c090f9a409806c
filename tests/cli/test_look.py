"""`wayfare context`, `why` and `show` on what a replay kept."""

from __future__ import annotations

import base64
import json
import os
import pty
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
from tests.cli.starting import Command, call, command_line, environment, reading_session, result
from tests.cli.starting import written as write_recording

from wayfare.cli.app import run
from wayfare.context.budget import Budget
from wayfare.errors import WriteFailed
from wayfare.replay.reading import read_recordings
from wayfare.replay.replay import Replay
from wayfare.session import run_sync

LOG = ".transcripts/1-window/transcript.jsonl"
TABLE = ".transcripts/1-window/contents.tsv"


def png(width: int, height: int) -> bytes:
    """A grey picture."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        crc = zlib.crc32(kind + content)
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", crc)

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = zlib.compress((b"\0" + b"\x7f" * width) * height)
    chunks = chunk(b"IHDR", header), chunk(b"IDAT", rows), chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


PICTURE = png(640, 480) + b"\0" * 3_000
"""Large enough for a file of its own."""
RESULT = "line\r\nwith a lone \ud83d and\u2028no end"


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """The workspace of a replay: 4 is a text of its own bytes, 6 a picture, then many reads."""
    source = {
        "type": "base64",
        "media_type": "image/png",
        "data": base64.b64encode(PICTURE).decode(),
    }
    first, *rest = reading_session(result_chars=4_000)
    messages = [
        first,
        {"role": "assistant", "content": [call("odd", "shell", command="cat odd")]},
        {"role": "user", "content": [result("odd", RESULT)]},
        {"role": "assistant", "content": [call("pic", "read", path="a.png")]},
        {"role": "user", "content": [result("pic", [{"type": "image", "source": source}])]},
        *rest,
    ]
    (recording,) = read_recordings(write_recording(tmp_path / "session.json", messages))
    replay = Replay(recording, Budget.window(6_000), tmp_path, session="1-window")
    assert run_sync(replay.run).recoverable == 1
    return tmp_path


def output(capfdbinary: pytest.CaptureFixture[bytes], *arguments: object, status: int = 0) -> bytes:
    assert run([str(argument) for argument in arguments]) == status
    return capfdbinary.readouterr().out


def test_a_replay_goes_on_with_nobodys_log(kept: Path) -> None:
    (recording,) = read_recordings(kept / "session.json")
    before = (kept / LOG).read_bytes()
    again = Replay(recording, Budget.window(6_000), kept, session="1-window")
    with pytest.raises(WriteFailed, match=f"{LOG} holds a session already"):
        run_sync(again.run)
    assert (kept / LOG).read_bytes() == before


def test_show_writes_the_exact_bytes_of_an_entry_and_adds_nothing(
    kept: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    exact = RESULT.encode("utf-8", "surrogatepass")
    for address in (f"{LOG}#4", f"./{LOG}#4", kept / f"{LOG}#4", f"[{LOG}#4]"):
        assert output(capfdbinary, "show", address, "--root", kept) == exact


def test_show_reads_a_run_of_entries_a_table_and_an_archived_result(
    kept: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    run_of_two = output(capfdbinary, "show", f"{LOG}#2-3", "--root", kept)
    assert run_of_two == b"Read the modules and list the faults.\nshell\ncommand: cat odd"
    table = output(capfdbinary, "show", TABLE, "--root", kept)
    assert table == (kept / TABLE).read_bytes()
    (blob,) = (kept / ".task_outputs").rglob("toolu_00-*.txt")
    assert output(capfdbinary, "show", blob, "--root", kept) == blob.read_bytes()
    relative = blob.relative_to(kept)
    assert output(capfdbinary, "show", relative, "--root", kept) == blob.read_bytes()


def test_show_writes_a_picture_into_a_pipe(kept: Path, wayfare: Command) -> None:
    (blob,) = (kept / ".task_outputs").rglob("*.png")
    assert wayfare("show", blob.relative_to(kept), "--root", kept).stdout == PICTURE


@pytest.mark.parametrize(
    "address",
    [
        f"{LOG}#9999",
        ".transcripts/other/transcript.jsonl#1",
        ".task_outputs/tool-results/1-window/none.txt",
        ".task_outputs/tool-results/1-window/../../../secret",
        ".transcripts/1-window",
        "/etc/passwd",
        "../outside",
        "",
        "[]",
    ],
)
def test_an_address_that_leads_nowhere_is_one_line(
    kept: Path, capfd: pytest.CaptureFixture[str], address: str
) -> None:
    (kept / "secret").write_text("not for show")
    for command in ("show", "why"):
        if command == "why" and address == ".transcripts/1-window":
            continue
        assert run([command, address, "--root", str(kept)]) == 1
        found = capfd.readouterr()
        assert found.out == ""
        assert len(found.err.splitlines()) == 1
        assert found.err.startswith("wayfare: ")


def test_context_adds_up_and_names_what_is_large(
    kept: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(["context", "--root", str(kept), "--json"]) == 0
    found = json.loads(capfd.readouterr().out)
    assert found["session"] == "1-window"
    assert sum(found["by_origin"].values()) == pytest.approx(found["tokens"], abs=4)
    assert found["messages"] < found["entered_messages"] == 66
    assert found["edits"]
    assert run(["show", found["largest"][0]["address"], "--root", str(kept)]) == 0
    assert capfd.readouterr().out
    assert run(["context", "1-window", "--root", str(kept)]) == 0
    page = capfd.readouterr().out
    assert "█" not in page, "a pipe gets numbers, no bars"
    for said in ("by origin", "results by tool", "largest messages", "digest", TABLE):
        assert said in page


def test_context_without_a_session_says_where_it_looked(
    tmp_path: Path, kept: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    assert run(["context", "--root", str(empty)]) == 1
    assert str(empty) in capfd.readouterr().err
    assert run(["context", "2-window", "--root", str(kept)]) == 1
    assert "there are: 1-window" in capfd.readouterr().err


def test_why_tells_what_was_done_to_a_result_and_what_stands_for_it_now(
    kept: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (blob,) = (kept / ".task_outputs").rglob("toolu_00-*.txt")
    assert run(["why", str(blob), "--root", str(kept)]) == 0
    story = capfd.readouterr().out
    assert story.startswith(f"{LOG}#")
    assert "block 1 of 1: tool, 4,000 characters" in story
    assert "a result shows its first" in story or "a result became one line" in story
    assert "it went behind a marker" in story
    assert "now: behind the marker of edit #" in story
    marker = story.split("now: behind the marker of edit #")[1].split(",")[0]
    assert run(["why", f"{LOG}#{marker}", "--root", str(kept)]) == 0
    told = capfd.readouterr().out
    assert "its marker stands in the context and reads" in told
    assert "[Compacted]" in told


def test_why_counts_a_run_and_leaves_untouched_texts_alone(
    kept: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(["why", f"{LOG}#2-20", "--root", str(kept)]) == 0
    told = capfd.readouterr().out
    assert told.startswith(f"{LOG}#2-20: ")
    assert "it went behind a marker (" in told
    assert "now: " in told
    assert run(["why", f"{LOG}#2", "--root", str(kept)]) == 0
    assert "now: in the context, whole" in capfd.readouterr().out


def test_why_explains_an_edit_that_was_taken_back(
    kept: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    log = kept / LOG
    lines = log.read_text().splitlines()
    last = json.loads(lines[-1])["id"]
    digests = [json.loads(line)["id"] for line in lines if '"by":"digest"' in line]
    undo = {"kind": "edit", "v": 1, "id": last + 1, "time": 1.0, "by": "undo", "reason": "asked"}
    with log.open("a") as end:
        end.write(json.dumps({**undo, "undoes": digests}) + "\n")
    assert run(["why", f"{LOG}#{digests[0]}", "--root", str(kept)]) == 0
    assert "taken back since" in capfd.readouterr().out
    assert run(["why", f"{LOG}#{last + 1}", "--root", str(kept)]) == 0
    assert f"takes back #{digests[0]}" in capfd.readouterr().out


def on_terminal(kept: Path, *arguments: str, columns: int = 80) -> str:
    """What a command writes to a terminal of so many columns, where the platform has one."""
    leader, follower = pty.openpty()
    _resize(follower, columns)
    running = subprocess.Popen(
        [*command_line(), *arguments],
        cwd=kept,
        env=environment(TERM="xterm"),
        stdin=follower,
        stdout=follower,
        stderr=follower,
    )
    os.close(follower)
    seen = b""
    while True:
        try:
            block = os.read(leader, 65_536)
        except OSError:
            break
        if not block:
            break
        seen += block
    running.wait(timeout=60)
    os.close(leader)
    return seen.decode("utf-8", "replace")


def _resize(file: int, columns: int) -> None:
    import fcntl
    import termios

    fcntl.ioctl(file, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_a_terminal_gets_lines_that_fit_and_bars(kept: Path) -> None:
    page = on_terminal(kept, "context", "1-window")
    assert "█" in page
    shown = [line for line in page.splitlines() if LOG not in line and TABLE not in line]
    assert max(map(len, shown)) <= 80
    replayed = on_terminal(kept, "replay", "session.json", "--window", "6000")
    table = [line for line in replayed.splitlines() if "window " in line][-1]
    assert len(table) <= 80


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_a_terminal_is_told_what_a_picture_is_instead_of_its_bytes(kept: Path) -> None:
    (blob,) = (kept / ".task_outputs").rglob("*.png")
    seen = on_terminal(kept, "show", str(blob.relative_to(kept)))
    assert f"a PNG picture, 640 × 480 pixels, {len(PICTURE):,} bytes" in seen
    assert "IHDR" not in seen
