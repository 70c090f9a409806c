"""`python -m docs.generate`: write the reference; `--check`: say what differs; `--pictures`: draw."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from docs.generate import commands_page, errors_page, events_page, settings_page
from docs.generate.wording import LANGUAGES, Wording, wording

DOCS: Final = Path(__file__).resolve().parents[1]
PAGES: Final[Mapping[str, Callable[[Wording], str]]] = {
    "reference/settings.md": settings_page.page,
    "reference/errors.md": errors_page.page,
    "reference/commands.md": commands_page.page,
    "reference/event-list.md": events_page.page,
}


def generated() -> Mapping[Path, str]:
    """Every generated page by its path below `docs`, in both languages."""
    return {
        Path(language, name): make(wording(language))
        for language in LANGUAGES
        for name, make in PAGES.items()
    }


def differing() -> list[Path]:
    """The pages whose file is not what the code says now."""

    def stands(path: Path) -> str:
        return path.read_text("utf-8") if path.exists() else ""

    return [path for path, text in generated().items() if stands(DOCS / path) != text]


def main(arguments: list[str]) -> int:
    """Run; returns the exit status."""
    if "--check" in arguments:
        old = differing()
        for path in old:
            print(f"docs/{path} is not what the code says; run: python -m docs.generate")
        return 1 if old else 0
    if "--pictures" in arguments:
        from docs.generate.pictures import write_pictures

        write_pictures(DOCS / "pictures")
        return 0
    for path, text in generated().items():
        (DOCS / path).parent.mkdir(parents=True, exist_ok=True)
        (DOCS / path).write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
