"""wayfare's own tools through the real loop, on a real repository of more than 1,000 files."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.flow.opened import Watching, answers, asked

from wayfare.agent.builtin import builtin_tools, result_chars
from wayfare.agent.consent import Decided, Question
from wayfare.agent.permissions import Policy, parse_rules
from wayfare.context.budget import Budget

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository of 1,203 committed files in 240 folders, with ignored ones beside them."""
    root = tmp_path_factory.mktemp("repository").resolve()
    for number in range(1_200):
        folder = root / f"package{number % 40}" / f"part{number % 6}"
        folder.mkdir(parents=True, exist_ok=True)
        text = "".join(
            f"def function_{number}_{k}(value):\n    return value + {k}\n\n" for k in range(8)
        )
        (folder / f"module{number}.py").write_text(text)
    (root / "README.md").write_text("# Example\n\nRuns with `make`.\r\n")
    (root / "run.sh").write_text("#!/bin/sh\necho run\n")
    (root / ".gitignore").write_text("build/\n*.log\n.env\n")
    (root / "build").mkdir()
    (root / "build/generated.py").write_text("def function_7_3(value): ...\n")
    (root / "debug.log").write_text("function_7_3\n")
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "all of it")
    return root


def git(root: Path, *words: str) -> str:
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    done = subprocess.run(
        ["git", *who, *words], cwd=root, check=True, capture_output=True, text=True
    )
    return done.stdout


def texts(watching: Watching) -> dict[str, str]:
    """What every call so far was answered, by its id."""
    return {id: text for id, text, _ in answers(watching.model.requests[-1].messages)}


async def test_a_task_is_done_with_the_tools_in_a_large_repository(repository: Path) -> None:
    module = "package7/part1/module7.py"
    script: list[Any] = [
        [
            asked("glob", "g", pattern="**/module7.py"),
            asked("grep", "s", pattern=r"function_7_3\b"),
            asked("grep", "n", pattern="return value", output="files", glob="module1*.py", limit=2_000),
        ],
        asked("todo_write", "t", todos=[{"id": "1", "content": "rename", "status": "in_progress"}]),
        asked("edit_file", "e0", path=module, old_string="function_7_3", new_string="renamed"),
        asked("read_file", "r", path=module),
        asked("edit_file", "e1", path=module, old_string="function_7_3", new_string="renamed"),
        asked("bash", "b", command=f"git diff --stat && python3 -c \"import ast; ast.parse(open('{module}').read())\""),
        asked("read_file", "r2", path="README.md"),
        asked("write_file", "w", path="README.md", content="# Example\n\nRuns.\n"),
        asked("todo_write", "t2", todos=[{"id": "1", "content": "rename", "status": "completed"}]),
        "renamed",
    ]  # fmt: skip
    watching = Watching(repository, script)
    async with watching.open(tools=builtin_tools()) as session:
        ended = await session.run("rename function_7_3")
        assert ended.text == "renamed"
        found = texts(watching)
    assert found["g"] == module
    assert found["s"] == f"{module}\n10:def function_7_3(value):"
    assert found["n"].count("\n") == 310, "of 0 to 1199 those that begin with 1, a file a line"
    assert found["e0"].endswith("was not read in this session: read it first")
    assert "10\tdef function_7_3(value):" in found["r"]
    assert "-def function_7_3(value):\n+def renamed(value):" in found["e1"]
    assert "1 file changed, 1 insertion(+), 1 deletion(-)" in found["b"]
    assert git(repository, "diff", "--numstat", "--", module).startswith("1\t1\t")
    assert (repository / "README.md").read_bytes() == b"# Example\n\nRuns.\n"
    assert git(repository, "status", "--porcelain").splitlines() == [" M README.md", f" M {module}"]


