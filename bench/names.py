"""What counts as a file name, an identifier, and text to be replaced.

File names are runs of `[A-Za-z0-9_.-]` that end in a source or text suffix; identifiers are words
of at least 6 characters with an inner capital or underscore; text to be replaced is what an edit
call says it wants gone (`old_string` and its like, the removed and context lines of a patch).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from bench.wire import Call, is_array, is_object

SUFFIX_LIST = (
    "py pyi ipynb pyx js jsx mjs cjs ts tsx mts cts vue svelte go rs java kt kts scala groovy swift "
    "c h cc cpp cxx hh hpp hxx m mm cs fs vb rb php pl pm lua r jl dart ex exs erl hs ml clj cljs "
    "el zig nim sol sh bash zsh fish ps1 bat cmd sql graphql gql proto thrift tf hcl nix cmake mk "
    "gradle html htm xhtml css scss sass less xml svg json jsonl json5 ndjson yaml yml toml ini "
    "cfg conf env properties lock md mdx markdown rst adoc txt text tex csv tsv log diff patch "
    "j2 tmpl tpl ejs hbs"
)
SUFFIXES = frozenset(SUFFIX_LIST.split())
RUN = re.compile(r"[A-Za-z0-9_.-]+")
WORD = re.compile(r"[A-Za-z0-9_]{6,}")
INNER = re.compile(r"(?<=[A-Za-z0-9])_+(?=[A-Za-z0-9])|(?<=[a-z0-9])[A-Z]|(?<=[A-Z])[A-Z](?=[a-z])")
OLD_TEXT_KEYS = ("old_string", "old_str", "oldText", "old_text", "oldString")
# What reading tools and `nl`, `cat -n`, `grep -n` put in front of a line.
LINE_NUMBER = re.compile(r"^[ \t]*\d+[→\t:|]", re.MULTILINE)


def file_names(text: str) -> set[str]:
    """The file names in a text, without their folders."""
    return files_of(RUN.findall(text))


def files_of(runs: Iterable[str]) -> set[str]:
    """Those of the runs that are file names (a full stop behind one is punctuation)."""
    found: set[str] = set()
    for run in runs:
        name = run.rstrip(".-") if run[-1] in ".-" else run
        stem, dot, suffix = name.rpartition(".")
        if dot and stem.strip(".-") and suffix in SUFFIXES:
            found.add(name)
    return found


def identifiers(text: str) -> set[str]:
    """The identifiers in a text: `parse_date`, `parseDate`, `ParseDate`, `MAX_SIZE`."""
    return {word for word in WORD.findall(text) if INNER.search(word) and not word.isdigit()}


def plain_lines(text: str) -> str:
    """A text without the line numbers that reading tools put in front of each line."""
    return LINE_NUMBER.sub("", text)


def replaced_texts(call: Call) -> list[str]:
    """What an edit call wants to replace; empty for other calls.

    Knows `old_string` and its spellings, lists of edits that carry them, and patches in the
    `*** Begin Patch` form, given as arguments of a patch tool or inside a shell command: there
    each hunk gives the block of its removed and context lines.
    """
    found: list[str] = []
    for key, value in _fields(call.arguments):
        if key in OLD_TEXT_KEYS:
            found.append(value)
        elif "*** Begin Patch" in value:
            found.extend(patch_blocks(value))
    if isinstance(call.arguments, str) and "*** Begin Patch" in call.arguments:
        found.extend(patch_blocks(call.arguments))
    return [text for text in found if text.strip()]


def _fields(value: Any) -> Iterator[tuple[str, str]]:
    if is_object(value):
        for key, child in value.items():
            if isinstance(child, str):
                yield key, child
            else:
                yield from _fields(child)
    elif is_array(value):
        for child in value:
            yield from _fields(child)


def patch_blocks(patch: str) -> list[str]:
    """The lines each hunk of an `*** Update File` expects to find, one block a hunk."""
    found: list[str] = []
    block: list[str] = []
    removed = updating = False
    for line in [*patch.split("\n"), "@@"]:
        if line.startswith(("@@", "***")):
            # A hunk without removed lines only inserts: its context is not replaced.
            if block and removed:
                found.append("\n".join(block))
            block, removed = [], False
            if line.startswith("***"):
                updating = line.startswith(("*** Update File", "*** Move to"))
        elif updating and line[:1] in ("-", " "):
            removed = removed or line[0] == "-"
            block.append(line[1:])
    return found
