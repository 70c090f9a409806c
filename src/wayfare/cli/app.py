"""The commands, each a thin function that imports what it needs when it runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from wayfare.cli.printing import say
from wayfare.errors import WayfareError

app = typer.Typer(
    name="wayfare",
    help="Keeps a long-running LLM agent on course in a finite context window.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

Root = Annotated[
    Path, typer.Option("--root", "-C", help="Workspace root; addresses are relative to it.")
]


def run(arguments: Sequence[str]) -> int:
    """Run one command; returns the exit status. wayfare's own errors become one line."""
    try:
        result: object = app(list(arguments), standalone_mode=False)
    except WayfareError as error:
        say(f"wayfare: {error}")
        return 1
    except typer.Abort:
        typer.echo("wayfare: stopped", err=True)
        return 130
    except typer.Exit as end:
        return end.exit_code
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        say(f"wayfare: {where}{error.strerror or error}")
        return 1
    except Exception as error:
        show = getattr(error, "show", None)
        if show is None:
            raise
        show()
        return int(getattr(error, "exit_code", 2))
    return result if isinstance(result, int) else 0


@app.callback(invoke_without_command=True)
def top(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Keeps a long-running LLM agent on course in a finite context window."""
    if version:
        from wayfare import __version__

        typer.echo(__version__)
        raise typer.Exit


@app.command()
def replay(
    files: Annotated[list[Path], typer.Argument(help="Recorded sessions, or folders of them.")],
    window: Annotated[int, typer.Option(help="The model's window, in tokens.")] = 200_000,
    budget: Annotated[str, typer.Option(help="Budget preset: window or classic.")] = "window",
    compare: Annotated[
        str, typer.Option(help="Several presets side by side, in place of --budget: a,b.")
    ] = "",
    out: Annotated[
        Path | None, typer.Option(help="Workspace for transcripts and archives (kept).")
    ] = None,
    html: Annotated[Path | None, typer.Option(help="Write a self-contained report.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    side_chains: Annotated[
        bool, typer.Option("--side-chains", help="Replay the sessions of sub-agents too.")
    ] = False,
) -> int:
    """Feed recorded sessions through the runtime, offline, and show what it would do."""
    from wayfare.cli import replay_command

    return replay_command.run(
        replay_command.Wanted(
            files=files,
            budgets=replay_command.presets(compare or budget, window),
            out=out,
            html=html,
            json=json,
            side_chains=side_chains,
        )
    )


@app.command()
def context(
    session: Annotated[str, typer.Argument(help="Session; the newest by default.")] = "",
    root: Root = Path(),
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show what fills a session's window, by origin and tool."""
    from wayfare.cli import context_command

    context_command.run(session, root, json=json)


@app.command()
def why(
    address: Annotated[str, typer.Argument(help="Address of an entry or an archived result.")],
    root: Root = Path(),
) -> None:
    """Explain what was done to a text and why."""
    from wayfare.cli import why_command

    why_command.run(address, root)


@app.command()
def show(
    address: Annotated[str, typer.Argument(help="An address, as the context prints it.")],
    root: Root = Path(),
) -> int:
    """Print the exact text an address leads to."""
    from wayfare.cli import show_command

    return show_command.run(address, root)