async def test_a_read_is_a_stub_only_while_it_stands_in_the_context(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("".join(f"line {n}\n" for n in range(300)))
    other = [asked("bash", f"x{n}", command=f"echo {n}; seq 1 400") for n in range(6)]
    script = [
        asked("read_file", "r1", path="a.txt"),
        asked("read_file", "r2", path="a.txt"),
        *other,
        asked("compact", "k"),
        asked("read_file", "r3", path="a.txt"),
        "done",
    ]
    watching = Watching(tmp_path, script)
    async with watching.open(tools=builtin_tools()) as session:
        await session.run("read it again and again")
        requests = watching.model.requests
        again = {id: text for id, text, _ in answers(requests[2].messages)}
        assert again["r2"].startswith("[a.txt lines 1–300 of 300: unchanged since the call r1")
        assert "r1" not in texts(watching), "the compaction took it out"
        assert texts(watching)["r3"].startswith("1\tline 0\n")


async def test_what_leaves_the_context_is_found_and_read_at_its_address(tmp_path: Path) -> None:
    (tmp_path / "big.py").write_text("".join(f"value_{n} = {n}\n" for n in range(800)))
    script: list[Any] = [
        asked("read_file", "r", path="big.py"),
        *[asked("bash", f"x{n}", command=f"echo {n}; seq 1 400") for n in range(6)],
        asked("compact", "k"),
        asked("search_history", "h", query="value_777 = ", regex=True),
    ]

    def read_what_was_found(request: Any) -> Any:
        found = {id: text for id, text, _ in answers(request.messages)}["h"]
        address = next(line for line in found.splitlines() if line.endswith("(read_file big.py)"))
        return asked("read_file", "a", path=address.rpartition(" (")[0], offset=778, limit=1)

    watching = Watching(tmp_path, [*script, read_what_was_found, "done"])
    async with watching.open(tools=builtin_tools()) as session:
        await session.run("look into big.py")
        found = texts(watching)
        assert "778\t778\tvalue_777 = 777" in found["h"]
        assert found["a"].startswith("778\t778\tvalue_777 = 777")


async def test_a_secret_is_not_poured_out_by_a_search(tmp_path: Path) -> None:
    for name in ("src/a.py", "private/b.py", "settings.env"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("needle\n")
    denied = parse_rules({"deny": ["read_file(private/**)"]}, "user")
    script = [
        asked("grep", "g", pattern="needle", output="files"),
        asked("grep", "d", pattern="needle", path="settings.env"),
        "done",
    ]
    watching = Watching(tmp_path, script)
    policy = Policy(workspace=tmp_path, mode="accept-edits", rules=denied)
    async with watching.open(tools=builtin_tools(), policy=policy) as session:
        await session.run("search")
        found = texts(watching)
    assert found["g"] == (
        "src/a.py (1)\n[also in 2 files that need permission to be read: private/b.py, settings.env]"
    )
    assert found["d"].startswith("denied: grep was not run")


async def test_a_link_changed_while_a_person_was_asked_is_not_followed(tmp_path: Path) -> None:
    workspace, outside = tmp_path / "w", tmp_path / "outside"
    (workspace / "inside").mkdir(parents=True)
    outside.mkdir()
    (workspace / "way").symlink_to("inside")
    script = [asked("write_file", "w", path="way/a.txt", content="x"), "done", "it cannot be"]
    watching = Watching(workspace, script)

    async def yes_after_the_link_moved(question: Question) -> Decided:
        (workspace / "way").unlink()
        (workspace / "way").symlink_to(outside)
        return Decided(allow=True)

    policy = Policy(workspace=workspace, mode="ask")
    async with watching.open(
        tools=builtin_tools(), policy=policy, ask=yes_after_the_link_moved
    ) as session:
        await session.run("write")
        assert "led to" in texts(watching)["w"]
    assert list(outside.iterdir()) == []


async def test_outside_the_workspace_is_written_when_a_person_says_so(tmp_path: Path) -> None:
    workspace = tmp_path / "w"
    workspace.mkdir()
    path = str(tmp_path / "beside.txt")
    watching = Watching(workspace, [asked("write_file", "w", path=path, content="x"), "done"])

    async def yes(question: Question) -> Decided:
        return Decided(allow=True)

    policy = Policy(workspace=workspace, mode="accept-edits")
    async with watching.open(tools=builtin_tools(), policy=policy, ask=yes) as session:
        await session.run("write")
    assert (tmp_path / "beside.txt").read_text() == "x"


async def test_interrupting_ends_the_command_and_the_session_goes_on(tmp_path: Path) -> None:
    command = "sleep 1000 & echo $! > child; echo $$ > pid; wait"
    watching = Watching(tmp_path, [asked("bash", "b", command=command), "went on"])
    async with watching.open(tools=builtin_tools()) as session:
        async with anyio.create_task_group() as tasks:

            async def interrupt() -> None:
                while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
                    await anyio.sleep(0.01)
                session.interrupt()

            tasks.start_soon(interrupt)
            ended = await session.run("wait")
        assert ended.how == "interrupted"
        for name in ("pid", "child"):
            while runs(int((tmp_path / name).read_text())):
                await anyio.sleep(0.01)
        assert (await session.run("go on")).text == "went on"
        (id, text, is_error), *_ = answers(watching.model.requests[-1].messages)
        assert (id, is_error) == ("b", True)
        assert text.startswith("[interrupted]")


async def test_a_background_command_ends_with_the_session(tmp_path: Path) -> None:
    script = [asked("bash", "b", command="echo $$ > pid; sleep 1000", background=True), "done"]
    watching = Watching(tmp_path, script)
    async with watching.open(tools=builtin_tools()) as session:
        await session.run("serve")
        while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
            await anyio.sleep(0.01)
        pid = int((tmp_path / "pid").read_text())
        assert runs(pid)
    while runs(pid):
        await anyio.sleep(0.01)


def runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


@pytest.mark.parametrize("window_tokens", [4_000, 8_192, 32_000, 200_000, 1_000_000])
async def test_results_as_long_as_the_budget_allows_are_shown_whole(
    tmp_path: Path, window_tokens: int
) -> None:
    budget = Budget.window(window_tokens)
    (tmp_path / "dense.log").write_text(
        "".join(f"{n} 0x{n * 7919:x} [{n}] {n}.{n}\n" for n in range(9_000))
    )
    watching = Watching(
        tmp_path,
        [asked("read_file", "r", path="dense.log"), "done"],
        model={"window_tokens": window_tokens, "max_output_tokens": budget.reserve_tokens},
    )
    tools = builtin_tools(result_chars=result_chars(budget)).only(["read_file"])
    async with watching.open(tools=tools, budget=budget) as session:
        await session.run("read")
        text = texts(watching)["r"]
    assert text.startswith("1\t0 0x0"), text[:100]
    assert "go on with offset=" in text[-80:]
    assert os.path.getsize(tmp_path / "dense.log") > len(text)
