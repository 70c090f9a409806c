"""Serving a conversation: opening its session, running its turns, doing its commands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from wayfare.cli.screen.conversation import CONTINUE, Conversation, Job
from wayfare.cli.screen.spans import Line, wrapped
from wayfare.errors import ConfigError, WayfareError

if TYPE_CHECKING:
    from wayfare.agent.turn import Ended
    from wayfare.model import Model
    from wayfare.session.session import Session

_RECAP_CHARS: Final = 600
_NEED_SESSION: Final = frozenset({"say", "resume"})


async def run(talk: Conversation) -> None:
    """Serve until the person leaves. A fresh session is opened with the first words said in it."""
    while not talk.leaving:
        name = talk.wanted
        if not name and not await _before_opening(talk):
            continue
        talk.next_session()
        try:
            await _serve(talk, name)
        except WayfareError as error:
            talk.session = None
            talk.fail(error)
            talk.drop_jobs()


async def _before_opening(talk: Conversation) -> bool:
    """Do what needs no session; True once something needs one."""
    job = await talk.next_job()
    if job is None:
        return False
    if job.name in _NEED_SESSION:
        if job.name == "resume":
            return _choose(talk, job.text)
        talk.put_back(job)
        return True
    try:
        await _without_session(talk, job)
    except WayfareError as error:
        talk.fail(error)
    return False


async def _without_session(talk: Conversation, job: Job) -> None:
    if job.name == "model":
        _change_later(talk, job.text)
    elif job.name == "permissions":
        _permissions(talk, job.text)
    elif job.name == "memory":
        _memory(talk)
    elif job.name == "clear":
        talk.say("this is a fresh session already")
    else:
        talk.say("nothing yet: the session begins with your first words")


def _change_later(talk: Conversation, name: str) -> None:
    if not name:
        talk.say(talk.status.model)
        return
    _use(talk, _opened_model(talk, name))


def _opened_model(talk: Conversation, name: str) -> Model:
    from wayfare.cli.model_choice import open_model

    return open_model(talk.read.settings, clock=talk.clock, watch=talk.watch, name=name)


def _use(talk: Conversation, model: Model) -> None:
    talk.model = model
    talk.change_status(
        model=model.name, window_tokens=model.window_tokens, currency=model.prices.currency
    )
    talk.say(f"the model is {model.name}")


async def _serve(talk: Conversation, name: str) -> None:
    """Open a session and do what comes, until another one is wanted or the person leaves.

    Raises:
        WayfareError: it cannot be opened.
    """
    from wayfare.cli.session_setup import made_ready, session_options
    from wayfare.cli.settings_files import own_workspace
    from wayfare.session.session import Session

    own_workspace(talk.read)
    model = talk.model = talk.model or _opened_model(talk, talk.status.model)
    ask = talk.ask if talk.asks else None
    options = await session_options(
        talk.read, model, watch=talk.watch, ask=ask, session=name, mode=talk.mode
    )
    async with Session.open(**options) as session:
        talk.session, talk.served = session, session.name
        try:
            _opened(talk, session)
            await made_ready(session, talk.read, watch=talk.watch)
            await _jobs(talk, session)
        finally:
            talk.session = None
    await _close(model)


async def _close(model: object) -> None:
    close = getattr(model, "close", None)
    if close is not None:
        await close()


def _opened(talk: Conversation, session: Session) -> None:
    usage = session.totals.usage
    talk.change_status(
        model=session.model.name,
        currency=session.model.prices.currency,
        mode=session.consent.policy.mode,
        window_tokens=session.governor.budget.window_tokens,
        context_tokens=session.governor.tokens,
        cost=session.totals.cost,
        prompt_tokens=usage.prompt_tokens,
        cached_tokens=usage.cache_read_tokens,
    )
    if session.how == "resumed":
        talk.front.show(_recap(session, talk.front.columns))


def _recap(session: Session, columns: int) -> list[Line]:
    """How the conversation stood: the last words of both, and whether a turn is open."""
    lines: list[Line] = [(("dim", f"session {session.name}, {len(session.messages)} messages"),)]
    said = [m for m in session.messages if m.origin in ("user", "assistant") and m.text.strip()]
    last = [
        next((m for m in reversed(said) if m.origin == who), None) for who in ("user", "assistant")
    ]
    for message in last:
        if message is None:
            continue
        text = message.text.strip()
        text = text if len(text) <= _RECAP_CHARS else f"{text[:_RECAP_CHARS]} …"
        first, *rest = wrapped(text, columns - 2, style="dim")
        mark = "› " if message.origin == "user" else "  "
        lines += [(("dim", mark), *first), *((("", "  "), *line) for line in rest)]
    if session.unfinished:
        text = f"its last turn did not end ({session.unfinished}): say “continue” to go on with it"
        lines += wrapped(text, columns, style="warn")
    return lines


async def _jobs(talk: Conversation, session: Session) -> None:
    while (job := await talk.next_job()) is not None:
        if job.name == "clear":
            talk.next_session()
            talk.say("a fresh session; the old one is kept: /resume")
            talk.change_status(context_tokens=0, cost=0.0, prompt_tokens=0, cached_tokens=0)
            return
        if job.name == "resume":
            if _choose(talk, job.text, present=session.name):
                return
            continue
        try:
            await _do(talk, session, job)
        except WayfareError as error:
            talk.fail(error)


async def _do(talk: Conversation, session: Session, job: Job) -> None:
    if job.name == "say":
        await _turn(talk, session, job.text)
    elif job.name == "compact":
        await _compact(talk, session, job.text)
    elif job.name == "undo":
        entry = await session.undo()
        talk.say(f"taken back: {len(entry.undoes)} edits; {session.governor.tokens:,} tokens now")
        talk.change_status(context_tokens=session.governor.tokens)
    elif job.name == "context":
        from wayfare.cli.screen.pages import context_lines

        talk.front.show(await context_lines(session, talk.front.columns))
    elif job.name == "model":
        await _change_model(talk, session, job.text)
    elif job.name == "permissions":
        _permissions(talk, job.text)
    elif job.name == "notes":
        from wayfare.cli.screen.pages import notes_lines

        talk.front.show(await notes_lines(session, talk.front.columns))
    else:
        _memory(talk)


async def _compact(talk: Conversation, session: Session, focus: str) -> None:
    import anyio

    talk.doing = "compacting"
    try:
        with anyio.CancelScope() as talk.scope:
            await session.compact(focus)
        if talk.scope.cancelled_caught:
            talk.say("not compacted: interrupted", style="warn")
    finally:
        talk.scope, talk.doing = None, ""
    talk.change_status(context_tokens=session.governor.tokens)


async def _turn(talk: Conversation, session: Session, text: str) -> None:
    talk.busy = True
    try:
        if session.unfinished and text.strip().lower() in CONTINUE:
            ended: Ended = await session.go_on()
        else:
            ended = await session.run(text)
    finally:
        talk.busy = False
        talk.change_status(context_tokens=session.governor.tokens, cost=session.totals.cost)
    unused = "\n".join(session.kit.inbox.take())
    if not unused:
        return
    if ended.how == "done":
        talk.put_back(Job(name="say", text=unused))  # typed in the turn's very last moment
    else:
        talk.front.give_back(unused)


async def _change_model(talk: Conversation, session: Session, name: str) -> None:
    if not name:
        model = session.model
        talk.say(f"{model.name}: window {model.window_tokens:,} tokens. Another: /model NAME")
        return
    before, model = session.model, _opened_model(talk, name)
    await session.change_model(model)
    await _close(before)
    _use(talk, model)
    talk.change_status(
        window_tokens=session.governor.budget.window_tokens, context_tokens=session.governor.tokens
    )


def _permissions(talk: Conversation, mode: str) -> None:
    from wayfare.cli.screen.pages import permission_lines

    if not mode:
        talk.front.show(permission_lines(talk))
        return
    from wayfare.agent.policy import MODES, Mode

    wanted: Mode | None = next((one for one in MODES if one.startswith(mode)), None)
    if wanted is None:
        text = f"{mode} is no mode; there are {', '.join(MODES)}"
        raise ConfigError(text, setting="permissions.mode", value=mode)
    talk.mode = wanted
    if talk.session is not None:
        talk.session.consent.change_mode(wanted)
    talk.change_status(mode=wanted)
    talk.say(f"the mode is {wanted}")


def _memory(talk: Conversation) -> None:
    from wayfare.cli.screen.pages import memory_lines

    talk.front.show(memory_lines(talk))


def _choose(talk: Conversation, name: str, *, present: str = "") -> bool:
    """Let another session be served next; False when there is none, or only a list was wanted."""
    from wayfare.cli.screen.pages import session_lines
    from wayfare.cli.session_list import named_session
    from wayfare.cli.session_setup import places_of

    places = places_of(talk.read)
    if not name:
        talk.front.show(session_lines(talk, present))
        return False
    try:
        found = named_session(places, name)
    except WayfareError as error:
        talk.fail(error)
        return False
    if found == present:
        talk.say("that is this session")
        return False
    talk.next_session(found)
    return True
