"""The one thing memory needs of a model: a system text and a prompt in, a text out."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Protocol


class SideQuery(Protocol):
    """A helper call that is not part of the conversation; the session fills it."""

    async def __call__(
        self, system: str, prompt: str, schema: Mapping[str, Any] | None, max_tokens: int
    ) -> str:
        """Answer.

        Args:
            system: What it is for.
            prompt: What it is about, data fenced.
            schema: The JSON shape wanted, for providers that can be held to one.
            max_tokens: Longest reply.

        Raises:
            ModelError: there is no answer.
        """
        ...


@cache
def prompt_text(name: str) -> str:
    """A prompt of `wayfare/prompts`, by name without suffix."""
    return files("wayfare").joinpath("prompts", f"{name}.md").read_text(encoding="utf-8").strip()


def fenced(tag: str, text: str, **attributes: str) -> str:
    """A text as data between tags that nothing inside of it can close."""
    shown = "".join(f' {key}="{_attribute(value)}"' for key, value in attributes.items() if value)
    inner = text.replace(f"</{tag}", f"<\\/{tag}").strip("\n")
    return f"<{tag}{shown}>\n{inner}\n</{tag}>"


def _attribute(value: str) -> str:
    return " ".join(value.replace('"', "'").replace("<", "(").replace(">", ")").split())
