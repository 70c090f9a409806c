"""Commands that only read, which of their options change that, and which words are their files.

A command is a reader only when everything about it is known here: its name, its options, its
variables. The tables err towards asking; the manual page of each program decides (GNU and BSD
forms together), and abbreviated long options count as what they may abbreviate.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from wayfare.agent.shell.git_reading import git_reads
from wayfare.agent.shell.own_checks import DECLARES, OWN_CHECKS
from wayfare.agent.shell.reader_table import (
    LOCALE,
    PAGERS,
    READERS,
    RISKY,
    SAFE_VARIABLES,
    SECRET,
    VERSION_ONLY,
    Reader,
)
from wayfare.agent.shell.values import Assignment, Command, Places, Reads, Word


def reads(command: Command) -> Reads | str:
    """What a command reads, when it does nothing else; otherwise why it is not a mere reader.

    A lone assignment or redirection reads nothing: its targets are judged elsewhere.
    """
    if command.dynamic:
        return "what it runs cannot be told from its text"
    if command.elevated:
        return "it runs with more rights or on another machine"
    for assignment in command.assignments:
        if not harmless(assignment, command):
            return f"it sets {assignment.name}, which can change what runs"
    used = [v for w in command.words for v in w.variables] + list(command.fed_by)
    used += [v for a in command.assignments for v in a.value.variables]
    if any(SECRET.search(name) for name in used):
        return "it uses a variable that looks like a secret"
    if not command.words:
        return Reads()
    return _program_reads(command)


def harmless(assignment: Assignment, command: Command) -> bool:
    """True when setting the variable for this command cannot change what runs."""
    name = assignment.name
    if name in SAFE_VARIABLES or LOCALE.fullmatch(name):
        return True
    if name in PAGERS and assignment.value.literal:
        return assignment.value.text in ("", "cat")
    if name == "IFS" and command.name == "read":
        return True
    alone = not command.words or command.name in DECLARES
    return alone and RISKY.fullmatch(name) is None


def _program_reads(command: Command) -> Reads | str:
    name, arguments = command.name, command.words[1:]
    own = OWN_CHECKS.get(name)
    outcome = None if own is None else own(arguments)
    if outcome is not None:
        return outcome
    if name == "git":
        return _git(arguments, command.places)
    texts = tuple(w.text for w in arguments)
    if texts in (("--version",), ("-V",), ("--help",)) and name in VERSION_ONLY:
        return Reads()
    if (name, texts) == ("go", ("version",)):
        return Reads()
    reader = READERS.get(name)
    if reader is None:
        return f"{name} is not known to only read"
    return _plain_reader(name, reader, arguments)


def _plain_reader(name: str, reader: Reader, arguments: Sequence[Word]) -> Reads | str:
    operands: list[Word] = []
    in_options: list[Word] = []
    skipped = reader.skipped
    for word, is_option in _options_and_operands(arguments, reader):
        if not is_option:
            operands.append(word)
            if reader.most is not None and not word.literal:
                return f"{name} may write to its last operand"
            continue
        if reader.most is not None and operands:
            return f"{name} may take {word.text} for the file it writes"
        if not reader.any_option and (reason := _bad_option(word, reader)):
            return f"{name} {reason}"
        letters = "" if word.text.startswith("--") else word.text[1:]
        if any(c in reader.names_skipped for c in letters) or re.match(
            r"--(?:reg|file|expr|from)", word.text
        ):
            skipped = 0
        in_options.extend(_inside_option(word, reader))
    if reader.most is not None and len(operands) > reader.most:
        return f"{name} writes to its last operand"
    if not reader.files:
        return Reads()
    return Reads(files=(*operands[skipped:], *in_options))


def _options_and_operands(arguments: Sequence[Word], reader: Reader) -> Iterator[tuple[Word, bool]]:
    """Each argument with whether it can be an option; values of options that are no files left out."""
    rest = list(arguments)
    only_operands = False
    # Where a lost operand would be a written file, letters must stand alone (`xxd -ps` is one word).
    clusters = r"-[A-Za-z0-9]+" if reader.most is None else r"-[A-Za-z0-9]"
    while rest:
        word = rest.pop(0)
        if only_operands or not word.may_be_option or word.text == "-":
            yield word, False
        elif word.literal and word.text == "--":
            only_operands = True
        elif not word.literal and not word.stem:
            # It may be an option or a file, so it is held against both.
            if not reader.any_option:
                yield word, True
            yield word, False
        else:
            yield word, True
            takes_value = (
                word.literal
                and re.fullmatch(clusters, word.text)
                and word.text[-1] in reader.valued
                and not any(c in reader.valued for c in word.text[1:-1])
            )
            if takes_value and rest and rest[0].literal:
                rest.pop(0)


def _bad_option(word: Word, reader: Reader) -> str | None:
    text = word.text
    if not word.literal:
        return f"has an option that is only known at run time ({text})"
    if text.startswith("--"):
        name = text[2:].partition("=")[0]
        if any(bad.startswith(name) or name.startswith(bad) for bad in reader.bad_long):
            return f"with {text} does more than read"
        return None
    if any(letter in reader.bad for letter in text[1:]):
        return f"with {text} does more than read"
    return None


def _inside_option(word: Word, reader: Reader) -> list[Word]:
    """The file an option carries in itself: `--file=x`, `-f/x`."""
    text = word.text
    if text.startswith("--"):
        value = text.partition("=")[2]
    elif len(text) > 1 and text[1] in reader.valued:
        value = ""
    else:
        at = min((i for i in (text.find("/"), text.find("~")) if i > 0), default=-1)
        value = text[at:] if at > 0 else ""
    if not value:
        return []
    if word.literal:
        return [Word(text=value, stem=value, tilde=value.startswith("~"))]
    return [Word(text=value, literal=False)]


def _git(arguments: Sequence[Word], places: Places) -> Reads | str:
    outcome = git_reads(arguments)
    if isinstance(outcome, str):
        return outcome
    folder = () if outcome.folder is None else (outcome.folder,)
    return Reads(files=outcome.files, repositories=tuple((*chain, *folder) for chain in places))
