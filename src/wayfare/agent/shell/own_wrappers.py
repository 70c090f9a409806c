"""Wrappers with ways of their own: shells, `eval`, `xargs`, `find -exec`, `ssh` and a few more."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from wayfare.agent.shell.unwrapping import (
    Opaque,
    Runs,
    RunsAll,
    RunsCode,
    Unwrapped,
    WrapperSpec,
    strip,
)
from wayfare.agent.shell.values import Word, plain, unknown


def shell_code(arguments: Sequence[Word], stdin_code: str | None) -> Unwrapped | None:
    """`bash`: the code of `-c`, the code on standard input, or a script (no wrapper: None)."""
    rest = list(arguments)
    code = False
    while rest and rest[0].may_be_option:
        option = rest.pop(0)
        if not option.literal:
            return Opaque()
        if option.text in ("--norc", "--noprofile", "--posix", "--login"):
            continue
        text = option.text
        if re.fullmatch(r"-[a-zA-Z]*[oO]|\+[oO]", text) and rest and rest[0].literal:
            rest.pop(0)
            text = text[:-1]
            if text in ("-", "+"):
                continue
        if option.text == "--version" and not rest:
            return None
        if not re.fullmatch(r"-[abefhkmnptuvxBCEHPTlc]+", text):
            return Opaque()
        code = code or "c" in text
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
    spec = WrapperSpec(
        flags="0rtx",
        valued="dEILnPs",
        long=("null", "no-run-if-empty", "verbose", "exit"),
        long_valued=("delimiter", "max-lines", "max-args", "max-procs", "max-chars", "replace"),
    )
    inner = strip(words[1:], spec)
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
    spec = WrapperSpec(flags="46ACTaknqtvxN", valued="pliJ", elevated=True)
    inner = strip(words[1:], spec)
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
    spec = WrapperSpec(
        flags="bcdegtx", valued="n", long=("differences",), long_valued=("interval",)
    )
    inner = strip(words[1:], spec)
    if isinstance(inner, Opaque) or not all(w.literal for w in inner.words):
        return Opaque()
    return RunsCode(code=" ".join(w.text for w in inner.words))


def _flock(words: Sequence[Word]) -> Unwrapped:
    spec = WrapperSpec(flags="enosux", valued="wE", operands=1)
    inner = strip(words[1:], spec)
    if isinstance(inner, Opaque) or not inner.words:
        return Opaque()
    itself = tuple(words[: len(words) - len(inner.words)])
    if inner.words[0].text in ("-c", "--command"):
        code = inner.words[1:2]
        if not code or not code[0].literal:
            return Opaque()
        return RunsCode(code=code[0].text, itself=itself)
    return replace(inner, itself=itself)


OWN_WAYS: dict[str, Callable[[Sequence[Word]], Unwrapped | None]] = {
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
