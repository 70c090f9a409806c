"""Rich's Markdown with quieter headings and code: no frames, nothing centred, no filled blocks."""

from __future__ import annotations

from typing import ClassVar

from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Heading, Markdown, MarkdownElement
from rich.padding import Padding
from rich.syntax import Syntax


class SessionHeading(Heading):
    """A heading at the left edge, in bold."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        self.text.justify = "left"
        self.text.stylize("bold")
        yield self.text


class SessionCode(CodeBlock):
    """Code by its language's colours on the terminal's own background, indented by two."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        code = str(self.text).rstrip()
        syntax = Syntax(
            code, self.lexer_name, theme=self.theme, word_wrap=True, background_color="default"
        )
        yield Padding(syntax, (0, 0, 0, 2))


class SessionMarkdown(Markdown):
    """Markdown as the session shows it."""

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": SessionHeading,
        "fence": SessionCode,
        "code_block": SessionCode,
    }
