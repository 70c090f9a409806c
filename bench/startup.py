"""What starting costs, as ratios to an empty Python: `python -m bench.startup`.

Processor time (user and system) of whole processes, the best of several runs each, taken in turns
so that a busy machine slows all of them alike.
"""

from __future__ import annotations

import os
import pty
import select
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

RUNS = 7
LIMITS = {"import wayfare": 6.0, "wayfare --help": 12.0, "interactive session": 25.0}
"""At most so many times an empty Python."""
_PROMPT = "›".encode()
_GIVE_UP_SECONDS = 60.0


def seconds_of(argv: list[str], environ: dict[str, str]) -> float:
    """Processor seconds of a process whose output nobody reads."""
    pid = os.fork()
    if not pid:
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(null, stream)
        os.execve(argv[0], argv, environ)
    return _used(pid)


def seconds_of_session(argv: list[str], environ: dict[str, str]) -> float:
    """Processor seconds of a session on a terminal, from its start until its prompt is there and
    it was left again."""
    pid, terminal = pty.fork()
    if not pid:
        os.execve(argv[0], argv, environ)
    seen = b""
    end = time.monotonic() + _GIVE_UP_SECONDS
    left = False
    while time.monotonic() < end:
        ready, _, _ = select.select([terminal], [], [], 1.0)
        try:
            chunk = os.read(terminal, 65_536) if ready else b""
        except OSError:
            break
        if ready and not chunk:
            break
        seen += chunk
        if _PROMPT in seen and not left:
            left = True
            os.write(terminal, b"\x04")
    used = _used(pid)
    os.close(terminal)
    if not left:
        raise SystemExit(f"no prompt was seen: {seen[-500:]!r}")
    return used


def _used(pid: int) -> float:
    _, status, usage = os.wait4(pid, 0)
    if os.waitstatus_to_exitcode(status):
        raise SystemExit(f"a process ended with status {status}")
    return usage.ru_utime + usage.ru_stime


def measured(runs: int = RUNS) -> dict[str, float]:
    """Processor seconds by what was started; `python -c pass` comes first."""
    python = sys.executable
    with tempfile.TemporaryDirectory(prefix="wayfare-startup-") as place:
        folder = Path(place)
        script = folder / "script.json"
        script.write_text("[]")
        environ = {
            **{n: v for n, v in os.environ.items() if not n.startswith("WAYFARE_")},
            **{f"XDG_{name}_HOME": str(folder / name) for name in ("CONFIG", "DATA", "STATE")},
            "TERM": "xterm-256color",
        }
        wayfare = [python, "-m", "wayfare"]
        session = [*wayfare, "-C", str(folder), "-m", f"scripted:{script}"]
        jobs: dict[str, Callable[[], float]] = {
            "python -c pass": lambda: seconds_of([python, "-c", "pass"], environ),
            "import wayfare": lambda: seconds_of([python, "-c", "import wayfare"], environ),
            "wayfare --help": lambda: seconds_of([*wayfare, "--help"], environ),
            "interactive session": lambda: seconds_of_session(session, environ),
        }
        best = dict.fromkeys(jobs, float("inf"))
        for _ in range(runs):
            for name, job in jobs.items():
                best[name] = min(best[name], job())
    return best


def main() -> int:
    """Print the table; 1 when a ratio is over its limit."""
    best = measured()
    empty = best["python -c pass"]
    over = 0
    for name, seconds in best.items():
        limit = LIMITS.get(name)
        ratio = seconds / empty
        said = f"at most {limit:g}" if limit else ""
        over += bool(limit and ratio > limit)
        print(f"{name:<22} {seconds * 1000:7.1f} ms  {ratio:5.1f} ×  {said}")
    return int(over > 0)


if __name__ == "__main__":
    sys.exit(main())
