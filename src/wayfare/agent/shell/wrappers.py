"""Commands that run other commands: what they run, so that it can be judged instead of them.

A wrapper is taken apart only as far as its options are known here. Anything else about it (an
unlisted option, a word known only at run time) makes the whole command `Opaque`: it never matches
an allow rule and is asked about.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from wayfare.agent.shell.values import Word, plain, program, unknown

_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Runs:
    """The wrapper runs these words as a command.

    Attributes:
        words: Name and arguments of what is run; empty when the wrapper runs nothing.
        assigned: Environment variables set for it.
        elevated: It runs with more rights, or on another machine.
        in_shell: It runs in the calling shell itself, so that `cd` has an effect.
        directory: The folder it is run in, when the wrapper changes it.
        itself: The wrapper's own words without what it runs, when they must be judged too.
    """

    words: tuple[Word, ...]
    assigned: tuple[tuple[str, Word], ...] = ()
    elevated: bool = False
    in_shell: bool = False
    directory: Word | None = None
    itself: tuple[Word, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsAll:
    """The wrapper runs several commands."""

    parts: tuple[Runs, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsCode:
    """The wrapper hands this text to a shell."""

    code: str
    elevated: bool = False
    in_shell: bool = False
    itself: tuple[Word, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Opaque:
    """What the wrapper runs cannot be told."""

    elevated: bool = False


Unwrapped: TypeAlias = Runs | RunsAll | RunsCode | Opaque


@dataclass(frozen=True, slots=True, kw_only=True)
class _Spec:
    """How a wrapper's own words end: letters without and with a value, long options the same."""

    flags: str = ""
    valued: str = ""
    long: tuple[str, ...] = ()
    long_valued: tuple[str, ...] = ()
    operands: int = 0
    assignments: bool = False
    elevated: bool = False
    in_shell: bool = False
    directory: tuple[str, ...] = ()
    number_options: bool = False


_SPECS: dict[str, _Spec] = {
    "env": _Spec(
        flags="i0v",
        valued="uC",
        long=("ignore-environment", "null", "debug"),
        long_valued=("unset", "chdir"),
        assignments=True,
        directory=("C", "chdir"),
    ),
    "nohup": _Spec(),
    "setsid": _Spec(flags="cfw", long=("ctty", "fork", "wait")),
    "time": _Spec(flags="pv", long=("portability", "verbose"), assignments=True, in_shell=True),
    "timeout": _Spec(
        flags="v",
        valued="ks",
        long=("foreground", "preserve-status", "verbose"),
        long_valued=("kill-after", "signal"),
        operands=1,
    ),
    "nice": _Spec(valued="n", long_valued=("adjustment",), number_options=True),
    "ionice": _Spec(flags="t", valued="cn", long=("ignore",), long_valued=("class", "classdata")),
    "chrt": _Spec(flags="bfior", operands=1),
    "taskset": _Spec(flags="ac", operands=1),
    "stdbuf": _Spec(valued="ioe", long_valued=("input", "output", "error")),
    "unbuffer": _Spec(),
    "caffeinate": _Spec(flags="disu"),
    "busybox": _Spec(),
    "toybox": _Spec(),
    "builtin": _Spec(in_shell=True),
    "exec": _Spec(flags="cl", valued="a", in_shell=True),
    "command": _Spec(flags="p", in_shell=True),
    "coproc": _Spec(assignments=True),
    "sudo": _Spec(
        flags="AbEHknPSN",
        valued="ugp",
        long=("preserve-env", "set-home", "non-interactive", "stdin", "background"),
        long_valued=("user", "group", "prompt"),
        assignments=True,
        elevated=True,
    ),
    "doas": _Spec(flags="n", valued="u", elevated=True),
    "pkexec": _Spec(long_valued=("user",), elevated=True),
    "chroot": _Spec(operands=1, elevated=True),
    "fakeroot": _Spec(elevated=True),
}
_SHELLS = frozenset({"bash", "sh", "dash", "ksh", "ash"})
_OTHER_SHELLS = frozenset(
    {"zsh", "fish", "csh", "tcsh", "pwsh", "powershell", "nu", "xonsh", "elvish", "rbash"}
)
_ALWAYS_OPAQUE = frozenset(
    {"parallel", "sudoedit", "alias", "enable", "unshare", "nsenter", "systemd-run", "gdb"}
)


