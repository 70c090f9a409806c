"""What is typed: slash commands, files, history, lines from a pipe; and questions of permission."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from wayfare.agent.consent import Decided, Question
from wayfare.agent.permissions import weigh
from wayfare.agent.policy import PathUse, Policy, Rule, ToolUse
from wayfare.cli.screen.completion import SessionCompleter, completable
from wayfare.cli.screen.files import WorkspaceFiles, best
from wayfare.cli.screen.history import TypedHistory
from wayfare.cli.screen.line_reader import LineReader
from wayfare.cli.screen.question import always, answer_line, decided, question_lines, rule_text
from wayfare.cli.screen.slash import COMMANDS, read_slash
from wayfare.cli.screen.spans import line_width, text_of


@pytest.mark.parametrize(
    ("line", "name", "argument"),
    [
        ("/compact", "compact", ""),
        ("/compact  the parser ", "compact", "the parser"),
        ("/co the parser", "", ""),
        ("/comp the parser", "compact", "the parser"),
        (" /quit ", "quit", ""),
        ("q", "quit", ""),
        ("exit", "quit", ""),
        ("/nothing", "", ""),
    ],
)
def test_slash_commands_are_read(line: str, name: str, argument: str) -> None:
    typed = read_slash(line)
    assert typed is not None
    assert (typed.name, typed.argument) == (name, argument)
    assert bool(typed.text) == (not name)


@pytest.mark.parametrize(
    "line", ["hello", "/usr/bin is empty", "/ and", "/2", "look at /help", "/help\nmore", "quit it"]
)
def test_other_words_are_for_the_model(line: str) -> None:
    assert read_slash(line) is None


@given(st.text(max_size=40))
def test_any_line_is_a_command_words_or_a_slip_with_a_reason(line: str) -> None:
    typed = read_slash(line)
    if typed is not None:
        assert bool(typed.name) != bool(typed.text)
        assert not typed.name or typed.name in {one.name for one in COMMANDS}


# Files.

PATHS = ("README.md", "src/app/parser.py", "src/app/printer.py", "tests/test_parser.py")


@pytest.mark.parametrize(
    ("words", "first"),
    [
        ("", "README.md"),
        ("pars", "src/app/parser.py"),
        ("test_p", "tests/test_parser.py"),
        ("src/app/pr", "src/app/printer.py"),
        ("app", "src/app/parser.py"),
        ("spp", "src/app/parser.py"),
        ("READ", "README.md"),
        ("read", "README.md"),
    ],
)
def test_the_best_match_comes_first(words: str, first: str) -> None:
    assert best(PATHS, words, 10)[0] == first


def test_what_does_not_match_is_left_out() -> None:
    assert best(PATHS, "zzz", 10) == []
    assert len(best(PATHS, "", 2)) == 2


def test_files_are_those_of_git_with_new_ones_and_without_ignored_ones(tmp_path: Path) -> None:
    git = ["git", "-c", "user.name=n", "-c", "user.email=e", "-C", str(tmp_path)]
    subprocess.run([*git, "init", "-q"], check=True)
    for name in ("kept.py", "new.py", "ignored.log", "with space é.txt"):
        (tmp_path / name).touch()
    (tmp_path / ".gitignore").write_text("*.log\n")
    subprocess.run([*git, "add", "kept.py"], check=True)
    found = set(WorkspaceFiles(tmp_path).paths())
    assert found == {".gitignore", "kept.py", "new.py", "with space é.txt"}


def test_files_are_walked_where_there_is_no_repository(tmp_path: Path) -> None:
    for name in ("a.py", "inner/b.py", "node_modules/c.js", ".hidden/d"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert set(WorkspaceFiles(tmp_path).paths()) == {"a.py", "inner/b.py"}


def completions(text: str, workspace: Path) -> list[str]:
    """What completing at the end of a text gives."""
    completer = SessionCompleter(
        WorkspaceFiles(workspace), {"permissions": lambda: ("ask", "accept-edits")}
    )
    found = completer.get_completions(Document(text), CompleteEvent())
    return [text[: len(text) + one.start_position] + one.text for one in found]


def test_commands_arguments_and_files_complete(tmp_path: Path) -> None:
    (tmp_path / "parser.py").touch()
    assert completions("/comp", tmp_path) == ["/compact"]
    assert len(completions("/", tmp_path)) == len(COMMANDS)
    assert completions("/permissions acc", tmp_path) == ["/permissions accept-edits"]
    assert completions("look at @pars", tmp_path) == ["look at @parser.py"]
    assert completions("mail me@pars", tmp_path) == []
    assert completions("hello", tmp_path) == []


@pytest.mark.parametrize(
    ("text", "able"),
    [("/c", True), ("/model x", True), ("a @b", True), ("@", True), ("a b", False), ("a@b", False)],
)
def test_a_menu_comes_only_where_something_completes(text: str, able: bool) -> None:
    assert completable(Document(text)) is able


# History.


def test_history_keeps_texts_of_several_lines_for_the_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "state" / "typed.jsonl"
    history = TypedHistory(path, 10)
    for text in ("one", "two\nlines", "中文"):
        history.store_string(text)
    assert list(TypedHistory(path, 10).load_history_strings()) == ["中文", "two\nlines", "one"]
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_history_forgets_the_oldest_and_survives_damage(tmp_path: Path) -> None:
    path = tmp_path / "typed.jsonl"
    history = TypedHistory(path, 3)
    for number in range(8):
        history.store_string(f"text {number}")
    assert list(TypedHistory(path, 3).load_history_strings()) == ["text 7", "text 6", "text 5"]
    assert len(path.read_text().splitlines()) == 3
    with path.open("a") as file:
        file.write('"cut by a cra')
    assert next(iter(TypedHistory(path, 3).load_history_strings())) == "text 7"
    path.write_bytes(b"\xff\xfe")
    assert list(TypedHistory(path, 3).load_history_strings()) == []


def test_history_that_cannot_be_written_is_done_without(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    history = TypedHistory(tmp_path / "file" / "typed.jsonl", 3)
    history.store_string("text")
    assert list(history.load_history_strings()) == []


# Lines.


@pytest.mark.parametrize("kind", ["pipe", "file"])
async def test_lines_are_read_from_pipes_and_files(kind: str, tmp_path: Path) -> None:
    content = "one\n中文 two\n\nlast without end".encode()
    if kind == "pipe":
        reading, writing = os.pipe()
        os.write(writing, content)
        os.close(writing)
    else:
        (tmp_path / "lines").write_bytes(content)
        reading = os.open(tmp_path / "lines", os.O_RDONLY)
    reader = LineReader(reading)
    assert [await reader.line() for _ in range(5)] == [
        "one\n", "中文 two\n", "\n", "last without end", "",
    ]  # fmt: skip
    os.close(reading)


# Questions.


def bash(command: str) -> ToolUse:
    """A call of the shell."""
    return ToolUse(name="bash", input={"command": command}, command=command)


@pytest.mark.parametrize(
    ("command", "rules"),
    [
        ("git commit -m 'Add new'", "bash(git commit:*)"),
        ("pytest -q tests", "bash(pytest:*)"),
        ("python -m pytest -q", "bash(python -m pytest:*)"),
        ("python build.py --all", "bash(python build.py:*)"),
        ("python -c 'print(1)'", "bash(python -c 'print(1)')"),
        ("rm -rf build", "bash(rm -rf build)"),
        ("cat a.txt && make test | tee log", "bash(make test:*), bash(tee:*)"),
        ("npm run build; npm test", "bash(npm run:*), bash(npm test:*)"),
        ("sudo make install", ""),
        ("make $(cat target)", ""),
        ("pytest $(cat targets)", "bash(pytest:*)"),
        ("eval $x", ""),
        ('echo "', ""),
    ],
)
def test_always_allows_the_like_and_no_more(command: str, rules: str, tmp_path: Path) -> None:
    assert rule_text(always(bash(command), Policy(workspace=tmp_path))) == rules


@given(st.sampled_from(["git push", "make", "pytest -q", "rm x", "touch a && cp a b"]))
def test_what_always_allows_would_be_allowed(command: str) -> None:
    policy = Policy(workspace=Path("/somewhere"))
    rules = always(bash(command), policy)
    allowed = Policy(workspace=policy.workspace, rules=rules)
    assert not rules or weigh(bash(command), allowed).decision == "allow"
    assert weigh(bash("sudo " + command), allowed).decision != "allow"


def test_a_rule_that_asks_every_time_leaves_no_always(tmp_path: Path) -> None:
    policy = Policy(workspace=tmp_path, rules=(Rule(decision="ask", tool="bash", pattern="make*"),))
    assert always(bash("make test"), policy) == ()


def test_edits_may_be_allowed_in_the_workspace_and_not_outside(tmp_path: Path) -> None:
    def edit(path: str) -> ToolUse:
        return ToolUse(
            name="edit_file", input={"path": path}, paths=(PathUse(path=path, write=True),)
        )

    policy = Policy(workspace=tmp_path)
    assert rule_text(always(edit("a.txt"), policy)) == "edit_file(**)"
    assert always(edit("/etc/passwd"), policy) == ()
    assert always(edit(".transcripts/x"), policy) == ()


@pytest.mark.parametrize("columns", [20, 40, 80, 200])
def test_a_question_fits_and_shows_what_would_happen(columns: int, tmp_path: Path) -> None:
    use = ToolUse(
        name="edit_file",
        input={
            "path": "a.txt",
            "old_string": "one\ntwo",
            "new_string": "\x1b[2Jthree",
            "all": False,
        },
        paths=(PathUse(path="a.txt", write=True),),
    )
    rules = always(use, Policy(workspace=tmp_path))
    lines = question_lines(Question(use=use, reason="a.txt would be written"), rules, columns)
    shown = [text_of(line) for line in lines]
    assert all(line_width(line) <= columns for line in lines)
    assert "  - one" in shown
    assert "  + \ufffd[2Jthree" in shown
    assert not any("\x1b" in line or line.strip() == "all" for line in shown)


def test_a_long_command_is_cut_and_says_so(tmp_path: Path) -> None:
    use = bash("\n".join(f"echo {n}" for n in range(100)))
    lines = question_lines(Question(use=use, reason="it writes"), (), 80)
    assert len(lines) < 20
    assert any("88 more lines" in text_of(line) for line in lines)


def test_only_three_letters_answer() -> None:
    rules = (Rule(decision="allow", tool="bash", pattern="make:*", source="session"),)
    question = Question(use=bash("make"), reason="it writes")
    yes, no, every = (decided(key, rules) for key in "yna")
    assert yes == Decided(allow=True)
    assert no == Decided(allow=False)
    assert every == Decided(allow=True, rules=rules)
    assert yes is not None
    assert every is not None
    assert decided("a", ()) is None
    assert all(decided(key, rules) is None for key in ("", "x", " ", "\r", "j"))
    assert answer_line(question, yes, 80) is None
    line = answer_line(question, every, 80)
    assert line is not None
    assert text_of(line) == "· allowed in this session: bash(make:*)"
