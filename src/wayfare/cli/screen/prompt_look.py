"""How the input line looks, and the terminal it is drawn on."""

from __future__ import annotations

from typing import Final

from prompt_toolkit.layout.processors import Processor, Transformation, TransformationInput
from prompt_toolkit.output import Output, create_output
from prompt_toolkit.output.vt100 import Vt100_Output
from prompt_toolkit.styles import Style

from wayfare.cli.printing import STEERING

STYLE: Final = Style.from_dict(
    {
        "completion-menu": "noinherit",
        "completion-menu.completion": "noinherit",
        "completion-menu.completion.current": "noinherit reverse",
        "completion-menu.meta.completion": "noinherit fg:ansibrightblack",
        "completion-menu.meta.completion.current": "noinherit reverse",
        "scrollbar.background": "noinherit",
        "scrollbar.button": "noinherit reverse",
    }
)
"""The menu in the terminal's own colours; the chosen line reversed."""


class Harmless(Processor):
    """Shows what was pasted, or completed to, without what steers the terminal; what is typed stays
    as it is."""

    def apply_transformation(self, transformation_input: TransformationInput) -> Transformation:
        # One character for one, so that the cursor stands where it stood.
        return Transformation(
            [
                (fragment[0], STEERING.sub("\ufffd", fragment[1]))
                for fragment in transformation_input.fragments
            ]
        )


def plain_output() -> Output:
    """The terminal, never asked where its cursor is: what is drawn is as high as it needs to be,
    and terminals that do not answer are not waited for."""
    output = create_output()
    if isinstance(output, Vt100_Output):
        output.enable_cpr = False
    return output
