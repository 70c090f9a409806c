"""Programs whose arguments are little languages: find, sed, awk, jq, and builtins of the shell."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from wayfare.agent.shell.reader_table import RISKY
from wayfare.agent.shell.values import Reads, Word

_FIND = re.compile(
    r"-(?:i?name|i?path|i?wholename|i?regex|regextype|type|xtype|maxdepth|mindepth|size|empty|"
    r"newer(?:[aBcm][aBcmt])?|anewer|cnewer|[acm]time|[acm]min|print0?|printf|prune|quit|ls|"
    r"o|a|or|and|not|true|false|perm|user|group|uid|gid|nouser|nogroup|links|inum|samefile|"
    r"i?lname|xdev|mount|depth|d|daystart|readable|writable|executable|used|H|P|O[0-3])"
)


def _cd(arguments: Sequence[Word]) -> Reads | str:
    rest = [w for w in arguments if w.text not in ("-P", "-L", "--")]
    if not rest:
        return Reads(files=(Word(text="~", stem="~", tilde=True),))
    if rest[0].may_be_option:
        return "cd goes to a folder that is only known at run time"
    return Reads(files=tuple(rest))


def _find(arguments: Sequence[Word]) -> Reads | str:
    roots: list[Word] = []
    expression = False
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if not expression and not word.may_be_option and word.text not in ("(", "!", ")", ","):
            roots.append(word)
            continue
        expression = expression or word.text not in ("-H", "-P")
        if not word.literal:
            return "find has a test that is only known at run time"
        if word.text.startswith("-") and not _FIND.fullmatch(word.text):
            return f"find with {word.text} does more than look"
        if word.text in ("-newer", "-anewer", "-cnewer", "-samefile") and rest:
            roots.append(rest.pop(0))
        elif word.text in ("-name", "-iname", "-path", "-regex", "-iregex", "-printf") and rest:
            rest.pop(0)
    return Reads(files=tuple(roots))


_SED_STEP = re.compile(
    r"\s*(?:(?:\d+|\$|/(?:[^/\\\n]|\\.)*/I?)(?:,(?:\+?\d+|\$|/(?:[^/\\\n]|\\.)*/I?))?\s*!?\s*)?"
    r"(?:[pdqDPGHNnghxlz=]|s([/|#,@:!%_])(?:(?!\1)[^\\\n]|\\.)*\1(?:(?!\1)[^\\\n]|\\.)*\1[gpIi0-9]*|"
    r"y/(?:[^/\\\n]|\\.)*/(?:[^/\\\n]|\\.)*/)\s*"
)


def _sed(arguments: Sequence[Word]) -> Reads | str:
    scripts: list[Word] = []
    operands: list[Word] = []
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if not word.may_be_option:
            operands.append(word)
        elif word.literal and word.text in ("-e", "-ne", "-nEe", "-Ee", "-nre") and rest:
            scripts.append(rest.pop(0))
        elif not word.literal or not re.fullmatch(
            r"-[nErsuz]+|--quiet|--silent|--regexp-extended|--null-data|--posix", word.text
        ):
            return f"sed with {word.text} may do more than print"
    if not scripts:
        scripts, operands = operands[:1], operands[1:]
    for script in scripts:
        if not script.literal or not all(_SED_STEP.fullmatch(s) for s in _sed_steps(script.text)):
            return "sed has a script that may do more than print"
    return Reads(files=tuple(operands))


def _sed_steps(script: str) -> list[str]:
    """The steps of a script; a `;` inside `s` or an address makes a step that is not recognised."""
    if _SED_STEP.fullmatch(script):
        return [script]
    return [step for step in re.split(r"[;\n]", script) if step.strip()]


def _awk(arguments: Sequence[Word]) -> Reads | str:
    rest = list(arguments)
    while rest and rest[0].may_be_option:
        option = rest.pop(0)
        if not option.literal or not re.fullmatch(r"-F.*|-v.*", option.text, re.DOTALL):
            return f"awk with {option.text} may run more than its program"
        if option.text in ("-F", "-v") and rest:
            rest.pop(0)
    if not rest or not rest[0].literal:
        return "awk has a program that is only known at run time"
    if re.search(r"system|getline|ENVIRON|ARGV|PROCINFO|[|>@]|close|fflush", rest[0].text):
        return "awk has a program that may write, run or read elsewhere"
    return Reads(files=tuple(w for w in rest[1:] if not re.match(r"[A-Za-z_]\w*=", w.text)))


def _jq(arguments: Sequence[Word]) -> str | None:
    for word in arguments:
        if re.search(r"\benv\b|\$ENV|input_filename|\bimport\b|\binclude\b", word.text):
            return "jq has a filter that reads the environment or other files"
    return None


def _date(arguments: Sequence[Word]) -> Reads | str:
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if word.literal and word.text in ("-d", "--date", "-r", "-v") and rest:
            rest.pop(0)
        elif not word.stem.startswith("+") and not (
            word.literal
            and re.fullmatch(r"-u|-R|-I\w*|--utc|--(?:iso-8601|rfc-3339|date)(?:=.*)?", word.text)
        ):
            return "date may set the clock"
    return Reads()


def _printf(arguments: Sequence[Word]) -> Reads | str:
    if arguments and arguments[0].may_be_option and arguments[0].text != "--":
        return "printf with an option sets a variable"
    return Reads()


def _test(arguments: Sequence[Word]) -> Reads | str:
    first_may_vary = arguments[:1] and arguments[0].may_be_option and not arguments[0].literal
    if first_may_vary or any(w.text in ("-v", "-R") for w in arguments):
        return "test may evaluate what it is given"
    return Reads()


def _read(arguments: Sequence[Word]) -> Reads | str:
    rest = list(arguments)
    while rest and rest[0].literal and re.fullmatch(r"-[rs]*[rsdnNptu]", rest[0].text):
        option = rest.pop(0).text
        if option[-1] in "dnNptu" and rest:
            rest.pop(0)
    for word in rest:
        name = word.text
        if not word.literal or not re.fullmatch(r"[A-Za-z_][A-Za-z_0-9]*", name):
            return "read sets a variable whose name is only known at run time"
        if RISKY.fullmatch(name):
            return f"it sets {name}, which can change what runs"
    return Reads()


def _set(arguments: Sequence[Word]) -> Reads | str:
    texts = [w.text for w in arguments]
    if texts and all(
        re.fullmatch(r"[-+][euxo]+|pipefail|errexit|nounset|xtrace", t) for t in texts
    ):
        return Reads()
    return "set changes or shows more than how errors are treated"


def _ps(arguments: Sequence[Word]) -> Reads | str:
    for word in arguments:
        if not word.literal or ("e" in word.text and not word.text.startswith("-")):
            return "ps may show the environment of processes"
    return Reads()


def _command(arguments: Sequence[Word]) -> Reads | str:
    return Reads() if arguments[:1] and arguments[0].text in ("-v", "-V") else "it runs a command"


def _declares(arguments: Sequence[Word]) -> Reads | str:
    for word in arguments:
        if not word.literal and "=" not in word.stem:
            return "it declares a name that is only known at run time"
        if word.text.startswith("-") and not re.fullmatch(r"-[xrgaAlu]+", word.text):
            return "it shows or changes more than the named variables"
    return Reads() if arguments else "it shows every variable, secrets among them"


def _flow(arguments: Sequence[Word]) -> Reads | str:
    return Reads()


DECLARES = frozenset({"export", "declare", "typeset", "local", "readonly"})
# None leaves the rest to the table of readers.
OWN_CHECKS: dict[str, Callable[[Sequence[Word]], Reads | str | None]] = {
    "find": _find,
    "sed": _sed,
    "awk": _awk,
    "gawk": _awk,
    "mawk": _awk,
    "jq": _jq,
    "date": _date,
    "printf": _printf,
    "test": _test,
    "set": _set,
    "ps": _ps,
    "command": _command,
    "cd": _cd,
    "read": _read,
    **dict.fromkeys(DECLARES, _declares),
    **dict.fromkeys(("exit", "return", "break", "continue", "shift"), _flow),
}
