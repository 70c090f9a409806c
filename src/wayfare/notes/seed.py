"""What code alone keeps current in session notes: files, errors, results, the worklog.

Free of any model: made from the ledger, joined with what a model wrote under the same heading.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from wayfare.context.digest import Room, name_index
from wayfare.context.facts import Ledger, Said
from wayfare.notes.template import ERRORS, HEADINGS, Sections, joined, within
from wayfare.redaction import scrub

_FILES: Final = 40
_COMMANDS: Final = 20
_LINES: Final = 40
_STANDS: Final = "- stands: "
_WAS: Final = "- cured: "
_ERRORS_SHARES: Final = 3
"""Errors may take so many times the budget of a section when no more of them are known cured."""


def seeded(
    sections: Sections, ledger: Ledger, *, count: Callable[[str], int], most_tokens: int
) -> dict[str, str]:
    """`sections` with what the ledger knows put in, within the budget of each section."""
    share = max(most_tokens // len(HEADINGS), 40)
    made = dict(sections)
    for heading, lines in _known(ledger).items():
        fresh = scrub("\n".join(lines))[0]
        text = joined((_still_true(made.get(heading, ""), fresh), fresh))
        if heading == ERRORS:
            made[heading] = _errors_within(text, count, share)
        else:
            made[heading] = within(text, count, share, newest_last=True)
    if not made.get("Task specification", "").strip():
        words = scrub("\n".join(_quoted(said) for said in ledger.requests.values()))[0]
        made["Task specification"] = within(words, count, share, newest_last=True)
    return made


def last_work(ledger: Ledger) -> str:
    """One line: what was done last, for a Current State that nobody brought up to date."""
    parts: list[str] = []
    if ledger.files:
        fact = next(reversed(ledger.files.values()))
        parts.append(f"last file {'written' if fact.written > fact.read else 'read'}: {fact.path}")
    if ledger.commands:
        command = next(reversed(ledger.commands.values()))
        parts.append(f"last command: {command.command} ({_ended(command.failed)})")
    if ledger.last_words is not None:
        parts.append(f'said last: "{" ".join(ledger.last_words.text.split())[:200]}"')
    return scrub("; ".join(parts))[0]


def _still_true(old: str, fresh: str) -> str:
    """Old lines of ours without the name index, which is made anew, and with errors that no
    longer stand put into the past."""
    lines: list[str] = []
    now = set(fresh.splitlines())
    for line in old.splitlines():
        if line.startswith(("File names: ", "Identifiers: ")):
            continue
        if line.startswith(_STANDS) and line not in now:
            line = _WAS + line.removeprefix(_STANDS)
        lines.append(line)
    return "\n".join(lines)


def _errors_within(text: str, count: Callable[[str], int], most_tokens: int) -> str:
    """Errors within the budget of a section: those known to be cured leave, the oldest first, and
    are found in the log by the entry they name. What stands, and what a model or a person wrote,
    stays until it alone takes several times the budget."""
    lines = dict(enumerate(text.splitlines()))
    sizes = {at: count(line) + 1 for at, line in lines.items()}
    total = sum(sizes.values())
    cured = [at for at, line in lines.items() if line.startswith(_WAS)]
    others = [at for at in lines if at not in set(cured)]
    for leaving, most in ((cured, most_tokens), (others, _ERRORS_SHARES * most_tokens)):
        for at in leaving:
            if total <= most:
                break
            total -= sizes[at]
            del lines[at]
    return "\n".join(lines.values())


def _known(ledger: Ledger) -> dict[str, list[str]]:
    written = [f"- {f.path} (written, #{f.written})" for f in ledger.files.values() if f.written]
    names = list(name_index(ledger, Room(chars=0, file_name_chars=600, identifier_chars=1_200)))
    errors = [f"{_STANDS}{e.use[:80]}: {e.text} (#{e.entry})" for e in ledger.errors.values()]
    concluded = [f"- {said.text} (#{said.entry})" for said in ledger.conclusions.values()]
    results = [
        f"- {c.command}: {_ended(c.failed)}" + (f": {c.last_line}" if c.last_line else "")
        for c in ledger.commands.values()
    ]
    work = [f"- #{said.entry} {_quoted(said)[:200]}" for said in ledger.requests.values()]
    return {
        "Files and Functions": [*names, *written[-_FILES:]],
        ERRORS: [*concluded[-_LINES:], *errors],
        "Key results": results[-_COMMANDS:],
        "Worklog": work[-_LINES:],
    }


def _quoted(said: Said) -> str:
    return f'"{" ".join(said.text.split())}{" …" if said.cut else ""}"'


def _ended(failed: bool | None) -> str:
    return "no result" if failed is None else "failed" if failed else "ok"
