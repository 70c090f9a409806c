"""What the memory cases ask to be looked at by hand."""

from __future__ import annotations

import re

from tests.cases.observe import observed
from tests.cases.outcome import Outcome

_ENTRY = re.compile(r"^- \[.*\]\(<?([^)>]+)>?\) — ", re.MULTILINE)
_MORE = re.compile(r"^\*(\d+) more records are not listed", re.MULTILINE)


def index_agrees(outcome: Outcome) -> str:
    index = outcome.texts["index"]
    listed = _ENTRY.findall(index)
    more = _MORE.search(index)
    files = {str(m["file"]) for m in outcome.memories.values()}
    if len(set(listed)) != len(listed) or not set(listed) <= files:
        return f"the index names {listed}, there are {sorted(files)}"
    if len(listed) + (int(more[1]) if more else 0) != len(files):
        return f"{len(listed)} listed of {len(files)}"
    return ""


_AGREES = "every entry line of MEMORY.md names an existing file, and every memory is named once"
for _case in (
    "conc-01-two-processes-add-at-once",
    "crash-03-killed-in-the-middle-of-a-consolidation",
    "name-03-case-and-the-index-file",
):
    observed(_case, _AGREES)(index_agrees)


@observed(
    "crash-03-killed-in-the-middle-of-a-consolidation",
    "a new consolidation can take the lock at once",
)
def lock_is_free(outcome: Outcome) -> str:
    return "" if outcome.extra["next"] == "refused" else f"next: {outcome.extra['next']}"


@observed(
    "fm-04-broken-header-is-not-lost",
    "each of noclose.md, oddtype.md, bare.md, empty.md, bin.md is either among the memories or",
)
def none_is_lost(outcome: Outcome) -> str:
    held = {m["file"] for m in outcome.memories.values()}
    names = ("noclose.md", "oddtype.md", "bare.md", "empty.md", "bin.md")
    lost = [n for n in names if n not in held and not any(n in e for e in outcome.events)]
    return f"lost: {lost}" if lost else ""


@observed("fm-05-newline-in-a-description", "MEMORY.md has exactly 1 line for note")
def one_line_for_note(outcome: Outcome) -> str:
    lines = [line for line in outcome.texts["index"].splitlines() if "note" in line]
    return "" if len(lines) == 1 else f"lines: {lines}"


@observed(
    "index-01-newest-entries-survive-the-cap",
    "MEMORY.md itself says that at least 50 entries were left out, or lists them in a second file",
)
def says_what_is_left_out(outcome: Outcome) -> str:
    more = _MORE.search(outcome.texts["index"])
    return "" if more and int(more[1]) >= 50 else "nothing is said"


@observed(
    "index-04-long-chinese-lines-and-the-byte-cap",
    "no line of MEMORY.md ends inside a link or a character; every line that starts an entry is",
)
def lines_are_whole(outcome: Outcome) -> str:
    starts = [s for s in outcome.texts["index"].splitlines() if s.startswith("- ")]
    broken = [s[:60] for s in starts if not _ENTRY.match(s)]
    return f"broken: {broken}" if broken else ""


@observed(
    "index-04-long-chinese-lines-and-the-byte-cap",
    "MEMORY.md says that entries were left out, or all 60 files are named",
)
def all_or_said(outcome: Outcome) -> str:
    return index_agrees(outcome)


@observed(
    "json-03-object-list-or-single",
    "variant facts_of_strings: a memory with the fact is saved, or an event says the reply could",
)
def facts_are_saved_or_named(outcome: Outcome) -> str:
    variant = outcome.variants["facts_of_strings"]
    told = any("could not be used" in e for e in variant.events)
    return "" if variant.memories or told else f"events: {variant.events}"


@observed(
    "name-03-case-and-the-index-file",
    "both bodies (body A, body B) are in memory files, or the later write was reported as an",
)
def both_bodies(outcome: Outcome) -> str:
    text = outcome.texts["memory"]
    if "body A" in text and "body B" in text:
        return ""
    updated = any("updated" in e for e in outcome.events)
    return "" if updated and "body B" in text else "a body is lost without a word"


@observed("path-03-read-through-a-linked-folder", "every one of the paths is refused with a reason")
def all_refused(outcome: Outcome) -> str:
    given = [text[:60] for text, refused in outcome.extra["answers"] if not refused or not text]
    return f"given: {given}" if given else ""


@observed("time-01-lock-held-by-a-reused-pid", "the lock now names this process (or is released)")
def lock_is_ours_or_released(outcome: Outcome) -> str:
    holder = outcome.extra["holder"]
    return "" if holder is None or holder.startswith("case-") else f"held by {holder}"


@observed(
    "time-03-clock-went-backwards",
    "after the run the stored time of the last run is not later than now",
)
def last_is_not_ahead(outcome: Outcome) -> str:
    last, now = outcome.extra["last"], outcome.extra["now"]
    return "" if 0 < last <= now else f"last {last}, now {now}"
