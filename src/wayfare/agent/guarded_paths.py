"""Paths that need a person's word whatever the mode: whose they are and what guards them."""

from __future__ import annotations

import os
import re
import stat
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

MAX_LINKS = 40
"""Symbolic links followed in one path; Linux itself stops at 40."""
_MAX_COMPARED_FILES = 5_000
_PROCESS_LINKS = frozenset({"root", "cwd", "fd", "exe", "map_files", "task"})
_IGNORABLE = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]")
_STARTUP = frozenset(
    [
        ".bashrc",
        ".bash_profile",
        ".bash_login",
        ".bash_logout",
        ".bash_aliases",
        ".profile",
        ".zshrc",
        ".zshenv",
        ".zprofile",
        ".zlogin",
        ".zlogout",
        ".kshrc",
        ".cshrc",
        ".tcshrc",
        ".login",
        ".inputrc",
        ".envrc",
        ".gitconfig",
        ".xprofile",
        ".xinitrc",
        "config.fish",
        "wayfare.toml",
    ]
)
_STARTUP_FOLDERS = (
    (".husky",),
    (".vscode",),
    (".config", "fish"),
    (".config", "autostart"),
    (".config", "systemd"),
    (".config", "git"),
    ("library", "launchagents"),
    ("etc", "cron.d"),
    ("etc", "profile.d"),
    ("spool", "cron"),
)
_SECRET_FOLDERS = (
    (".ssh",),
    (".aws",),
    (".gnupg",),
    (".kube",),
    (".azure",),
    (".password-store",),
    (".config", "gcloud"),
    (".config", "gh"),
)
_SECRET_NAMES = frozenset(
    [
        ".netrc",
        "_netrc",
        ".pgpass",
        ".my.cnf",
        ".git-credentials",
        ".npmrc",
        ".pypirc",
        ".dockercfg",
        ".htpasswd",
        "shadow",
        "gshadow",
        ".bash_history",
        ".zsh_history",
        "id_rsa",
        "id_dsa",
        "id_ecdsa",
        "id_ed25519",
        "environ",
        ".envrc",
    ]
)
_SECRET_ENDINGS = (".pem", ".key", ".p12", ".pfx", ".kdbx", ".keystore", ".jks")
_ENVIRONMENT = re.compile(r"\.env(?:\..+)?|.+\.env")
_ENVIRONMENT_SAMPLES = re.compile(r"\.env\.(?:example|sample|template|dist|defaults?|schema)")
_LINKED_SECRETS = (".ssh", ".aws", ".netrc", ".git-credentials", ".npmrc", ".pypirc")
_DEVICES = re.compile(r"/dev/(?:null|zero|u?random|full|tty|stdin|stdout|stderr|fd/\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """Why a path is not free to use.

    Attributes:
        decision: `deny` holds against every rule; `ask` yields to a rule that names the place.
        root: The guarded place: the file, or the folder everything below which is guarded.
        reason: For the person and the model.
    """

    decision: Literal["ask", "deny"]
    root: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a path leads.

    Attributes:
        path: Absolute, every link followed, `..` taken after the link; files that do not exist
            yet are placed by their nearest existing parent.
        written: Absolute, as written, links not followed.
        known: False when it goes through the links of a process, in a circle, or is no path.
        device: A device or stream that any command may use.
    """

    path: str
    written: str
    known: bool = True
    device: bool = False

    def inside(self, folder: Path | str) -> bool:
        """True when the place is `folder` or below it."""
        return self.known and _is_below(self.path, str(folder))


def locate(path: str, *, base: Path, home: Path) -> Place:
    """Follows a path from `base` to where it leads; a leading `~` is `home`."""
    text = path
    if text == "~" or text.startswith("~/"):
        text = str(home) + text[1:]
    written = os.path.normpath(os.path.join(base, text))
    unknown = Place(path=written, written=written, known=False)
    if "\0" in text or text.startswith("~"):
        return unknown
    if _DEVICES.fullmatch(written):
        return Place(path=written, written=written, device=True)
    try:
        resolved = _follow(os.path.join(os.path.realpath(base), text))
    except (OSError, ValueError):
        return unknown
    return unknown if resolved is None else Place(path=resolved, written=written)


def _follow(path: str) -> str | None:
    """Like `os.path.realpath`, but None for circles and for links into another process."""
    done = "/"
    rest = [part for part in reversed(path.split("/")) if part not in ("", ".")]
    links = 0
    while rest:
        part = rest.pop()
        if part == "..":
            done = os.path.dirname(done)
            continue
        step = os.path.join(done, part)
        if not os.path.islink(step):
            done = step
            continue
        if _PROCESS_LINKS & set(step.split("/")) and step.startswith("/proc/"):
            return None
        links += 1
        if links > MAX_LINKS:
            return None
        target = os.readlink(step)
        if target.startswith("/"):
            done = "/"
        rest.extend(p for p in reversed(target.split("/")) if p not in ("", "."))
    return done


def plain_form(path: str) -> str:
    """A path as a file system that ignores case and invisible characters may read it."""
    return _IGNORABLE.sub("", unicodedata.normalize("NFC", path)).casefold()


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def guard_of(
    place: Place, *, write: bool, tree: bool, closed: tuple[str, ...], home: Path
) -> Guard | None:
    """What guards a place against a read, a write, or a change of everything below it.

    Args:
        place: Where the path leads.
        write: The file is written.
        tree: Everything below is touched as well, so a parent of a guarded folder is guarded too.
        closed: Folders and files only wayfare itself writes, links followed.
        home: Where the person's own secrets lie.
    """
    if not place.known:
        return Guard(
            decision="deny" if write else "ask",
            root=place.path,
            reason="it leads through another process's links, in a circle, or nowhere",
        )
    path, parts = place.path, tuple(plain_form(place.path).strip("/").split("/"))
    if write and (closed_by := _closed_by(path, tree, closed)):
        return closed_by
    if place.device:
        return None
    if tree and _is_below(str(home), path):
        return Guard(decision="ask", root=path, reason=f"{path} holds the whole home folder")
    if write and (at := _startup_at(parts)) is not None:
        root = _root(path, at)
        return Guard(decision="ask", root=root, reason=f"{root} decides what runs later")
    if (at := _secret_at(parts)) is not None:
        root = _root(path, at)
        return Guard(decision="ask", root=root, reason=f"{root} usually holds secrets")
    return _linked(place, write=write, closed=closed, home=home)


def _closed_by(path: str, tree: bool, closed: tuple[str, ...]) -> Guard | None:
    for folder in closed:
        plain, own = plain_form(path), plain_form(folder)
        if _is_below(plain, own) or (tree and _is_below(own, plain)):
            name = os.path.basename(folder)
            reason = f"{name} is written by wayfare itself, through its own tools only"
            return Guard(decision="deny", root=folder, reason=reason)
    return None


def _root(path: str, at: int) -> str:
    return "/" + "/".join(path.strip("/").split("/")[:at])


def _startup_at(parts: tuple[str, ...]) -> int | None:
    """How many parts lead to a thing that decides what runs later, or None."""
    for at, part in enumerate(parts):
        if part in (".git", *_STARTUP):
            return at + 1
        for folder in _STARTUP_FOLDERS:
            if parts[at : at + len(folder)] == folder:
                return at + len(folder)
    return None


def _secret_at(parts: tuple[str, ...]) -> int | None:
    for at in range(len(parts)):
        for folder in _SECRET_FOLDERS:
            if parts[at : at + len(folder)] == folder:
                return at + len(folder)
    name = parts[-1]
    if name in _SECRET_NAMES or name.endswith(_SECRET_ENDINGS):
        return len(parts)
    if parts[-2:] == (".docker", "config.json"):
        return len(parts)
    if _ENVIRONMENT.fullmatch(name) and not _ENVIRONMENT_SAMPLES.fullmatch(name):
        return len(parts)
    return None


def _linked(place: Place, *, write: bool, closed: tuple[str, ...], home: Path) -> Guard | None:
    """A second name of a guarded file: writing through a hard link changes the guarded one."""
    try:
        found = os.stat(place.path)
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(found.st_mode) or found.st_nlink < 2:
        return None
    identity = (found.st_dev, found.st_ino)
    if write and identity in set(_files_below(closed)):
        return Guard(decision="deny", root=place.path, reason="it is another name of a closed file")
    if identity in set(_files_below(tuple(str(home / name) for name in _LINKED_SECRETS))):
        return Guard(decision="ask", root=place.path, reason="it is another name of a secret file")
    if write:
        return Guard(decision="ask", root=place.path, reason="the file has another name elsewhere")
    return None


def _files_below(roots: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    count = 0
    for root in roots:
        for folder, _, names in os.walk(root):
            for name in names:
                count += 1
                if count > _MAX_COMPARED_FILES:
                    return
                try:
                    found = os.lstat(os.path.join(folder, name))
                except OSError:
                    continue
                yield found.st_dev, found.st_ino
        if os.path.isfile(root):
            found = os.stat(root)
            yield found.st_dev, found.st_ino
