"""The sandbox: what it allows as an argument list, and for real where bubblewrap works."""

from __future__ import annotations

import socket
import subprocess
from pathlib import Path

import pytest

from wayfare.agent.sandbox import (
    Confinement,
    NoSandbox,
    Sandbox,
    confined,
    default_read_only,
    find_sandbox,
)

pytestmark = pytest.mark.anyio
SANDBOX = Sandbox(program="bwrap")


def pairs(argv: tuple[str, ...], option: str) -> list[str]:
    """What an option that takes two equal paths was given, in order."""
    return [argv[at + 1] for at, word in enumerate(argv) if word == option]


def script(folder: Path, text: str) -> str:
    path = folder / "bwrap"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o700)
    return str(path)


async def test_a_machine_without_bubblewrap_says_so() -> None:
    found = await find_sandbox(lambda name: None)
    assert found == NoSandbox(
        reason="bubblewrap (bwrap) is not installed; your system's packages have it"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "echo 'bwrap: setting up uid map: Permission denied' >&2; exit 1",
            "does not work on this machine: bwrap: setting up uid map: Permission denied",
        ),
        ("exit 3", "does not work on this machine: exit code 3"),
    ],
)
async def test_a_bubblewrap_that_may_not_work_is_none(tmp_path: Path, text: str, said: str) -> None:
    program = script(tmp_path, text)
    found = await find_sandbox(lambda name: program)
    assert isinstance(found, NoSandbox)
    assert said in found.reason


async def test_a_bubblewrap_that_cannot_be_started_is_none(tmp_path: Path) -> None:
    found = await find_sandbox(lambda name: str(tmp_path / "missing"))
    assert isinstance(found, NoSandbox)
    assert "does not run" in found.reason


async def test_a_bubblewrap_that_answers_is_used(tmp_path: Path) -> None:
    program = script(tmp_path, f'echo "$@" > {tmp_path}/asked')
    assert await find_sandbox(lambda name: program) == Sandbox(program=program)
    assert "--unshare-net" in (tmp_path / "asked").read_text()


def test_only_the_workspace_is_writable(tmp_path: Path) -> None:
    argv = confined(SANDBOX, ["bash", "-c", "ls"], Confinement(workspace=tmp_path))
    assert pairs(argv, "--bind") == [str(tmp_path.resolve())]
    assert argv.index("--ro-bind") < argv.index("--tmpfs") < argv.index("--bind")
    assert argv[argv.index("--tmpfs") + 1] == "/tmp"
    assert {"--unshare-net", "--unshare-pid", "--die-with-parent", "--new-session"} <= set(argv)
    assert argv[argv.index("--chdir") + 1] == str(tmp_path.resolve())
    assert argv[argv.index("--") + 1 :] == ("bash", "-c", "ls")


def test_what_is_asked_for_is_added(tmp_path: Path) -> None:
    for name in ("project/.memory", "project/src", "cache", "keys"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "alias").symlink_to(tmp_path / "project")
    real = tmp_path.resolve()
    limits = Confinement(
        workspace=tmp_path / "alias",
        cwd=tmp_path / "alias/src",
        writable=(tmp_path / "cache", tmp_path / "missing"),
        read_only=default_read_only(tmp_path / "alias", (".memory", ".transcripts")),
        hidden=(tmp_path / "keys",),
        network=True,
    )
    argv = confined(SANDBOX, ["ls"], limits)
    assert pairs(argv, "--bind") == [str(real / "project"), str(real / "cache")]
    assert pairs(argv, "--ro-bind") == ["/", str(real / "project/.memory")]
    assert pairs(argv, "--tmpfs") == ["/tmp", str(real / "keys")]
    assert argv[argv.index("--chdir") + 1] == str(real / "project/src")
    assert "--unshare-net" not in argv


def test_what_runs_later_and_what_wayfare_writes_stays_as_it_is(tmp_path: Path) -> None:
    kept = default_read_only(tmp_path, (".memory",))
    assert {tmp_path / ".memory", tmp_path / ".git/hooks", tmp_path / "wayfare.toml"} <= set(kept)


async def test_a_confined_command_touches_the_workspace_and_nothing_else(tmp_path: Path) -> None:
    found = await find_sandbox()
    if isinstance(found, NoSandbox):
        pytest.skip(found.reason)
    workspace, outside = tmp_path / "project", tmp_path / "outside"
    for folder in (workspace / ".memory", outside):
        folder.mkdir(parents=True)
    probe = Path("/tmp") / f"wayfare-{tmp_path.name}"
    limits = Confinement(workspace=workspace, read_only=default_read_only(workspace, (".memory",)))
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        port = server.getsockname()[1]

        def works(line: str) -> bool:
            argv = confined(found, ["/bin/bash", "-c", line], limits)
            return subprocess.run(argv, capture_output=True, timeout=30).returncode == 0

        assert works("echo x > made && cat made")
        assert not works("echo x > .memory/made")
        assert not works(f"echo x > {outside}/made")
        assert not works(f"exec 3<> /dev/tcp/127.0.0.1/{port}")
        assert works(f"echo x > {probe}")
    assert (workspace / "made").exists()
    assert not probe.exists()
    assert list(outside.iterdir()) == []
