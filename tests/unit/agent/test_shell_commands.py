"""Every command in a line of bash, compared with what bash itself runs."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from wayfare.agent.shell_commands import (
    MAX_COMMANDS,
    MAX_DEPTH,
    MAX_LINE_CHARS,
    Command,
    Unparsed,
    commands,
)


def parsed(line: str) -> tuple[Command, ...]:
    found = commands(line)
    assert not isinstance(found, Unparsed), found.reason
    return found


def texts(line: str) -> list[str]:
    return [command.text for command in parsed(line) if command.words]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("", []),
        ("  # only a comment", []),
        ("a", ["a"]),
        ("a; b && c || d & e", ["a", "b", "c", "d", "e"]),
        ("a | b |& c", ["a", "b", "c"]),
        ("(a; (b)); { c; }", ["a", "b", "c"]),
        ("a $(b $(c)) `d`", ["c", "b $(c)", "d", "a $(b $(c)) `d`"]),
        ("a `b \\`c\\``", ["c", "b `c`", "a `b \\`c\\``"]),
        ('a "x $(b) y"', ["b", "a x $(b) y"]),
        ("a <(b) >(c)", ["b", "c", "a /dev/fd/63 /dev/fd/63"]),
        ("a <<E\n$(b)\nE\nc", ["b", "a", "c"]),
        ("a <<'E'\n$(b)\nE\nc", ["a", "c"]),
        ("a <<-E\n\tx $(b)\n\tE\nc", ["b", "a", "c"]),
        ("a - <<'E'\n$(b)\nE", ["a -"]),
        ("a <<E | b && c\nx\nE", ["a", "b", "c"]),
        ("a <<< $(b)", ["b", "a"]),
        ("f() { a; }; function g { b; }", ["a", "b"]),
        ("for x in $(a); do b; done", ["a", "b"]),
        ("for ((i=0; i<3; i++)); do a; done", ["a"]),
        ("while a; do b; done; until c; do d; done", ["a", "b", "c", "d"]),
        ("if a; then b; elif c; then d; else e; fi", ["a", "b", "c", "d", "e"]),
        ("case $(a) in x) b;; *) c;; esac", ["a", "b", "c"]),
        ("! a; time b; coproc c", ["a", "b", "c"]),
        ("[[ -n $(a) && -f x ]] || [ $(b) ]", ["a", "b"]),
        ("x=$(a) y=1; declare z=$(b); export w", ["a", "b", "declare 'z=$(b)'", "export w"]),
        ("x=(1 $(a)); echo ${x[0]:-$(b)}", ["a", "b", "echo ${x[0]:-$(b)}"]),
        ("a > b c d", ["a c d"]),
        ("a 'b c' \"d\" e\\ f", ["a 'b c' d 'e f'"]),
        ("a ''", ["a ''"]),
        ("a $'b\\nc'", ["a 'b\nc'"]),
        ('a ~/x $HOME/y "$HOME"/z', ["a ~/x ~/y ~/z"]),
        ("a 价格 'é'", ["a 价格 é"]),
    ],
)
def test_every_command_is_found(line: str, expected: list[str]) -> None:
    assert texts(line) == expected


@pytest.mark.parametrize(
    ("line", "wrappers", "inner"),
    [
        ("sudo -n -u root rm x", ("sudo",), "rm x"),
        ("env -i A=1 -- nice -n 5 nohup rm x", ("env",), "-- nice -n 5 nohup rm x"),
        ("env -i A=1 nice -n 5 nohup rm x", ("env", "nice", "nohup"), "rm x"),
        ("timeout --signal=9 -k 1 5 rm x", ("timeout",), "rm x"),
        ("time -p stdbuf -o0 rm x", ("time", "stdbuf"), "rm x"),
        ("command -p builtin exec -a y rm x", ("command", "builtin", "exec"), "rm x"),
        ("bash --norc -euo pipefail -c 'rm x'", ("bash",), "rm x"),
        ("sh -lc 'sudo rm x'", ("sh", "sudo"), "rm x"),
        ("eval rm x", ("eval",), "rm x"),
        ("xargs -n1 -P 4 rm x", ("xargs",), "rm x …"),
        ("xargs", ("xargs",), "echo …"),
        ("xargs -I% rm x/%", ("xargs",), "rm x/%"),
        ("ssh -p 22 host 'rm x'", ("ssh",), "rm x"),
        ("su - someone -c 'rm x'", ("su",), "rm x"),
        ("trap 'rm x' EXIT", ("trap",), "rm x"),
        ("watch -n 5 rm x", ("watch",), "rm x"),
        ("/usr/bin/env /bin/rm x", ("env",), "/bin/rm x"),
        ("bash <<'E'\nrm x\nE", ("bash",), "rm x"),
        ("bash <<< 'rm x'", ("bash",), "rm x"),
    ],
)
def test_wrappers_are_taken_off(line: str, wrappers: tuple[str, ...], inner: str) -> None:
    last = parsed(line)[-1]
    assert (last.wrappers, last.text) == (wrappers, inner)
    assert not last.dynamic


def test_find_is_judged_with_and_without_what_it_runs() -> None:
    found = parsed("find src -type f -exec a {} \\; -o -exec b {} +")
    assert [c.text for c in found] == ["find src -type f -o", "a {}", "b {}"]
    assert found[1].words[1].below
    assert found[1].words[1].stem == "src/"


def test_a_wrapper_outside_the_system_folders_is_an_ordinary_program() -> None:
    (only,) = parsed("./env rm x")
    assert (only.text, only.wrappers) == ("./env rm x", ())


@pytest.mark.parametrize("line", ["sudo a", "ssh h a", "doas a", "env sudo a", "sudo bash -c a"])
def test_more_rights_are_noted(line: str) -> None:
    assert parsed(line)[-1].elevated


@pytest.mark.parametrize(
    "line",
    [
        "$CMD x",
        "${CMD} x",
        '"$(which rm)" x',
        "`which rm` x",
        "\\rm x",
        "r''m x",
        "'r'm x",
        "$'rm' x",
        "r? x",
        "~someone/bin/x",
        "alias x=y",
        "echo x | bash",
        "bash -c $CODE",
        'bash -c "$CODE"',
        "bash -i",
        "bash --rcfile x",
        "zsh -c ls",
        "eval $X",
        "env -S 'rm x'",
        "env $X",
        "sudo -i",
        "sudo --chdir=/x ls",
        "xargs $X",
        "xargs -I{} sh -c 'a {}'",
        "timeout $T rm x",
        "parallel rm ::: x",
        "ssh -o ProxyCommand=x host ls",
        "ssh $HOST ls",
        "find . -exec",
        "runuser -u x y",
        "time X=1 $Y",
        "f() { ls; }; f",
        "ls() { a; }; env ls",
        "trap $X EXIT",
        "trap 'cd ..' DEBUG",
    ],
)
def test_what_runs_unseen_is_dynamic(line: str) -> None:
    assert any(command.dynamic for command in parsed(line))


@pytest.mark.parametrize(
    "line",
    [
        "echo 'unclosed",
        "r[m] x",
        "a <<E\nx",
        "if a; then",
        "a )",
        "{rm,-rf,x}",
        "! for x in 1; do a; done",
        "[[x == y ]]",
        "a\x07b",
        "a\rb",
        "a\u00a0b",
        "a \n\\\nb",
        "ec\\\nho a",
        'a "x$ $(b)"',
        'a "${x:-\'$(b)\'}"',
        "a ${x@P}",
        "a ${!x}",
        "x='b[$(c)]'; a $((x))",
        "for x in 'b[$(c)]'; do a $((x + 1)); done",
        "read x < f; a $((x))",
        "a $(($1))",
        "[[ 'b[$(c)]' -eq 1 ]]",
        "[[ -v b[$x] ]]",
        "declare -i x=y",
        "declare -n x=y",
        "unset 'a[$(b)]'",
        "a <<E\n`b\nE",
        "a <<E\nx\nE y\nE",
        "a <<'E'b\nx\nE",
        "a -r<<E\nx\nE",
        "a $\"b\"c",
        "2x=1 é=2 a",
        "x" * (MAX_LINE_CHARS + 1),
        "a;" * (MAX_COMMANDS + 1),
    ],
)  # fmt: skip
def test_what_bash_may_read_otherwise_is_not_parsed(line: str) -> None:
    found = commands(line)
    if isinstance(found, tuple):
        assert line == "2x=1 é=2 a"
        assert found[0].dynamic
    else:
        assert found.reason


def test_shells_in_shells_end_somewhere() -> None:
    line = "rm x"
    for _ in range(MAX_DEPTH + 2):
        line = "eval " + "'" + line.replace("'", "'\\''") + "'"
    assert isinstance(commands(line), Unparsed)


def test_deep_nesting_is_refused_not_a_crash() -> None:
    assert isinstance(commands("(" * 5_000 + "a" + ")" * 5_000), Unparsed)
    assert isinstance(commands("$(" * 3_000 + "a" + ")" * 3_000), Unparsed)


@pytest.mark.parametrize(
    ("line", "written", "read"),
    [
        ("a > f", ["f"], []),
        ("a >> f 2> g < h", ["f", "g"], ["h"]),
        ("a &> f", ["f"], []),
        ("a >| f 2>&1 >&-", ["f"], []),
        ("a >& f", ["f"], []),
        ("> f", ["f"], []),
        ("{ a; b; } > f", ["f"], []),
        ("while a; do b; done < f", [], ["f"]),
        ("f() { a; } > g", ["g"], []),
        ("x=$(< f)", [], ["f"]),
        ("exec > f", ["f"], []),
        ("sudo a > f", ["f"], []),
        ("bash -c 'a > f' > g", ["g", "f"], []),
        ("a > $X", ["$X"], []),
        ("for x in f g; do a > \"$x\"; done", ["f", "g"], []),
    ],
)  # fmt: skip
def test_redirections_are_found(line: str, written: list[str], read: list[str]) -> None:
    found = [r for command in parsed(line) for r in command.redirects]
    assert [r.path.text for r in found if r.write] == written
    assert [r.path.text for r in found if not r.write] == read


@pytest.mark.parametrize(
    ("line", "places"),
    [
        ("a", {""}),
        ("cd x && a", {"x"}),
        ("cd x; a", {"", "x"}),
        ("cd x || a", {"", "x"}),
        ("cd x && cd y && a", {"x/y"}),
        ("(cd x); a", {""}),
        ("(cd x && a)", {"x"}),
        ("cd x | b; a", {""}),
        ("bash -c 'cd x'; a", {""}),
        ("bash -c 'cd x && a'", {"x"}),
        ("eval 'cd x' && a", {"x"}),
        ("builtin cd x && a", {"x"}),
        ("env -C x a", {"x"}),
        ("cd && a", {"~"}),
        ("cd - && a", {"…"}),
        ("cd $X && a", {"$X"}),
        ("pushd x; a", {"", "…"}),
        ("f() { cd x; }; f; a", {"", "…"}),
        ("while b; do cd x; done; a", {"", "…", "x", "…/x"}),
        ("cd x && b > f; a", {"", "x"}),
    ],
)
def test_where_a_command_may_run(line: str, places: set[str]) -> None:
    last = parsed(line)[-1]
    assert last.text == "a"
    assert {"/".join(word.text for word in chain) for chain in last.places} == places


def test_a_redirection_behind_a_list_is_written_after_the_cd() -> None:
    (written,) = [c for c in parsed("cd x && a > f") if c.redirects]
    assert ("x",) in {tuple(w.text for w in chain) for chain in written.places}


@pytest.mark.parametrize(
    ("line", "arguments"),
    [
        ("for f in a b; do c $f; done", ["a", "b"]),
        ('for f in src/*.py; do c "$f"; done', ["src/*.py"]),
        ("f=a; c $f", ["a"]),
        ("f=a; f=b; c $f", ["a", "b"]),
        ("f='a b'; c $f", ["$f"]),
        ("f=a; read f; c $f", ["$f"]),
        ("f=$(x); c $f", ["$f"]),
        ("f=a; f+=b; c $f", ["$f"]),
        ("IFS=,; f=a,b; c $f", ["$f"]),
        ("F=a; c $F", ["$F"]),
        ("c $f", ["$f"]),
        ("f=a; c $f.txt", ["$f.txt"]),
    ],
)
def test_variables_the_line_sets_are_filled_in(line: str, arguments: list[str]) -> None:
    assert [word.text for word in parsed(line)[-1].words[1:]] == arguments


def test_variables_that_feed_a_command_are_noted() -> None:
    assert parsed('cat <<< "$TOKEN"')[-1].fed_by == ("TOKEN",)
    assert parsed("cat <<E\n${KEY}\nE")[-1].fed_by == ("KEY",)
    assert parsed("cat <<'E'\n${KEY}\nE")[-1].fed_by == ()


# Below, bash itself is asked. It finds no program at all, so that each command it runs ends in its
# own function for unknown commands, which writes down name and arguments.
_NOTE = '() { printf "%s\\0" "$#" "$@" >> "$LOG.$BASHPID"; }'
_LIMIT_SECONDS = 5


def bash_runs(line: str, folder: Path) -> list[list[str]]:
    """Name and arguments of every command that bash ran for the line."""
    log = folder / "log"
    environment = {
        "PATH": "/nonexistent",
        "LOG": str(log),
        "LC_ALL": "C.UTF-8",
        "BASH_FUNC_command_not_found_handle%%": _NOTE,
    }
    process = subprocess.Popen(
        ["/bin/bash", "-c", f"ulimit -t 1 -f 100; cd {folder}/in || exit\n{line}"],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_LIMIT_SECONDS)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    ran: list[list[str]] = []
    for file in folder.glob("log.*"):
        parts = file.read_bytes().decode("utf-8", "surrogateescape").split("\0")[:-1]
        file.unlink()
        while parts and parts[0].isdigit():
            count = int(parts[0])
            ran.append(parts[1 : count + 1])
            parts = parts[count + 1 :]
    return ran


def explains(found: Sequence[Command], argv: list[str]) -> bool:
    """True when what bash ran is among the commands, or one of them may be anything."""
    for command in found:
        if command.dynamic:
            return True
        if not command.words or command.words[0].text != argv[0]:
            continue
        words = command.words
        exact = all(w.literal and not w.variables and "/dev/fd" not in w.text for w in words)
        if not exact or [w.text for w in words] == argv:
            return True
    return False


_PIECES = st.sampled_from(
    (
        *("a", "b", "c d", " ", " ", "\n", ";", "&&", "||", "|", "&", "(", ")", "{ ", "; }"),
        *("$(", "`", "'", '"', "\\", "\\\n", "#", " #", "<<E\n", "\nE\n", "<<'E'\n", "<<-E\n"),
        *("\n\tE\n", ">f", "<f", "2>&1", "<<<", "<(", "x=", "x=1 ", "$x", "${x:-", "}", "$((1"),
        *("))", "[[ ", " ]]", "if ", "; then ", "; fi", "for x in ", "; do ", "; done", ";; esac"),
        *("case x in x) ", "f() ", "! ", "$'", "*", "~", "{a,b}", "é", "=", "\t", "$", "eval "),
        *("export ", "-r", " - "),
    )
)
_LINES = [
    "a x | b 'y z' && c",
    "a <<E\nfoo $(b)\nE\nc",
    "a <<-'E'\n\tfoo $(b)\n\tE\nc",
    "a <<E && b\nx\nE\nc",
    "for x in 1 2; do a $x; done; b",
    "if a; then b; else c; fi",
    'a "$(b "$(c)")" `a x`',
    "f() { a; }; f; b",
    "{ a; b; } > f 2>&1; c",
    "(a; b) & c",
    "case x in x) a;; *) b;; esac; c",
    "x=1 a; x=2; b $x",
    "a \\\n b\nc # d\na",
    "a 'x' \"y\" $'z\\n' ; b",
    "a ${x:-$(b)} $((1+1)); c",
    "[[ x == y ]] || a; b",
    "a <(b) >(c)",
    "a<<<\"x $(b)\"; c",
    "! a && b || c",
    "a -n - <<E\ny\nE\nb",
    "a 2>&1 >f <f b",
    "eval 'a \"x y\"'; trap b EXIT",
]  # fmt: skip


@st.composite
def lines(draw: st.DrawFn) -> str:
    """A line of bash, whole or with pieces put in and cut out."""
    text = draw(st.one_of(st.sampled_from(_LINES), st.lists(_PIECES, max_size=10).map("".join)))
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(text)))
        cut = draw(st.integers(0, 2))
        text = text[:at] + draw(_PIECES) + text[at + cut :]
    return text


@given(lines())
@example('a "x$ $(b)"')
@example("a \n\\\nb")
@example("é=1 a")
@example("a x<<E |\nE\nb\nx\nE")
@example("! for x in 1; do a; done")
@example("a - <<E\nx\nE\nb")
@settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_whatever_bash_runs_was_found(tmp_path: Path, line: str) -> None:
    found = commands(line)
    if isinstance(found, Unparsed):
        return
    (tmp_path / "in").mkdir(exist_ok=True)
    for argv in bash_runs(line, tmp_path):
        assert explains(found, argv), (argv, [c.text for c in found])


def test_ordinary_lines_are_read_not_refused(tmp_path: Path) -> None:
    """Refusing everything would be safe and useless: whole lines are read, and bash agrees."""
    (tmp_path / "in").mkdir()
    for line in _LINES:
        found = parsed(line)
        ran = bash_runs(line, tmp_path)
        assert ran
        assert all(explains(found, argv) for argv in ran), line


@pytest.mark.parametrize("seed", range(3))
def test_random_bytes_never_raise(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(300):
        size = chance.randint(0, 40)
        line = bytes(chance.randrange(256) for _ in range(size)).decode("utf-8", "surrogateescape")
        commands(line)
