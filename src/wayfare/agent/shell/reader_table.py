"""Programs that only read, and which of their options change that.

The manual page of each program decides, GNU and BSD forms together. An unlisted program is not a
reader; a listed one is a reader with any option that is not listed as bad.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
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


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_TEXT = Reader(files=False)
_FILES = Reader()
_GREP = Reader(skipped=1, names_skipped="ef", valued="ABCemdD")
READERS: dict[str, Reader] = {
    **dict.fromkeys(
        _names(
            "echo true false : pwd whoami id uname basename dirname seq sleep nproc arch tty "
            "groups which type uptime cal df free tr expr locale getconf numfmt factor pgrep"
        ),
        _TEXT,
    ),
    **dict.fromkeys(
        _names(
            "cat tac rev cut paste nl expand unexpand fold fmt comm join cmp diff wc md5sum "
            "sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum shasum md5 "
            "realpath readlink strings od hexdump base32 column pr tsort"
        ),
        _FILES,
    ),
    **dict.fromkeys(("grep", "egrep", "fgrep"), _GREP),
    **dict.fromkeys(("ls", "dir", "vdir"), Reader(valued="IwT")),
    "cut": Reader(valued="bcdf"),
    "paste": Reader(valued="d"),
    "column": Reader(valued="st"),
    "join": Reader(valued="12tejov"),
    "head": Reader(valued="nc"),
    "tail": Reader(valued="ncs"),
    "stat": Reader(valued="cf"),
    "du": Reader(valued="dBt"),
    "base64": Reader(valued="wb", bad="o", bad_long=("output",)),
    "rg": Reader(
        skipped=1,
        names_skipped="ef",
        valued="ABCegjmMtTdrE",
        bad="z",
        bad_long=("pre", "hostname-bin", "search-zip"),
    ),
    "tree": Reader(valued="LPI", bad="oR", bad_long=("output",)),
    "file": Reader(valued="F", bad="Cm", bad_long=("compile", "magic-file")),
    "sort": Reader(
        valued="ktS",
        bad="oT",
        bad_long=("output", "compress-program", "temporary-directory", "files0-from"),
    ),
    "uniq": Reader(valued="fsw", most=1),
    "xxd": Reader(valued="clsgo", bad="r", most=1),
    "jq": Reader(skipped=1, bad="Lf", bad_long=("from-file", "args", "jsonargs")),
    "shuf": Reader(valued="n", bad="o", bad_long=("output", "random-source")),
    "hostname": Reader(files=False, bad="bF", bad_long=("file", "boot"), most=0),
}
VERSION_ONLY = frozenset(
    _names(
        "python python3 node npm npx pnpm yarn bun deno cargo rustc rustup gcc g++ clang "
        "cmake make go java javac ruby perl php uv ruff pyright mypy black tsc docker "
        "kubectl gh bash sh zsh pip pip3 poetry brew apt dpkg psql sqlite3 terraform"
    )
)

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
LOCALE = re.compile(r"LC_[A-Z]+")
RISKY = re.compile(
    r"PATH|CDPATH|IFS|ENV|BASH_.*|SHELLOPTS|BASHOPTS|PS[0-9]|PROMPT_COMMAND|HOME|PWD|OLDPWD|"
    r"LD_.*|DYLD_.*|GIT_.*|SSH_.*|PAGER|MANPAGER|EDITOR|VISUAL|BROWSER|SHELL|TMPDIR|LESS.*|"
    r"PYTHON.*|NODE_.*|PERL.*|RUBY.*|JAVA_.*|JDK_.*|.*_OPTIONS|.*_PATH|.*PROXY|.*_proxy|GLOBIGNORE"
)
PAGERS = frozenset({"PAGER", "GIT_PAGER", "GH_PAGER", "MANPAGER"})
SECRET = re.compile(
    r"KEY|TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|_PAT$|_AUTH$|DSN$|DATABASE_URL", re.IGNORECASE
)
