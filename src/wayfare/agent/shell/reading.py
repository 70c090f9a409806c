"""Commands that only read, which of their options change that, and which words are their files.

A command is a reader only when everything about it is known here: its name, its options, its
variables. The tables err towards asking; the manual page of each program decides (GNU and BSD
forms together), and abbreviated long options count as what they may abbreviate.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from wayfare.agent.shell.git_reading import git_reads
from wayfare.agent.shell.values import Assignment, Command, Places, Word

SAFE_VARIABLES = frozenset(
    {
        "CI",
        "COLUMNS",
        "DEBUG",
        "FORCE_COLOR",
        "GIT_OPTIONAL_LOCKS",
        "GREP_COLORS",
        "LANG",
        "LANGUAGE",
        "LINES",
        "NO_COLOR",
        "PYTHONDONTWRITEBYTECODE",
        "PYTHONUNBUFFERED",
        "RUST_BACKTRACE",
        "TERM",
        "TZ",
    }
)
"""Variables that may be set for any command: none of them names a program, a library or a file."""
_LOCALE = re.compile(r"LC_[A-Z]+")
_RISKY = re.compile(
    r"PATH|CDPATH|IFS|ENV|BASH_.*|SHELLOPTS|BASHOPTS|PS[0-9]|PROMPT_COMMAND|HOME|PWD|OLDPWD|"
    r"LD_.*|DYLD_.*|GIT_.*|SSH_.*|PAGER|MANPAGER|EDITOR|VISUAL|BROWSER|SHELL|TMPDIR|LESS.*|"
    r"PYTHON.*|NODE_.*|PERL.*|RUBY.*|JAVA_.*|JDK_.*|.*_OPTIONS|.*_PATH|.*PROXY|.*_proxy|GLOBIGNORE"
)
_PAGERS = frozenset({"PAGER", "GIT_PAGER", "GH_PAGER", "MANPAGER"})
_SECRET = re.compile(
    r"KEY|TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|_PAT$|_AUTH$|DSN$|DATABASE_URL", re.IGNORECASE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reader:
    """How one program reads.

    Attributes:
        files: Its operands are files.
        skipped: So many first operands are no files (a pattern, a script).
        names_skipped: Options that give what the skipped operand would have given.
        valued: Letters of options whose value is no file.
        bad: Letters of options that write or run something.
        bad_long: The same for long options.
        most: The largest number of operands that still only reads; None for any.
    """

    files: bool = True
    skipped: int = 0
    names_skipped: str = ""
    valued: str = ""
    bad: str = ""
    bad_long: tuple[str, ...] = ()
    most: int | None = None

    @property
    def any_option(self) -> bool:
        return not (self.bad or self.bad_long or self.most is not None)


_TEXT = _Reader(files=False)
_FILES = _Reader()
_GREP = _Reader(skipped=1, names_skipped="ef", valued="ABCemdD")
_READERS: dict[str, _Reader] = {
    **dict.fromkeys(
        [
            "echo",
            "true",
            "false",
            ":",
            "pwd",
            "whoami",
            "id",
            "uname",
            "basename",
            "dirname",
            "seq",
            "sleep",
            "nproc",
            "arch",
            "tty",
            "groups",
            "which",
            "type",
            "uptime",
            "cal",
            "df",
            "free",
            "tr",
            "expr",
            "locale",
            "getconf",
            "numfmt",
            "factor",
            "pgrep",
        ],
        _TEXT,
    ),
    **dict.fromkeys(
        [
            "cat",
            "tac",
            "rev",
            "cut",
            "paste",
            "nl",
            "expand",
            "unexpand",
            "fold",
            "fmt",
            "comm",
            "join",
            "cmp",
            "diff",
            "wc",
            "md5sum",
            "sha1sum",
            "sha224sum",
            "sha256sum",
            "sha384sum",
            "sha512sum",
            "b2sum",
            "cksum",
            "sum",
            "shasum",
            "md5",
            "realpath",
            "readlink",
            "strings",
            "od",
            "hexdump",
            "base32",
            "column",
            "pr",
            "tsort",
        ],
        _FILES,
    ),
    **dict.fromkeys(("grep", "egrep", "fgrep"), _GREP),
    **dict.fromkeys(("ls", "dir", "vdir"), _Reader(valued="IwT")),
    "cut": _Reader(valued="bcdf"),
    "paste": _Reader(valued="d"),
    "column": _Reader(valued="st"),
    "join": _Reader(valued="12tejov"),
    "head": _Reader(valued="nc"),
    "tail": _Reader(valued="ncs"),
    "stat": _Reader(valued="cf"),
    "du": _Reader(valued="dBt"),
    "base64": _Reader(valued="wb", bad="o", bad_long=("output",)),
    "rg": _Reader(
        skipped=1,
        names_skipped="ef",
        valued="ABCegjmMtTdrE",
        bad="z",
        bad_long=("pre", "hostname-bin", "search-zip"),
    ),
    "tree": _Reader(valued="LPI", bad="oR", bad_long=("output",)),
    "file": _Reader(valued="F", bad="Cm", bad_long=("compile", "magic-file")),
    "sort": _Reader(
        valued="ktS",
        bad="oT",
        bad_long=("output", "compress-program", "temporary-directory", "files0-from"),
    ),
    "uniq": _Reader(valued="fsw", most=1),
    "xxd": _Reader(valued="clsgo", bad="r", most=1),
    "jq": _Reader(skipped=1, bad="Lf", bad_long=("from-file", "args", "jsonargs")),
    "shuf": _Reader(valued="n", bad="o", bad_long=("output", "random-source")),
    "hostname": _Reader(files=False, bad="bF", bad_long=("file", "boot"), most=0),
}
_VERSION_ONLY = frozenset(
    [
        "python",
        "python3",
        "node",
        "npm",
        "npx",
        "pnpm",
        "yarn",
        "bun",
        "deno",
        "cargo",
        "rustc",
        "rustup",
        "gcc",
        "g++",
        "clang",
        "cmake",
        "make",
        "go",
        "java",
        "javac",
        "ruby",
        "perl",
        "php",
        "uv",
        "ruff",
        "pyright",
        "mypy",
        "black",
        "tsc",
        "docker",
        "kubectl",
        "gh",
        "bash",
        "sh",
        "zsh",
        "pip",
        "pip3",
        "poetry",
        "brew",
        "apt",
        "dpkg",
        "psql",
        "sqlite3",
        "terraform",
    ]
)
_FIND = re.compile(
    r"-(?:i?name|i?path|i?wholename|i?regex|regextype|type|xtype|maxdepth|mindepth|size|empty|"
    r"newer(?:[aBcm][aBcmt])?|anewer|cnewer|[acm]time|[acm]min|print0?|printf|prune|quit|ls|"
    r"o|a|or|and|not|true|false|perm|user|group|uid|gid|nouser|nogroup|links|inum|samefile|"
    r"i?lname|xdev|mount|depth|d|daystart|readable|writable|executable|used|H|P|O[0-3])"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reads:
    """A command that only reads.

    Attributes:
        files: Words it reads as files or folders.
        repositories: Where git looks for the repository, whose settings can name programs to run.
    """

    files: tuple[Word, ...] = ()
    repositories: Places = ()


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
    if any(_SECRET.search(name) for name in used):
        return "it uses a variable that looks like a secret"
    if not command.words:
        return Reads()
    return _program_reads(command)


def harmless(assignment: Assignment, command: Command) -> bool:
    """True when setting the variable for this command cannot change what runs."""
    name = assignment.name
    if name in SAFE_VARIABLES or _LOCALE.fullmatch(name):
        return True
    if name in _PAGERS and assignment.value.literal:
        return assignment.value.text in ("", "cat")
    if name == "IFS" and command.name == "read":
        return True
    alone = not command.words or command.name in _DECLARES
    return alone and _RISKY.fullmatch(name) is None


def _program_reads(command: Command) -> Reads | str:
    name, arguments = command.name, command.words[1:]
    own = _OWN_CHECKS.get(name)
    if own is not None:
        return own(arguments)
    if name == "git":
        return _git(arguments, command.places)
    texts = tuple(w.text for w in arguments)
    if texts in (("--version",), ("-V",), ("--help",)) and name in _VERSION_ONLY:
        return Reads()
    if (name, texts) == ("go", ("version",)):
        return Reads()
    reader = _READERS.get(name)
    if reader is None:
        return f"{name} is not known to only read"
    return _plain_reader(name, reader, arguments)


def _plain_reader(name: str, reader: _Reader, arguments: Sequence[Word]) -> Reads | str:
    operands: list[Word] = []
    in_options: list[Word] = []
    skipped = reader.skipped
    for word, is_option in _options_and_operands(arguments, reader):
        if not is_option:
            operands.append(word)
            continue
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


def _options_and_operands(
    arguments: Sequence[Word], reader: _Reader
) -> Iterator[tuple[Word, bool]]:
    """Each argument with whether it can be an option; values of options that are no files left out."""
    rest = list(arguments)
    only_operands = False
    while rest:
        word = rest.pop(0)
        if only_operands or not word.may_be_option or word.text == "-":
            yield word, False
        elif word.literal and word.text == "--":
            only_operands = True
        elif not word.literal and not word.stem:
            # It may be an option or a file, so it is held against both.
            yield word, not reader.any_option
            yield word, False
        else:
            yield word, True
            takes_value = (
                word.literal
                and re.fullmatch(r"-[A-Za-z0-9]+", word.text)
                and word.text[-1] in reader.valued
                and not any(c in reader.valued for c in word.text[1:-1])
            )
            if takes_value and rest and rest[0].literal:
                rest.pop(0)


def _bad_option(word: Word, reader: _Reader) -> str | None:
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


def _inside_option(word: Word, reader: _Reader) -> list[Word]:
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


def _jq(arguments: Sequence[Word]) -> Reads | str:
    for word in arguments:
        if re.search(r"\benv\b|\$ENV|input_filename|\bimport\b|\binclude\b", word.text):
            return "jq has a filter that reads the environment or other files"
    return _plain_reader("jq", _READERS["jq"], arguments)


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
        if _RISKY.fullmatch(name):
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


_DECLARES = frozenset({"export", "declare", "typeset", "local", "readonly"})
_OWN_CHECKS: dict[str, Callable[[Sequence[Word]], Reads | str]] = {
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
    **dict.fromkeys(_DECLARES, _declares),
    **dict.fromkeys(("exit", "return", "break", "continue", "shift"), _flow),
}
