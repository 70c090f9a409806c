"""Files that commands known by name write, as far as their words tell."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from wayfare.agent.shell.values import Command, Word

How: TypeAlias = Literal["read", "write", "tree", "mention"]
"""`tree`: everything below is touched as well. `mention`: the program may do anything with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Touch:
    """A word that names a file, and what is done to it."""

    word: Word
    how: How


_TREE = frozenset({"rm", "rmdir", "mv", "unlink", "shred"})
_RIGHTS = frozenset({"chmod", "chown", "chgrp", "chattr"})
_HERE = Word(text=".", stem=".")
_EACH = frozenset({"touch", "mkdir", "tee", "mkfifo", "mknod", "truncate", "ln", "link", "patch"})
_LAST = frozenset({"cp", "install", "rsync", "scp"})
_PLAIN_EDITS = {
    "mkdir": re.compile(r"-[pv]+|--parents|--verbose"),
    "touch": re.compile(r"-[acm]+"),
    "tee": re.compile(r"-a|--append"),
    "cp": re.compile(r"-[pvfniu]+"),
    "mv": re.compile(r"-[vfniu]+"),
}


def touches(command: Command) -> tuple[Touch, ...]:
    """Every file the arguments of a command can name; options count as far as they hold a path."""
    name, arguments = command.name, command.words[1:]
    operands = [w for w in arguments if not w.text.startswith("-")]
    found = [
        Touch(word=_path_in(w), how="mention")
        for w in arguments
        if w.text.startswith("-") and ("/" in w.text or "=" in w.text)
    ]
    if name in _TREE:
        found += [Touch(word=w, how="tree") for w in operands]
        if name == "mv" and operands:
            found += [Touch(word=w, how="write") for w in _copied(operands)]
    elif name in _LAST and any(re.match(r"-\w*t|--target", w.text) for w in arguments):
        found += [Touch(word=w, how="write") for w in operands]
    elif name in _RIGHTS:
        below = any(re.match(r"-\w*R|--recursive", w.text) for w in arguments)
        found += [Touch(word=w, how="tree" if below else "write") for w in operands[1:]]
    elif name == "git" and _removes_ignored_files(arguments):
        found.append(Touch(word=_HERE, how="tree"))
    elif name in _EACH or (name == "sed" and _edits_in_place(arguments)):
        found += [Touch(word=w, how="write") for w in operands]
    elif name in _LAST and operands:
        found += [Touch(word=w, how="read") for w in operands[:-1]]
        found += [Touch(word=w, how="write") for w in _copied(operands)]
    elif name == "find" and any(w.text == "-delete" for w in arguments):
        how: How = "tree" if _may_delete_records(arguments) else "mention"
        found += [Touch(word=w, how=how) for w in operands[:1]]
    elif name == "dd":
        found += [
            Touch(word=_path_in(w), how="write" if w.text.startswith("of=") else "read")
            for w in operands
        ]
    else:
        found += [Touch(word=w, how="mention") for w in operands]
    return tuple(found)


def is_plain_edit(command: Command) -> bool:
    """Making, copying and moving single files, with every path known: what an edit mode covers."""
    options = _PLAIN_EDITS.get(command.name)
    if options is None or command.dynamic or command.elevated or command.assignments:
        return False
    words = command.words[1:]
    return all(w.literal and (w.text[:1] != "-" or options.fullmatch(w.text)) for w in words)


def _may_delete_records(arguments: Sequence[Word]) -> bool:
    """False when `find -delete` is held to names that no record, transcript or result has."""
    texts = [w.text for w in arguments]
    names = [b for a, b in zip(texts, texts[1:], strict=False) if a in ("-name", "-iname")]
    if not names or {"-o", "-or"} & set(texts):
        return True
    return any(re.search(r"[*?\]]$|\.(?:md|jsonl|tsv|txt|json)$", name) for name in names)


def _removes_ignored_files(arguments: Sequence[Word]) -> bool:
    """`git clean -x` and `git stash --all`: what is ignored includes transcripts and journals."""
    texts = [w.text for w in arguments]
    if "clean" in texts:
        removes = any(re.match(r"-\w*[xX]", t) for t in texts)
        return removes and not any(re.match(r"-\w*[ne]|--dry-run|--exclude", t) for t in texts)
    return "stash" in texts and any(re.match(r"-a|--all", t) for t in texts)


def _edits_in_place(arguments: Sequence[Word]) -> bool:
    return any(re.match(r"-[nErsuz]*i|--in-place", w.text) for w in arguments)


def _copied(operands: Sequence[Word]) -> list[Word]:
    """The target, and what each source would be called inside it when it is a folder."""
    target = operands[-1]
    inside: list[Word] = []
    if target.literal:
        for source in operands[:-1]:
            name = source.text.rstrip("/").rpartition("/")[2]
            path = f"{target.text.rstrip('/')}/{name}"
            inside.append(Word(text=path, literal=source.literal, stem=path, tilde=target.tilde))
    return [target, *inside]


def _path_in(word: Word) -> Word:
    """The path inside `--file=x`, `-I/x` or `of=x`."""
    at = word.text.find("=") + 1
    if at == 0:
        at = min((i for i in (word.text.find("/"), word.text.find("~")) if i > 0), default=0)
    text = word.text[at:]
    if not word.literal:
        return Word(text=text, literal=False, stem=word.stem[at:])
    return Word(text=text, stem=text, tilde=text.startswith("~"))
