"""What cannot be done is one clear line on stderr and an exit status, never a traceback."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.cli.starting import Command, reading_session, written

from wayfare.cli.app import run


def refused(
    capfd: pytest.CaptureFixture[str], arguments: Sequence[object], status: int = 1
) -> list[str]:
    """The lines of stderr of a command that must fail, having printed nothing else."""
    assert run([str(argument) for argument in arguments]) == status
    output, errors = capfd.readouterr()
    assert output == ""
    assert "Traceback" not in errors
    return errors.splitlines()


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("missing.json", None, "no such file"),
        ("empty.json", b"", "the file is empty"),
        ("blank.jsonl", b"\n\x00\x00\n", "the file is empty"),
        ("other.json", b'{"a": 1}', "unknown format"),
        ("binary.json", b"\x7fELF\x00\x00", "binary"),
        ("nothing.json", b'{"messages": []}', "no message"),
        ("torn.json", b'{"messages": [{"role": "us', "not JSON"),
        ("deep.json", b"[" * 50_000, "not readable as JSON"),
    ],
)
def test_a_file_that_is_no_recording_is_named_with_the_reason(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], name: str, content: bytes | None, says: str
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    (line,) = refused(capfd, ["replay", tmp_path / name])
    assert line.startswith("wayfare: ")
    assert name in line
    assert says.lower() in line.lower()


def test_an_unknown_format_names_the_known_ones(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "other.json").write_text('{"a": 1}')
    (line,) = refused(capfd, ["replay", tmp_path / "other.json"])
    for known in ("Claude Code JSONL", "Codex rollout JSONL", "SWE-agent", "OpenAI chat"):
        assert known in line


def test_a_folder_without_recordings_says_so(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (line,) = refused(capfd, ["replay", tmp_path])
    assert "no recorded session" in line


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--budget", "tiny"], "unknown budget 'tiny'; known: window, classic"),
        (["--compare", "window,tiny"], "unknown budget 'tiny'"),
        (["--compare", ","], "no budget named"),
        (["--window", "2999"], "too small to govern; use at least 3000"),
        (["--window", "-5"], "too small to govern"),
    ],
)
def test_a_budget_that_cannot_be_is_refused_before_any_work(
    recording: Path, capfd: pytest.CaptureFixture[str], options: list[str], says: str
) -> None:
    (line,) = refused(capfd, ["replay", recording, *options], status=2)
    assert says in line


@pytest.mark.parametrize("option", ["--out", "--html"])
def test_a_target_that_cannot_be_written_is_refused_before_any_work(
    recording: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str], option: str
) -> None:
    """A file where a folder is needed stands for every place that cannot be written."""
    (tmp_path / "file").write_text("here")
    (line,) = refused(capfd, ["replay", recording, option, tmp_path / "file/target"], status=2)
    assert f"{option} {tmp_path / 'file' / 'target'} cannot be written" in line


def test_html_into_a_folder_is_refused(
    recording: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (line,) = refused(capfd, ["replay", recording, "--html", tmp_path], status=2)
    assert "it is a folder" in line


def test_wrong_usage_has_status_2(capfd: pytest.CaptureFixture[str]) -> None:
    assert refused(capfd, ["replay"], status=2)[-1] == "Error: Missing argument 'files'."
    assert "--windows" in refused(capfd, ["replay", "x", "--windows", "5"], status=2)[-1]


def test_one_bad_file_among_good_ones_is_told_and_the_rest_replayed(
    wayfare: Command, recording: Path, tmp_path: Path
) -> None:
    (tmp_path / "bad.json").write_bytes(b"")
    last = written(tmp_path / "last.json", reading_session(steps=2))
    done = wayfare("replay", recording, "bad.json", last, "--json")
    assert done.returncode == 1
    rows = json.loads(done.stdout)["sessions"]
    assert [row["file"] for row in rows] == ["reading.json", "last.json"]
    assert b"bad.json, line 1: the file is empty" in done.stderr


def test_a_stranger_in_a_folder_is_told_and_no_failure(
    recording: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "package.json").write_text('{"name": "x"}')
    assert run(["replay", str(tmp_path), "--json"]) == 0
    output, errors = capfd.readouterr()
    assert len(json.loads(output)["sessions"]) == 1
    assert "left out" in errors
    assert "package.json" in errors


def test_lines_that_could_not_be_read_are_told_with_the_first_of_them(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    good = '{"role":"user","content":"hi"}\n{"role":"assistant","content":"yes"}\n'
    (tmp_path / "torn.jsonl").write_text(good + '{"role":"user","cont')
    assert run(["replay", str(tmp_path / "torn.jsonl"), "--json"]) == 0
    output, errors = capfd.readouterr()
    assert "torn.jsonl: not all of it could be read; line 3" in errors
    assert json.loads(output)["sessions"][0]["problems"][0].startswith("line 3: ")
