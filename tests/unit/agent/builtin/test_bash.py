"""`bash`, `bash_output`, `bash_kill` with a real shell."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import anyio
import pytest
from tests.unit.agent.builtin.workbench import Workbench

from wayfare.agent.builtin import Shell
from wayfare.agent.builtin.jobs import Jobs
from wayfare.agent.builtin.shell_settings import looks_secret
from wayfare.agent.sandbox import Sandbox, find_sandbox

pytestmark = pytest.mark.anyio


def alive(pid: int) -> bool:
    """Whether a process runs; a dead one that nobody fetched does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


async def gone(pid: int) -> None:
    """Return when a process ended; the test's own time-out is the limit."""
    while alive(pid):
        await anyio.sleep(0.01)


async def appears(path: Path) -> str:
    """The text of a file once it has one."""
    while not path.exists() or not path.read_text().strip():
        await anyio.sleep(0.01)
    return path.read_text()


async def test_what_is_printed_comes_back_exactly_and_leaves_no_file(bench: Workbench) -> None:
    found = await bench.call("bash", command="echo out; echo err >&2; pwd")
    assert found.text == f"out\nerr\n{bench.workspace}\n"
    assert not found.is_error
    assert [p for p in bench.results() if p.name.startswith("bash_")] == []
    assert (bench.workspace / ".task_outputs/.gitignore").read_text() == "*\n"


async def test_a_failure_begins_with_how_it_ended(bench: Workbench) -> None:
    found = await bench.call("bash", command="echo no; exit 3")
    assert (found.text, found.is_error, found.brief) == (
        "exit code 3\nno\n",
        True,
        "exit code 3: no",
    )
    killed = await bench.call("bash", command="kill -9 $$")
    assert killed.text == "ended by SIGKILL\n"
    missing = await bench.call("bash", command="no_such_program_here")
    assert missing.text.startswith("exit code 127\n")


async def test_nothing_can_be_typed_in_and_no_terminal_is_there(bench: Workbench) -> None:
    found = await bench.call("bash", command="cat; read x || echo none; tty; echo $TERM")
    assert found.text == "none\nnot a tty\ndumb\n"


async def test_what_waits_on_our_own_input_is_not_for_commands(bench: Workbench) -> None:
    ours = os.dup(0)
    source, target = os.pipe()
    os.write(target, b"for the person's terminal\n")
    os.close(target)
    os.dup2(source, 0)
    try:
        found = await bench.call("bash", command="cat")
    finally:
        os.dup2(ours, 0)
        os.close(ours)
        os.close(source)
    assert found.text == ""


async def test_long_output_is_kept_whole_and_shown_by_its_ends(bench: Workbench) -> None:
    found = await bench.call("bash", command="seq 1 100000; echo at the end >&2")
    assert found.text.startswith("1\n2\n3\n")
    assert found.text.endswith("100000\nat the end\n")
    assert len(found.text) < 16_300
    (file,) = [p for p in bench.results() if p.suffix == ".txt"]
    assert f"all of it: .task_outputs/tool-results/s/{file.name} …]" in found.text
    expected = "".join(f"{n}\n" for n in range(1, 100_001)) + "at the end\n"
    assert file.read_text() == expected
    assert file.stat().st_mode & 0o777 == 0o600
    page = await bench.call(
        "read_file", path=f".task_outputs/tool-results/s/{file.name}", offset=50_000, limit=1
    )
    assert page.text.startswith("50000\t50000\n")


async def test_a_command_cannot_empty_the_file_its_output_goes_to(bench: Workbench) -> None:
    found = await bench.call(
        "bash", command="echo one; echo two > /dev/stderr; echo three | tee /dev/stderr > /dev/null"
    )
    assert found.text == "one\ntwo\nthree\n"


async def test_a_gigabyte_fills_neither_memory_nor_the_context(bench: Workbench) -> None:
    import resource

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    command = "head -c 1000000000 /dev/zero | tr '\\0' 'x'"
    found = await bench.call("bash", command=command)
    grown_kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown_kilobytes < 100_000
    assert len(found.text) < 16_300
    (file,) = [p for p in bench.results() if p.suffix == ".txt"]
    assert file.stat().st_size == 1_000_000_000
    file.unlink()


async def test_bytes_that_are_no_text_are_shown_and_kept(bench: Workbench) -> None:
    found = await bench.call("bash", command=r"printf 'a\xff\xfeb\0c\n'")
    (file,) = [p for p in bench.results() if p.suffix == ".txt"]
    assert found.text == (
        f"a\ufffd\ufffdb\ufffdc\n[its exact bytes: .task_outputs/tool-results/s/{file.name}]"
    )
    assert file.read_bytes() == b"a\xff\xfeb\0c\n"


