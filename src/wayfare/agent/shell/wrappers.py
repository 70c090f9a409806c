"""Commands that run other commands: what they run, so that it can be judged instead of them.

A wrapper is taken apart only as far as its options are known here. Anything else about it (an
unlisted option, a word known only at run time) makes the whole command `Opaque`: it never matches
an allow rule and is asked about.
"""

from __future__ import annotations

from collections.abc import Sequence

from wayfare.agent.shell.own_wrappers import OWN_WAYS, shell_code
from wayfare.agent.shell.unwrapping import Opaque, Unwrapped, WrapperSpec, strip
from wayfare.agent.shell.values import Word, program

_SPECS: dict[str, WrapperSpec] = {
    "env": WrapperSpec(
        flags="i0v",
        valued="uC",
        long=("ignore-environment", "null", "debug"),
        long_valued=("unset", "chdir"),
        assignments=True,
        directory=("C", "chdir"),
    ),
    "nohup": WrapperSpec(),
    "setsid": WrapperSpec(flags="cfw", long=("ctty", "fork", "wait")),
    "time": WrapperSpec(
        flags="pv", long=("portability", "verbose"), assignments=True, in_shell=True
    ),
    "timeout": WrapperSpec(
        flags="v",
        valued="ks",
        long=("foreground", "preserve-status", "verbose"),
        long_valued=("kill-after", "signal"),
        operands=1,
    ),
    "nice": WrapperSpec(valued="n", long_valued=("adjustment",), number_options=True),
    "ionice": WrapperSpec(
        flags="t", valued="cn", long=("ignore",), long_valued=("class", "classdata")
    ),
    "chrt": WrapperSpec(flags="bfior", operands=1),
    "taskset": WrapperSpec(flags="ac", operands=1),
    "stdbuf": WrapperSpec(valued="ioe", long_valued=("input", "output", "error")),
    "unbuffer": WrapperSpec(),
    "caffeinate": WrapperSpec(flags="disu"),
    "busybox": WrapperSpec(),
    "toybox": WrapperSpec(),
    "builtin": WrapperSpec(in_shell=True),
    "exec": WrapperSpec(flags="cl", valued="a", in_shell=True),
    "command": WrapperSpec(flags="p", in_shell=True),
    "coproc": WrapperSpec(assignments=True),
    "sudo": WrapperSpec(
        flags="AbEHknPSN",
        valued="ugp",
        long=("preserve-env", "set-home", "non-interactive", "stdin", "background"),
        long_valued=("user", "group", "prompt"),
        assignments=True,
        elevated=True,
    ),
    "doas": WrapperSpec(flags="n", valued="u", elevated=True),
    "pkexec": WrapperSpec(long_valued=("user",), elevated=True),
    "chroot": WrapperSpec(operands=1, elevated=True),
    "fakeroot": WrapperSpec(elevated=True),
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
        return shell_code(words[1:], stdin_code)
    own = OWN_WAYS.get(name)
    if own is not None:
        return own(words)
    spec = _SPECS.get(name)
    if spec is None:
        return None
    if name == "command" and any(w.text in ("-v", "-V", "-pv", "-pV") for w in words[1:2]):
        return None
    return strip(words[1:], spec)