def unwrap(words: Sequence[Word], stdin_code: str | None) -> Unwrapped | None:
    """What a command runs, or None when it is no wrapper.

    Args:
        words: Name and arguments; the name must be literal.
        stdin_code: The text of a here-document without expansions, when one feeds the command.
    """
    name = program(words[0])
    if name in _ALWAYS_OPAQUE or name in _OTHER_SHELLS:
        return Opaque()
    if name in _SHELLS:
        return _shell(words[1:], stdin_code)
    own = _OWN_WAYS.get(name)
    if own is not None:
        return own(words)
    spec = _SPECS.get(name)
    if spec is None:
        return None
    if name == "command" and any(w.text in ("-v", "-V", "-pv", "-pV") for w in words[1:2]):
        return None
    return _strip(words[1:], spec)


def _strip(words: Sequence[Word], spec: _Spec) -> Runs | Opaque:
    rest = list(words)
    directory: Word | None = None
    while rest and rest[0].may_be_option:
        option = rest.pop(0)
        if not option.literal or option.text == "-":
            return Opaque(elevated=spec.elevated)
        if option.text == "--":
            break
        taken = _option(option.text, rest, spec)
        if taken is None:
            return Opaque(elevated=spec.elevated)
        name, value = taken
        if name in spec.directory:
            directory = value
    assigned: list[tuple[str, Word]] = []
    while spec.assignments and rest and (match := _ASSIGNMENT.match(rest[0].stem)):
        word = rest.pop(0)
        value_text = word.text[match.end() :]
        value = replace(word, text=value_text, stem=word.stem[match.end() :], tilde=False)
        assigned.append((match[1], value))
    if any(not word.literal for word in rest[: spec.operands]):
        return Opaque(elevated=spec.elevated)
    return Runs(
        words=tuple(rest[spec.operands :]),
        assigned=tuple(assigned),
        elevated=spec.elevated,
        in_shell=spec.in_shell,
        directory=directory,
    )


def _option(text: str, rest: list[Word], spec: _Spec) -> tuple[str, Word | None] | None:
    """Takes one option, and its value off `rest`; None when the option is not known."""
    if text.startswith("--"):
        name, equals, value = text[2:].partition("=")
        if name in spec.long:
            return name, None
        if name not in spec.long_valued:
            return None
        return (name, plain(value)) if equals else _value(name, rest)
    if spec.number_options and re.fullmatch(r"--?\d+|-[+]\d+", text):
        return "number", None
    letters = text[1:]
    for at, letter in enumerate(letters):
        if letter in spec.flags:
            continue
        if letter not in spec.valued:
            return None
        attached = letters[at + 1 :]
        return (letter, plain(attached)) if attached else _value(letter, rest)
    return letters[-1], None


def _value(name: str, rest: list[Word]) -> tuple[str, Word | None] | None:
    if not rest or not rest[0].literal:
        return None
    return name, rest.pop(0)


def _shell(arguments: Sequence[Word], stdin_code: str | None) -> Unwrapped | None:
    """`bash`: the code of `-c`, the code on standard input, or a script (no wrapper: None)."""
    rest = list(arguments)
    code = False
    while rest and rest[0].may_be_option:
        option = rest.pop(0)
        if not option.literal:
            return Opaque()
        if option.text in ("--norc", "--noprofile", "--posix", "--login"):
            continue
        if option.text in ("-o", "-O", "+o", "+O") and rest and rest[0].literal:
            rest.pop(0)
            continue
        if option.text == "--version" and not rest:
            return None
        if not re.fullmatch(r"-[abefhkmnptuvxBCEHPTlc]+", option.text):
            return Opaque()
        code = code or "c" in option.text
    if code:
        if rest and rest[0].literal and not rest[0].tilde:
            return RunsCode(code=rest[0].text)
        return Opaque()
    if rest:
        return None
    return Opaque() if stdin_code is None else RunsCode(code=stdin_code)


def _eval(words: Sequence[Word]) -> Unwrapped:
    rest = [w for w in words[1:] if w.text != "--"]
    if all(word.literal and not word.tilde for word in rest):
        return RunsCode(code=" ".join(word.text for word in rest), in_shell=True)
    return Opaque()


def _trap(words: Sequence[Word]) -> Unwrapped | None:
    rest = [w for w in words[1:] if w.text != "--"]
    if not rest or rest[0].may_be_option or rest[0].text == "":
        return None if all(word.literal for word in rest) else Opaque()
    moves = re.search(r"\b(?:cd|pushd|popd)\b", rest[0].text)
    if not rest[0].literal or moves:
        return Opaque()
    return RunsCode(code=rest[0].text)


def _xargs(words: Sequence[Word]) -> Unwrapped:
    spec = _Spec(
        flags="0rtx",
        valued="dEILnPs",
        long=("null", "no-run-if-empty", "verbose", "exit"),
        long_valued=("delimiter", "max-lines", "max-args", "max-procs", "max-chars", "replace"),
    )
    inner = _strip(words[1:], spec)
    if isinstance(inner, Opaque):
        return inner
    mark = _replace_mark(words[1 : len(words) - len(inner.words)])
    if mark:
        filled = tuple(_filled(w, mark) for w in inner.words)
    else:
        filled = (*inner.words, unknown("…"))
    return replace(inner, words=filled if inner.words else (plain("echo"), unknown("…")))


