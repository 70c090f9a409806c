"""Completion of slash commands with their arguments, and of files after `@`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from wayfare.cli.printing import plain
from wayfare.cli.screen.files import WorkspaceFiles
from wayfare.cli.screen.slash import COMMANDS

if TYPE_CHECKING:
    from wayfare.cli.screen.conversation import Conversation

_MENTION: Final = re.compile(r"(?:^|(?<=\s))@(\S*)$")
_COMMAND: Final = re.compile(r"^/(\w*)$")
_ARGUMENT: Final = re.compile(r"^/(\w+) +(\S*)$")


def completable(document: Document) -> bool:
    """Whether the cursor stands where something can be completed while typing."""
    text = document.text_before_cursor
    return bool(_COMMAND.match(text) or _ARGUMENT.match(text) or _MENTION.search(text))


class SessionCompleter(Completer):
    """Slash commands, their arguments, files.

    Args:
        files: The files of the workspace.
        arguments: What may follow a slash command, by its name; asked when it is typed.
    """

    def __init__(
        self, files: WorkspaceFiles, arguments: Mapping[str, Callable[[], Sequence[str]]]
    ) -> None:
        self._files = files
        self._arguments = arguments

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterable[Completion]:
        text = document.text_before_cursor
        if (command := _COMMAND.match(text)) is not None:
            for one in COMMANDS:
                if one.name.startswith(command[1]):
                    shown = f"/{one.name} {one.argument}".strip()
                    yield Completion(
                        one.name, -len(command[1]), display=shown, display_meta=one.text
                    )
        elif (argument := _ARGUMENT.match(text)) is not None:
            for value in self._arguments.get(argument[1], lambda: ())():
                if value.startswith(argument[2]):
                    yield Completion(value, -len(argument[2]), display=plain(value))
        elif (mention := _MENTION.search(text)) is not None:
            for path in self._files.matching(mention[1]):
                yield Completion(path, -len(mention[1]), display=plain(path))


def arguments_of(talk: Conversation) -> Mapping[str, Callable[[], Sequence[str]]]:
    """What may follow `/permissions`, `/resume` and `/model`; asked when it is typed."""

    def modes() -> Sequence[str]:
        from wayfare.agent.policy import MODES

        return MODES

    def sessions() -> Sequence[str]:
        from wayfare.cli.session_setup import places_of
        from wayfare.session import session_names

        return [*reversed(session_names(places_of(talk.read)))][:20]

    def models() -> Sequence[str]:
        from wayfare.providers.registry import FORMS

        return [f"{name}:" if ":MODEL" in form else name for name, form in FORMS.items()]

    return {"permissions": modes, "resume": sessions, "model": models}