async def test_colours_and_progress_lines_are_left_out_of_what_is_shown(bench: Workbench) -> None:
    found = await bench.call("bash", command=r"printf '\x1b[31mred\x1b[0m\n 10%%\r 50%%\r100%%\n'")
    assert found.text.startswith("red\n100%\n[its exact bytes: ")


async def test_a_command_that_takes_too_long_is_ended_with_all_it_started(bench: Workbench) -> None:
    command = "echo begun; sleep 1000 & echo $! > pid; wait"
    found = await bench.call("bash", command=command, timeout_seconds=0.3)
    assert found.is_error
    assert found.text.startswith("timed out after 0.3 seconds and was ended\nbegun\n")
    assert "background=true" in found.text
    await gone(int((bench.workspace / "pid").read_text()))


async def test_one_that_will_not_end_is_ended(tmp_path: Path) -> None:
    bench = Workbench(tmp_path.resolve(), shell=Shell(grace_seconds=0.1))
    command = "trap '' TERM; echo $$ > pid; while true; do sleep 1; done"
    found = await bench.call("bash", command=command, timeout_seconds=0.3)
    assert "was ended" in found.text
    assert not alive(int((tmp_path / "pid").read_text()))


async def test_cancelling_ends_the_whole_group(bench: Workbench) -> None:
    async with anyio.create_task_group() as tasks:
        command = "sleep 1000 & echo $! > child; echo $$ > pid; wait"
        tasks.start_soon(lambda: bench.call("bash", command=command))
        pid = int(await appears(bench.workspace / "pid"))
        child = int((bench.workspace / "child").read_text())
        tasks.cancel_scope.cancel()
    await gone(pid)
    await gone(child)


async def test_too_much_output_ends_a_command(tmp_path: Path) -> None:
    bench = Workbench(tmp_path.resolve(), shell=Shell(most_output_bytes=100_000, grace_seconds=0.2))
    found = await bench.call("bash", command="yes", timeout_seconds=60)
    assert found.text.startswith("ended: more than 100,000 bytes of output\ny\ny\n")
    for file in bench.results():
        file.unlink()


async def test_a_background_command_is_asked_about_by_its_id(bench: Workbench) -> None:
    started = await bench.call(
        "bash", command="echo one; while [ ! -e go ]; do sleep 0.02; done; echo two; exit 4",
        background=True,
    )  # fmt: skip
    assert started.text.startswith("b1 runs in the background.")
    (file,) = [p for p in bench.results() if p.suffix == ".txt"]
    await appears(file)
    first = await bench.call("bash_output", id="b1")
    assert first.text.endswith(": running for 0 s\none\n")
    assert (await bench.call("bash_output", id="b1")).text.endswith("[nothing new was printed]")
    (bench.workspace / "go").touch()
    last = await bench.call("bash_output", id="b1", wait_seconds=60)
    assert last.text.endswith(": exit code 4\ntwo\n")
    unknown = await bench.call("bash_output", id="b9")
    assert unknown.text == "there is no background command 'b9'. There are: b1"
    assert unknown.is_error


async def test_a_background_command_is_ended_with_what_it_started(bench: Workbench) -> None:
    await bench.call("bash", command="sleep 1000 & echo $! > pid; wait", background=True)
    pid = int(await appears(bench.workspace / "pid"))
    found = await bench.call("bash_kill", id="b1")
    assert found.text.startswith("b1 (sleep 1000 & echo $! > pid; wait): ended by bash_kill")
    await gone(pid)
    assert bench.context.kept.of(Jobs).running() == []


async def test_what_a_command_leaves_behind_gets_an_id(bench: Workbench) -> None:
    found = await bench.call("bash", command="sleep 1000 & echo $! > pid; echo started")
    assert found.text.startswith("started\n[1 of its processes still run, as b1:")
    pid = int((bench.workspace / "pid").read_text())
    assert "running" in (await bench.call("bash_output", id="b1")).text
    await bench.call("bash_kill", id="b1")
    await gone(pid)


async def test_closing_the_session_ends_everything(bench: Workbench) -> None:
    await bench.call("bash", command="echo $$ > one; sleep 1000", background=True)
    await bench.call("bash", command="sleep 1000 & echo $! > two")
    pids = [int(await appears(bench.workspace / name)) for name in ("one", "two")]
    await bench.context.kept.aclose()
    for pid in pids:
        await gone(pid)