def _replace_mark(options: Sequence[Word]) -> str:
    texts = [w.text for w in options]
    for at, text in enumerate(texts):
        if text == "-I" and at + 1 < len(texts):
            return texts[at + 1]
        if text.startswith("-I"):
            return text[2:]
        if text.startswith("--replace"):
            return text.partition("=")[2] or "{}"
    return ""


def _filled(word: Word, mark: str) -> Word:
    """The word, known only up to `mark` when it contains it."""
    at = word.text.find(mark)
    if at < 0:
        return word
    return Word(text=word.text, literal=False, stem=word.stem[:at])


def _find(words: Sequence[Word]) -> Unwrapped | None:
    """`find`: itself without its `-exec` clauses, and what each of them runs."""
    kept: list[Word] = []
    parts: list[Runs] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word.text not in ("-exec", "-execdir", "-ok", "-okdir") or not word.literal:
            kept.append(word)
            continue
        end = next((i for i, w in enumerate(rest) if w.literal and w.text in (";", "+")), None)
        if not end:
            return Opaque()
        clause, rest = rest[:end], rest[end + 1 :]
        found = _found(words) if word.text in ("-exec", "-ok") else (unknown("{}"),)
        filled = [f for w in clause for f in (found if w.text == "{}" else (_filled(w, "{}"),))]
        parts.append(Runs(words=tuple(filled)))
    if not parts:
        return None
    return RunsAll(parts=(Runs(words=tuple(kept)), *parts))


def _found(words: Sequence[Word]) -> tuple[Word, ...]:
    """What `{}` can be: a file below one of the roots, as long as links are not followed."""
    roots: list[Word] = []
    for word in words[1:]:
        if word.may_be_option or word.text in ("(", "!"):
            break
        roots.append(word)
    texts = [w.text for w in words]
    plain_files = any(pair == ("-type", "f") for pair in zip(texts, texts[1:], strict=False))
    if not plain_files or {"-L", "-follow"} & set(texts) or not all(r.literal for r in roots):
        return (unknown("{}"),)
    stems = [root.text.rstrip("/") + "/" for root in roots] or ["./"]
    return tuple(Word(text="{}", literal=False, stem=stem, below=True) for stem in stems)


def _ssh(words: Sequence[Word]) -> Unwrapped | None:
    spec = _Spec(flags="46ACTaknqtvxN", valued="pliJ", elevated=True)
    inner = _strip(words[1:], spec)
    if isinstance(inner, Opaque):
        return inner
    host, remote = inner.words[:1], inner.words[1:]
    if not host or not host[0].literal or not all(w.literal for w in remote):
        return Opaque(elevated=True)
    if not remote:
        return None
    return RunsCode(code=" ".join(w.text for w in remote), elevated=True)


def _su(words: Sequence[Word]) -> Unwrapped:
    """`su` and `runuser`: the code of `-c`; every other form opens a shell."""
    texts = [w.text for w in words]
    if all(w.literal for w in words):
        for at, text in enumerate(texts[:-1]):
            if text in ("-c", "-lc", "--command"):
                return RunsCode(code=texts[at + 1], elevated=True)
    return Opaque(elevated=True)


def _watch(words: Sequence[Word]) -> Unwrapped:
    spec = _Spec(flags="bcdegtx", valued="n", long=("differences",), long_valued=("interval",))
    inner = _strip(words[1:], spec)
    if isinstance(inner, Opaque) or not all(w.literal for w in inner.words):
        return Opaque()
    return RunsCode(code=" ".join(w.text for w in inner.words))


def _flock(words: Sequence[Word]) -> Unwrapped:
    spec = _Spec(flags="enosux", valued="wE", operands=1)
    inner = _strip(words[1:], spec)
    if isinstance(inner, Opaque) or not inner.words:
        return Opaque()
    itself = tuple(words[: len(words) - len(inner.words)])
    if inner.words[0].text in ("-c", "--command"):
        code = inner.words[1:2]
        if not code or not code[0].literal:
            return Opaque()
        return RunsCode(code=code[0].text, itself=itself)
    return replace(inner, itself=itself)


_OWN_WAYS: dict[str, Callable[[Sequence[Word]], Unwrapped | None]] = {
    "eval": _eval,
    "trap": _trap,
    "xargs": _xargs,
    "find": _find,
    "ssh": _ssh,
    "su": _su,
    "runuser": _su,
    "watch": _watch,
    "flock": _flock,
}
