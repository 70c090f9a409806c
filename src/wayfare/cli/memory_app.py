"""`wayfare memory …`: the options of each command; what it does is imported when it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    help="What is remembered across sessions: look at it, change it, take it back.",
    no_args_is_help=True,
)

Root = Annotated[Path, typer.Option("--root", "-C", help="Workspace root.")]
User = Annotated[bool, typer.Option("--user", help="The user's own records, for all projects.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Name = Annotated[str, typer.Argument(help="A record's name or file name.")]
Change = Annotated[str, typer.Argument(help="A number or a transaction, as the log shows them.")]
Last = Annotated[int, typer.Option("--last", "-n", help="So many, the newest first.")]
Body = Annotated[str | None, typer.Option("--body", "-b", help="Its text; - takes it from stdin.")]
ModelName = Annotated[str, typer.Option("--model", "-m", help="Model for what needs one.")]


@app.command("list")
def list_(root: Root = Path(), user: User = False, json: Json = False) -> None:
    """List the records, one a line."""
    from wayfare.cli import memory_command

    memory_command.list_records(root, user=user, json=json)


@app.command()
def show(name: Name, root: Root = Path(), user: User = False, json: Json = False) -> None:
    """Print one record as it stands in its file."""
    from wayfare.cli import memory_command

    memory_command.show(root, name, user=user, json=json)


@app.command()
def add(
    name: Annotated[str, typer.Argument(help="A short name.")],
    body: Body = None,
    description: Annotated[
        str, typer.Option("--description", "-d", help="One line: when it matters.")
    ] = "",
    type: Annotated[
        str, typer.Option("--type", "-t", help="user, feedback, project or reference.")
    ] = "project",
    anyway: Annotated[
        bool, typer.Option("--anyway", help="Although it looks temporary, derivable or alike.")
    ] = False,
    root: Root = Path(),
    user: User = False,
) -> int:
    """Write a new record, or a new text for one of that name."""
    from wayfare.cli import memory_command

    given = memory_command.Given(name=name, type=type, description=description, body=body)
    return memory_command.add(root, given, user=user, insist=anyway)


@app.command()
def edit(
    name: Name,
    body: Body = None,
    description: Annotated[
        str | None, typer.Option("--description", "-d", help="Its new line.")
    ] = None,
    type: Annotated[str | None, typer.Option("--type", "-t", help="Its new type.")] = None,
    root: Root = Path(),
    user: User = False,
) -> int:
    """Change a record: by options, or in $EDITOR when none is given."""
    from wayfare.cli import memory_command

    given = memory_command.Given(name=name, type=type, description=description, body=body)
    return memory_command.edit(root, given, user=user)


@app.command()
def search(
    query: Annotated[str, typer.Argument(help="What to look for, in any language.")],
    explain: Annotated[bool, typer.Option("--explain", help="Say why each came up.")] = False,
    last: Annotated[int, typer.Option("--most", "-n", help="So many at most.")] = 10,
    root: Root = Path(),
    user: User = False,
    json: Json = False,
) -> int:
    """Find records by words. Exit status 1 when none answers."""
    from wayfare.cli import memory_command

    return memory_command.search(root, query, most=last, explain=explain, user=user, json=json)


@app.command()
def forget(
    name: Name,
    reason: Annotated[str, typer.Option("--reason", help="For the log.")] = "",
    root: Root = Path(),
    user: User = False,
) -> None:
    """Delete a record; it comes back only when you say it anew, or by undo."""
    from wayfare.cli import memory_command

    memory_command.forget_record(root, name, reason=reason, user=user)


@app.command()
def redact(name: Name, root: Root = Path(), user: User = False) -> None:
    """Delete a record and take its text out of the log as well; no way back."""
    from wayfare.cli import memory_command

    memory_command.redact_record(root, name, user=user)


@app.command()
def log(
    rejected: Annotated[
        bool, typer.Option("--rejected", help="What was refused or put aside, and why.")
    ] = False,
    last: Last = 30,
    root: Root = Path(),
    user: User = False,
    json: Json = False,
) -> None:
    """Show what happened, the newest first."""
    from wayfare.cli import memory_command

    memory_command.show_log(root, rejected=rejected, last=last, user=user, json=json)


@app.command()
def history(name: Name, root: Root = Path(), user: User = False, json: Json = False) -> None:
    """Show everything that happened to one record, oldest first."""
    from wayfare.cli import memory_command

    memory_command.show_history(root, name, user=user, json=json)


@app.command()
def diff(change: Change, root: Root = Path(), user: User = False) -> None:
    """Show the lines a change took out and put in."""
    from wayfare.cli import memory_command

    memory_command.show_diff(root, change, user=user)


@app.command()
def undo(
    change: Change,
    force: Annotated[
        bool, typer.Option("--force", help="Also where the record was changed since.")
    ] = False,
    root: Root = Path(),
    user: User = False,
) -> None:
    """Bring back what stood before a change or a whole transaction."""
    from wayfare.cli import memory_command

    memory_command.undo_change(root, change, force=force, user=user)


@app.command()
def review(
    id: Annotated[str, typer.Argument(help="One that waits; none: list them.")] = "",
    approve: Annotated[bool, typer.Option("--approve", help="Let it in.")] = False,
    decline: Annotated[bool, typer.Option("--decline", help="Keep it out for good.")] = False,
    anyway: Annotated[
        bool, typer.Option("--anyway", help="Also over a record that was changed since.")
    ] = False,
    root: Root = Path(),
    user: User = False,
    json: Json = False,
) -> int:
    """Look at what waits for your word, and give it."""
    from wayfare.cli import memory_review

    said = memory_review.Said(id=id, approve=approve, decline=decline, anyway=anyway)
    return memory_review.run(root, said, user=user, json=json)


@app.command()
def dream(
    root: Root = Path(),
    model: ModelName = "",
    now: Annotated[bool, typer.Option("--now", help="Do not wait for its gates.")] = False,
    review: Annotated[
        bool, typer.Option("--review", help="Only propose; the plan waits for review.")
    ] = False,
    detached: Annotated[bool, typer.Option("--detached", hidden=True)] = False,
) -> int:
    """Tidy up: read what sessions left, merge what belongs together, prune what expired."""
    from wayfare.cli import memory_dream

    return memory_dream.run(root, model=model, now=now, review=review, detached=detached)


@app.command("import")
def import_(
    path: Annotated[
        Path, typer.Argument(help="A memory folder, CLAUDE.md or AGENTS.md, an export.")
    ],
    kind: Annotated[
        str,
        typer.Option(
            "--kind", help="memory, export, bullets, mem0 or basic-memory; by default guessed."
        ),
    ] = "",
    root: Root = Path(),
    user: User = False,
) -> int:
    """Take records over from elsewhere, through the same gate as everything."""
    from wayfare.cli import memory_transfer

    return memory_transfer.import_from(root, path, kind=kind, user=user)


@app.command()
def export(
    to: Annotated[Path | None, typer.Argument(help="A file; none: standard output.")] = None,
    root: Root = Path(),
    user: User = False,
) -> None:
    """Write all records as one plain Markdown text."""
    from wayfare.cli import memory_transfer

    memory_transfer.export(root, to, user=user)


@app.command()
def doctor(root: Root = Path(), user: User = False, json: Json = False) -> int:
    """Look at the folder, the journal and the index; say what is wrong and mend what is derived."""
    from wayfare.cli import memory_doctor

    return memory_doctor.run(root, user=user, json=json)