async def test_a_command_that_cannot_be_started_says_why(bench: Workbench) -> None:
    zero = await bench.call("bash", command="echo a\0b")
    assert zero.is_error
    assert "could not be started" in zero.text
    long = await bench.call("bash", command="# " + "x" * 200_000)
    assert "write long texts with write_file" in long.text
    assert [p for p in bench.results() if p.suffix == ".txt"] == []


async def test_where_results_cannot_be_kept_a_temporary_file_takes_them(tmp_path: Path) -> None:
    bench = Workbench(tmp_path.resolve())
    (tmp_path / ".task_outputs").write_text("a file is in the way")
    found = await bench.call("bash", command="seq 1 100000")
    address = found.text.partition("all of it: ")[2].partition(" …]")[0]
    assert Path(address).read_text().endswith("100000\n")
    await bench.context.kept.aclose()
    assert not Path(address).exists()


async def test_commands_get_no_keys(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-abcdefghijklmnop1234")
    monkeypatch.setenv("DATABASE_URL", "postgres://me:hunter2@db/app")
    monkeypatch.setenv("BASH_ENV", "/tmp/evil")
    monkeypatch.setenv("BASH_FUNC_ls%%", "() { echo fooled; }")
    monkeypatch.setenv("PLAIN_VALUE", "kept")
    found = await bench.call("bash", command="env; ls -d .")
    assert "kept" in found.text
    for gone_word in ("sk-abc", "hunter2", "evil", "fooled"):
        assert gone_word not in found.text


@pytest.mark.parametrize(
    ("name", "value", "secret"),
    [
        ("ANTHROPIC_API_KEY", "x", True),
        ("GH_TOKEN", "x", True),
        ("PGPASSWORD", "x", True),
        ("AWS_SECRET_ACCESS_KEY", "x", True),
        ("MYSERVICE", "ghp_abcdefghijklmnopqrstuvwx", True),
        ("SERVICE_URL", "https://user:pass@host/path", True),
        ("SSH_AUTH_SOCK", "/run/agent", False),
        ("XDG_SESSION_ID", "3", False),
        ("MONKEY", "banana", False),
        ("TOKENIZERS_PARALLELISM", "false", False),
        ("PATH", "/usr/bin:/bin", False),
        ("PIP_INDEX_URL", "https://host/simple", False),
    ],
)
def test_secrets_are_told_by_name_and_value(name: str, value: str, secret: bool) -> None:
    assert looks_secret(name, value) is secret


def test_a_person_may_let_a_variable_through() -> None:
    shell = Shell(keep=("GH_*",))
    assert "GH_TOKEN" in shell.environment({"GH_TOKEN": "x"})
    assert "NPM_TOKEN" not in shell.environment({"NPM_TOKEN": "x"})


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
async def test_a_confined_command_writes_the_workspace_and_nothing_else(tmp_path: Path) -> None:
    sandbox = await find_sandbox()
    if not isinstance(sandbox, Sandbox):
        pytest.skip(sandbox.reason)
    workspace, outside = tmp_path / "w", Path.home() / "outside"
    workspace.mkdir()
    bench = Workbench(workspace.resolve(), shell=Shell(sandbox=sandbox))
    assert not (await bench.call("bash", command="echo x > inside")).is_error
    found = await bench.call("bash", command=f"echo x > {outside}")
    assert found.is_error
    assert (
        "[it ran confined: only the workspace can be written, and there is no network]"
        in found.text
    )
    assert not outside.exists()
    (workspace / ".memory").mkdir()
    assert (await bench.call("bash", command="echo x > .memory/a.md")).is_error
    await bench.call("bash", command="sleep 1000 & echo $! > pid; wait", background=True)
    await appears(workspace / "pid")
    inner = {int(p) for p in os.listdir("/proc") if p.isdigit() and _runs_sleep(int(p))}
    assert inner
    await bench.context.kept.aclose()
    for pid in inner:
        await gone(pid)


def _runs_sleep(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes() == b"sleep\x001000\x00"
    except OSError:
        return False


async def test_a_search_that_finds_nothing_says_so_and_is_no_error(bench: Workbench) -> None:
    (bench.workspace / "f").write_text("a\n")
    none = await bench.call("bash", command="grep b f")
    assert (none.text, none.is_error) == ("exit code 1\n", False)
    wrong = await bench.call("bash", command="grep b not_there")
    assert wrong.is_error
