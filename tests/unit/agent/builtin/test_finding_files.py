"""`glob` and `grep`: what git would ignore is left out, both engines agree, all is bounded."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.unit.agent.builtin.workbench import Workbench

from wayfare.agent.builtin.glob_patterns import compiled, split
from wayfare.agent.builtin.grep import grep_tool
from wayfare.agent.builtin.walk import files

pytestmark = pytest.mark.anyio

NAMES = st.sampled_from(["a", "b", "build", "x.py", "x.log", "node", ".hidden"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
RULES = st.sampled_from(
    [
        "*.log",
        "build/",
        "/a",
        "a/b",
        "!x.log",
        "**/node",
        "x.*",
        "!*.py",
        "b/**",
        "/a/*",
        "# no",
        "",
        ".*",
    ]
)


def ignored_by_git(root: Path, path: str) -> bool:
    asked = subprocess.run(["git", "check-ignore", "-q", f"{path}/"], cwd=root, check=False)
    return asked.returncode == 0


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(
    st.sets(PATHS, max_size=12),
    st.lists(RULES, max_size=4),
    st.lists(RULES, max_size=2),
    st.sampled_from([".", "a", "build"]),
)
@example({"x.log/x.py/a"}, ["x.*", "!x.log"], [], ".")
@example({"b/x.py", "b/a/x.py", "b/a/x.log"}, ["b/**", "!*.py"], [], ".")
@example({"x.log/a", "b/x.log"}, ["x.*", "!x.log"], [], ".")
@example({"a/x.log/x.py/a"}, ["x.*"], ["!x.log"], "a")
def test_a_walk_gives_what_git_gives(
    tmp_path_factory: pytest.TempPathFactory,
    paths: set[str],
    rules: list[str],
    inner: list[str],
    start: str,
) -> None:
    root = tmp_path_factory.mktemp("repo").resolve()
    for path in sorted(paths):
        if any(other.startswith(path + "/") for other in paths):
            continue
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("x")
    (root / ".gitignore").write_text("\n".join(rules) + "\n")
    if (root / "a").is_dir():
        (root / "a/.gitignore").write_text("\n".join(inner) + "\n")
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    listed = subprocess.run(
        ["git", "ls-files", "--others", "--exclude-standard", "-z"],
        cwd=root,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    expected = {path for path in listed.split("\0") if path}
    found = {each.path for each in files(root)}
    assert found == expected
    if start == "." or not (root / start).is_dir() or ignored_by_git(root, start):
        return
    below = {f"{start}/{each.path}" for each in files(root / start)}
    assert below == {path for path in expected if path.startswith(f"{start}/")}


def test_the_innermost_rule_wins_and_rules_of_folders_above_hold(tmp_path: Path) -> None:
    root = tmp_path.resolve()
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    for path in ("a/keep.log", "a/x.log", "a/b/y.log", "a/b/z.txt", "a/secret", "c/gone/d.txt"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("x")
    (root / ".gitignore").write_text("*.log\ngone/\n")
    (root / "a/.gitignore").write_text("!keep.log\n")
    (root / ".git/info/exclude").write_text("secret\n")
    ignore = {".gitignore", "a/.gitignore"}
    assert {f.path for f in files(root)} - ignore == {"a/keep.log", "a/b/z.txt"}
    assert {f.path for f in files(root / "a")} == {".gitignore", "keep.log", "b/z.txt"}
    assert {f.path for f in files(root / "a/b")} == {"z.txt"}
    assert {f.path for f in files(root / "c/gone")} == {"d.txt"}, "asked for itself"
    assert len(list(files(root, ignored=True))) == 8


@pytest.mark.parametrize(
    ("pattern", "fits", "fits_not"),
    [
        ("*.py", ["a.py", "src/b.py"], ["a.pyc", "py"]),
        ("src/**/*.py", ["src/a.py", "src/x/y/b.py"], ["a.py", "lib/src/a.py"]),
        ("**/test_*.{ts,tsx}", ["test_a.ts", "x/test_b.tsx"], ["x/test_b.js", "atest_b.ts"]),
        ("src", ["src/a.py", "src/x/b"], ["srcs/a"]),
        ("/README.md", ["README.md"], ["x/README.md"]),
        ("!odd.txt", ["!odd.txt"], ["even.txt"]),
        ("#1.txt", ["#1.txt"], ["1.txt"]),
        ("[ab].c", ["a.c", "x/b.c"], ["c.c"]),
    ],
)
def test_patterns(pattern: str, fits: list[str], fits_not: list[str]) -> None:
    expression = compiled(pattern)
    assert expression is not None
    assert [p for p in fits if not expression.search(p)] == []
    assert [p for p in fits_not if expression.search(p)] == []


def test_an_absolute_pattern_is_judged_by_its_folder() -> None:
    assert split("/etc/ssl/**/*.pem") == ("/etc/ssl", "**/*.pem")
    assert split("/*.txt") == ("/", "*.txt")
    assert split("src/*.py") == ("", "src/*.py")


async def test_what_glob_touches_is_the_folder_it_looks_into(bench: Workbench) -> None:
    glob = bench.tools["glob"]
    outside = glob.touches(glob.parse({"pattern": "/etc/*.conf"}))
    assert outside.reads == ("/etc",)
    assert glob.touches(glob.parse({"pattern": "*.py", "path": "src"})).reads == ("src",)


async def test_files_come_newest_first_and_bounded(bench: Workbench) -> None:
    for number in range(5):
        place = bench.write(f"src/f{number}.py", "x")
        os.utime(place, (1_000 + number, 1_000 + number))
    found = await bench.call("glob", pattern="*.py", limit=2)
    assert found.text == "src/f4.py\nsrc/f3.py\n[the newest 2 of 5 files]"
    assert (await bench.call("glob", pattern="*.rs")).text == "No file fits."
    nowhere = await bench.call("glob", pattern="*.py", path="lib")
    assert nowhere.is_error
    up = await bench.call("glob", pattern="../*.py")
    assert up.is_error


async def test_what_is_ignored_is_listed_when_asked_for(bench: Workbench) -> None:
    subprocess.run(["git", "init", "-q", str(bench.workspace)], check=True)
    bench.write(".gitignore", "dist/\n")
    bench.write("dist/a.js", "needle\n")
    assert (await bench.call("glob", pattern="*.js")).text == "No file fits."
    assert (await bench.call("glob", pattern="*.js", include_ignored=True)).text == "dist/a.js"
    assert (await bench.call("glob", pattern="*.js", path="dist")).text == "dist/a.js"
    assert (await bench.call("grep", pattern="needle")).text == "No line matches."
    assert "1:needle" in (await bench.call("grep", pattern="needle", path="dist")).text


ENGINES = [
    pytest.param(None, id="python"),
    pytest.param(
        shutil.which("rg"),
        id="ripgrep",
        marks=pytest.mark.skipif(shutil.which("rg") is None, reason="ripgrep is not installed"),
    ),
]


@pytest.fixture(params=ENGINES)
def searching(
    request: pytest.FixtureRequest, bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> Workbench:
    """A workbench whose grep uses one engine or the other."""
    if request.param is None:
        monkeypatch.setenv("PATH", "")
    bench.tools = bench.tools.with_tool(grep_tool(40_000, ripgrep=request.param))
    return bench


async def test_lines_have_numbers_files_and_surroundings(searching: Workbench) -> None:
    searching.write("b.py", "one\ntwo needle\nthree\n\nfive\nsix Needle\n")
    searching.write("a.py", "needle\r\n")
    searching.write("c.txt", "needle\n")
    found = await searching.call("grep", pattern="n[e]+dle", glob="*.py")
    assert found.text == "a.py\n1:needle\n\nb.py\n2:two needle"
    assert found.brief == "2 lines in 2 files"
    around = await searching.call(
        "grep", pattern="needle", path="b.py", ignore_case=True, context_lines=1
    )
    assert around.text == "b.py\n1-one\n2:two needle\n3-three\n--\n5-five\n6:six Needle"
    names = await searching.call("grep", pattern="needle", output="files")
    assert names.text == "a.py (1)\nb.py (1)\nc.txt (1)"


@pytest.mark.parametrize(
    ("pattern", "options", "lines"),
    [
        (r"^\s*$", {}, ["4:"]),
        (r"a.c", {"literal": True}, ["2:a.c"]),
        (r"a\.c$", {}, ["2:a.c"]),
        (r"(?<=x)y", {}, ["3:xy"]),
        (r"(\w)\1", {}, ["5:hello"]),
        ("ä", {}, ["6:Bär"]),
        ("[", {"literal": True}, ["7:a[0]"]),
    ],
)
async def test_both_engines_find_the_same_lines(
    searching: Workbench, pattern: str, options: dict[str, bool], lines: list[str]
) -> None:
    searching.write("a.txt", "abc\na.c\nxy\n\nhello\nBär\na[0]\n")
    found = await searching.call("grep", pattern=pattern, **options)
    assert found.text.splitlines()[1:] == lines


async def test_binary_and_hidden_and_linked_files(searching: Workbench, tmp_path: Path) -> None:
    searching.write("a.bin", b"needle\0needle\n")
    searching.write(".github/ci.yml", "needle\n")
    searching.write(".git/config", "needle\n")
    (tmp_path / "outside.txt").write_text("needle\n")
    (searching.workspace / "link.txt").symlink_to(tmp_path / "outside.txt")
    found = await searching.call("grep", pattern="needle", output="files")
    assert found.text == ".github/ci.yml (1)"


async def test_bytes_that_are_no_text_do_not_stop_it(searching: Workbench) -> None:
    searching.write("latin.txt", b"caf\xe9 needle\n")
    found = await searching.call("grep", pattern="needle")
    assert found.text == "latin.txt\n1:caf\ufffd needle"


async def test_what_needs_permission_is_named_not_shown(searching: Workbench) -> None:
    place = searching.write(".env", "KEY=needle\n")
    searching.write("a.txt", "needle\n")
    searching.hidden = {str(place)}
    found = await searching.call("grep", pattern="needle")
    assert found.text == (
        "a.txt\n1:needle\n[also in 1 files that need permission to be read: .env]"
    )
    named = await searching.call("grep", pattern="needle", path=".env")
    assert "KEY=needle" in named.text, "the call itself was judged for the file it names"


async def test_results_are_bounded_and_say_so(searching: Workbench) -> None:
    searching.write("many.txt", "needle\n" * 1_000)
    searching.write("more.txt", "needle\n")
    found = await searching.call("grep", pattern="needle", limit=3)
    assert found.text.count(":needle") == 3
    assert "[the first 3 matching lines; there are more" in found.text
    names = await searching.call("grep", pattern="needle", output="files", limit=1)
    assert "[the first 1 files; there are more" in names.text


async def test_a_long_line_is_shown_around_its_match(searching: Workbench) -> None:
    searching.write("min.js", "x" * 5_000 + "needle" + "y" * 5_000 + "\n")
    found = await searching.call("grep", pattern="needle")
    assert "needle" in found.text
    assert len(found.text) < 350


async def test_a_pattern_that_is_none_says_why(searching: Workbench) -> None:
    searching.write("a.txt", "x\n")
    for pattern in ("(", "*a", "[z-a]"):
        found = await searching.call("grep", pattern=pattern)
        assert found.is_error
        assert "is no regular expression" in found.text
    assert (await searching.call("grep", pattern="")).is_error
    assert (await searching.call("grep", pattern="x", path="none")).is_error


async def test_an_expression_that_would_run_for_ever_is_ended(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wayfare.agent.builtin.line_search.SECONDS", 0.3)
    bench.tools = bench.tools.with_tool(grep_tool(40_000, ripgrep=None))
    monkeypatch.setenv("PATH", "")
    bench.write("a.txt", "fine aab\n" + "a" * 60 + "!\n")
    found = await bench.call("grep", pattern=r"(a+)+b")
    assert "what was found by then" in found.text
