"""What every `Model` must do, as checks to run on one's own.

```python
@pytest.mark.parametrize("check", MODEL_CHECKS, ids=lambda check: check.__name__)
async def test_my_model(check):
    await check(MyStage())               # makes models that act as told; see `Stage`
```

A check that an implementation cannot be made to take part in raises `CannotStage`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

import anyio

from wayfare.errors import (
    EmptyReply,
    ModelAuthError,
    ModelError,
    ModelRateLimited,
    ModelRefused,
    ModelTimeout,
    ModelUnreachable,
    OutputTooLarge,
    PromptTooLong,
)
from wayfare.messages import Message, Origin, Thinking, call, result, results, user
from wayfare.model import Model, Reply, Request, ToolSpec
from wayfare.testing.acts import (
    LIMIT_TOKENS,
    RETRY_AFTER_SECONDS,
    ROOM_TOKENS,
    SENT_TOKENS,
    Act,
    Breaks,
    CannotStage,
    Fails,
    Failure,
    IsGone,
    Says,
    Stalls,
)
from wayfare.testing.expect import expect

_Error = TypeVar("_Error", bound=ModelError)

TEXT = "The file says 漢字 ✓ and nothing else."
READ = ToolSpec(
    name="read_file",
    description="Read a file and return its text",
    schema={
        "type": "object",
        "properties": {"path": {"type": "string"}, "limit": {"type": "integer"}},
        "required": ["path"],
    },
)
LIST = ToolSpec(
    name="list_files",
    description="List the files of a folder",
    schema={"type": "object", "properties": {"folder": {"type": "string"}}},
)
ASKED = Request(messages=(user("Read the file notes.txt"),), system="You are brief.")
ASKED_WITH_TOOLS = Request(
    messages=ASKED.messages, system="You are a coding agent.", tools=(READ, LIST)
)


class Stage(Protocol):
    """Makes models whose next answers are known.

    Attributes:
        is_real: a real model answers, in its own words: what it says is not compared.
    """

    is_real: bool

    async def model(self, *acts: Act) -> Model:
        """A model that answers its next calls so, in order.

        Raises:
            CannotStage: this implementation cannot be made to.
        """
        ...

    async def stream_was_left(self) -> None:
        """Return when the other side has noticed that a stream was left before its end.

        Raises:
            CannotStage: there is no other side.
        """
        ...


ModelCheck = Callable[[Stage], Awaitable[None]]


class Heard:
    """A watcher that keeps what it is told."""

    def __init__(self, on_text: Callable[[], None] | None = None) -> None:
        self.texts: list[str] = []
        self.thoughts: list[str] = []
        self.calls: list[str] = []
        self._on_text = on_text

    def text(self, piece: str) -> None:
        self.texts.append(piece)
        if self._on_text is not None:
            self._on_text()

    def thinking(self, piece: str) -> None:
        self.thoughts.append(piece)

    def call(self, name: str) -> None:
        self.calls.append(name)


async def it_says_what_it_is(stage: Stage) -> None:
    model = await stage.model()
    assert model.name, model
    assert 0 < model.max_output_tokens <= model.window_tokens, model.name
    assert model.prices.input > 0, model.prices


async def a_reply_streams_in_and_comes_whole(stage: Stage) -> None:
    model = await stage.model(Says(text=TEXT))
    heard = Heard()
    reply = await model.complete(ASKED, heard)
    assert reply.stop in ("end", "length"), reply.stop
    assert reply.message.role == "assistant", reply.message
    assert reply.message.origin is Origin.ASSISTANT, reply.message
    assert "".join(heard.texts) == reply.message.text, heard.texts
    assert len(heard.texts) > 1, heard.texts
    if not stage.is_real:
        assert (reply.stop, reply.message.text) == ("end", TEXT), reply


async def nobody_needs_to_watch(stage: Stage) -> None:
    model = await stage.model(Says(text=TEXT))
    reply = await model.complete(ASKED)
    assert reply.message.text, reply


async def thinking_is_kept_apart(stage: Stage) -> None:
    model = await stage.model(Says(text=TEXT, thinking="Let me look at it first."))
    heard = Heard()
    reply = await model.complete(ASKED, heard)
    thought = [b.text for b in reply.message.blocks if isinstance(b, Thinking)]
    assert "".join(heard.thoughts) == "".join(thought) == "Let me look at it first.", heard.thoughts
    assert reply.message.text == TEXT, reply.message.text


async def a_call_comes_with_its_input(stage: Stage) -> None:
    asked_for = call("read_file", {"path": "notes.txt", "limit": 3}, id="call_1")
    model = await stage.model(Says(calls=(asked_for,), stop="tools"))
    heard = Heard()
    reply = await model.complete(ASKED_WITH_TOOLS, heard)
    assert reply.stop == "tools", reply
    assert [made.name for made in reply.calls] == heard.calls, (reply.calls, heard.calls)
    made = reply.calls[0]
    assert made.id, made
    if stage.is_real:
        assert made.name in {READ.name, LIST.name}, made
    else:
        assert (made.id, made.name, dict(made.input)) == (
            "call_1",
            "read_file",
            {"path": "notes.txt", "limit": 3},
        ), made


async def a_call_without_arguments_has_an_empty_input(stage: Stage) -> None:
    model = await stage.model(Says(calls=(call("list_files", id="call_1"),), stop="tools"))
    reply = await model.complete(ASKED_WITH_TOOLS)
    if not stage.is_real:
        assert [dict(made.input) for made in reply.calls] == [{}], reply.calls


async def parallel_calls_keep_their_order(stage: Stage) -> None:
    _exact(stage)
    calls = tuple(call("read_file", {"path": f"{n}.txt"}, id=f"call_{n}") for n in range(4))
    model = await stage.model(Says(text="All four.", calls=calls, stop="tools"))
    heard = Heard()
    reply = await model.complete(ASKED_WITH_TOOLS, heard)
    made = [(one.id, one.input["path"]) for one in reply.calls]
    assert made == [(f"call_{n}", f"{n}.txt") for n in range(4)], made
    assert heard.calls == ["read_file"] * 4, heard.calls
    assert reply.message.text == "All four.", reply.message


async def a_conversation_goes_on_after_results(stage: Stage) -> None:
    first = call("read_file", {"path": "notes.txt"}, id="call_1")
    model = await stage.model(Says(text="Reading.", calls=(first,), stop="tools"), Says(text=TEXT))
    reply = await model.complete(ASKED_WITH_TOOLS)
    answers = results(*(result(made.id, "apples") for made in reply.calls))
    messages = (*ASKED.messages, reply.message, answers)
    request = Request(
        messages=messages if reply.calls else messages[:-1],
        system=ASKED_WITH_TOOLS.system,
        tools=ASKED_WITH_TOOLS.tools,
    )
    again = await model.complete(request)
    assert again.message.text or again.calls, again


async def usage_adds_up_to_the_prompt(stage: Stage) -> None:
    act = Says(text=TEXT)
    model = await stage.model(act, act)
    await model.complete(ASKED)
    reply = await model.complete(ASKED)
    usage = reply.usage
    assert usage.prompt_tokens > 0, usage
    assert usage.output_tokens > 0, usage
    if stage.is_real:
        assert usage.cache_read_tokens > 0, usage  # the same request a second time
    else:
        assert usage == act.usage, usage


async def a_reply_cut_by_the_output_limit_says_so(stage: Stage) -> None:
    model = await stage.model(Says(text="half an ans", stop="length"))
    request = Request(messages=ASKED.messages, max_output_tokens=4)
    reply = await model.complete(request)
    assert reply.stop == "length", reply
    assert reply.message.text, reply


async def a_refusal_of_the_model_says_so(stage: Stage) -> None:
    _exact(stage)
    model = await stage.model(Says(text="I will not.", stop="refused"))
    reply = await model.complete(ASKED)
    assert reply.stop == "refused", reply


async def an_overflow_names_both_numbers(stage: Stage) -> None:
    model = await stage.model(Fails(failure="overflow"))
    request = Request(messages=(user("word " * 12_000),))
    error = await expect(PromptTooLong, model.complete(request), "it took 12,000 words")
    if stage.is_real:
        assert error.limit_tokens == model.window_tokens, vars(error)
        assert (error.sent_tokens or 0) > model.window_tokens, vars(error)
    else:
        assert (error.sent_tokens, error.limit_tokens) == (SENT_TOKENS, LIMIT_TOKENS), vars(error)


async def an_overflow_told_in_the_stream_is_one(stage: Stage) -> None:
    error = await _failure(stage, "overflow_in_stream", PromptTooLong)
    assert (error.sent_tokens, error.limit_tokens) == (SENT_TOKENS, LIMIT_TOKENS), vars(error)


async def an_output_that_does_not_fit_is_no_overflow(stage: Stage) -> None:
    error = await _failure(stage, "output_too_large", OutputTooLarge)
    assert error.output_limit_tokens == ROOM_TOKENS, vars(error)


async def a_rate_limit_names_the_wait(stage: Stage) -> None:
    error = await _failure(stage, "rate_limited", ModelRateLimited)
    assert error.retry_after_seconds == RETRY_AFTER_SECONDS, vars(error)


async def an_overloaded_server_is_worth_another_try(stage: Stage) -> None:
    await _failure(stage, "overloaded", ModelUnreachable)


async def an_overload_told_in_the_stream_is_one(stage: Stage) -> None:
    await _failure(stage, "overloaded_in_stream", ModelUnreachable)


async def a_server_error_is_worth_another_try(stage: Stage) -> None:
    await _failure(stage, "server_error", ModelUnreachable)


async def a_wrong_key_is_told_as_one(stage: Stage) -> None:
    await _failure(stage, "auth", ModelAuthError)


async def an_unknown_model_is_refused_for_good(stage: Stage) -> None:
    error = await _failure(stage, "unknown_model", ModelRefused)
    assert not error.repairable, vars(error)


async def a_broken_rule_can_be_mended(stage: Stage) -> None:
    error = await _failure(stage, "broken_rule", ModelRefused)
    assert error.repairable, vars(error)


async def an_empty_reply_is_an_error(stage: Stage) -> None:
    await _failure(stage, "empty", EmptyReply)


async def garbage_is_worth_another_try(stage: Stage) -> None:
    await _failure(stage, "garbage", ModelUnreachable)


async def a_page_of_a_proxy_is_worth_another_try(stage: Stage) -> None:
    await _failure(stage, "html", ModelUnreachable)


async def a_stream_that_never_begins_is_worth_another_try(stage: Stage) -> None:
    await _failure(stage, "nothing", ModelUnreachable)


async def a_stream_that_breaks_is_worth_another_try(stage: Stage) -> None:
    model = await stage.model(Breaks(), Says(text=TEXT))
    heard = Heard()
    await expect(ModelUnreachable, model.complete(ASKED, heard), "half a reply was taken")
    assert heard.texts, "what came before the break was not told"
    reply = await model.complete(ASKED)
    assert reply.message.text == TEXT, reply


async def nobody_there_is_worth_another_try(stage: Stage) -> None:
    model = await stage.model(IsGone())
    await expect(ModelUnreachable, model.complete(ASKED), "somebody answered")


async def silence_ends_by_the_idle_time_out(stage: Stage) -> None:
    _exact(stage)
    model = await stage.model(Stalls())
    error = await expect(ModelTimeout, model.complete(ASKED), "a reply without an end was taken")
    assert error.timeout_seconds > 0, vars(error)


async def cancelling_the_scope_ends_the_call(stage: Stage) -> None:
    model = await stage.model(Stalls(), Says(text=TEXT))
    with anyio.CancelScope() as scope:
        await model.complete(
            Request(messages=(user("Tell a long story of a ship."),)), Heard(scope.cancel)
        )
    assert scope.cancelled_caught, "the call came to an end by itself"
    await stage.stream_was_left()
    reply = await model.complete(ASKED)
    assert reply.message.text, "after a cancelled call the model is of no use"


async def calls_at_once_do_not_mix(stage: Stage) -> None:
    _exact(stage)
    said = {f"{name} " * 20 for name in ("ape", "bee", "cat", "dog", "eel")}
    model = await stage.model(*(Says(text=text) for text in said))
    replies: list[tuple[Reply, str]] = []

    async def ask() -> None:
        heard = Heard()
        reply = await model.complete(ASKED, heard)
        replies.append((reply, "".join(heard.texts)))

    async with anyio.create_task_group() as tasks:
        for _ in said:
            tasks.start_soon(ask)
    assert {reply.message.text for reply, _ in replies} == said, replies
    assert all(reply.message.text == heard for reply, heard in replies), replies


async def the_request_stays_as_it_was(stage: Stage) -> None:
    made = call("read_file", {"path": "a.txt"}, id="call_1")
    wire = {"role": "user", "content": [{"type": "text", "text": "hi"}]}
    messages = (
        Message(role="user", blocks=user("hi").blocks, origin=Origin.USER, wire=wire),
        Message(role="assistant", blocks=(made,), origin=Origin.ASSISTANT),
        results(result("call_1", "apples")),
    )
    request = Request(messages=messages, system="s", tools=(READ,), stable_messages=2)
    before = repr(request)
    model = await stage.model(Says(text=TEXT))
    await model.complete(request)
    assert repr(request) == before, request


async def _failure(stage: Stage, failure: Failure, kind: type[_Error]) -> _Error:
    _exact(stage)
    model = await stage.model(Fails(failure=failure))
    error = await expect(kind, model.complete(ASKED), f"{failure} was taken for a reply")
    assert model.name in str(error), f"{error} does not say which model"
    return error


def _exact(stage: Stage) -> None:
    """A real model cannot be made to answer just so."""
    if stage.is_real:
        raise CannotStage("a real model answers in its own words")


MODEL_CHECKS: tuple[ModelCheck, ...] = (
    it_says_what_it_is,
    a_reply_streams_in_and_comes_whole,
    nobody_needs_to_watch,
    thinking_is_kept_apart,
    a_call_comes_with_its_input,
    a_call_without_arguments_has_an_empty_input,
    parallel_calls_keep_their_order,
    a_conversation_goes_on_after_results,
    usage_adds_up_to_the_prompt,
    a_reply_cut_by_the_output_limit_says_so,
    a_refusal_of_the_model_says_so,
    an_overflow_names_both_numbers,
    an_overflow_told_in_the_stream_is_one,
    an_output_that_does_not_fit_is_no_overflow,
    a_rate_limit_names_the_wait,
    an_overloaded_server_is_worth_another_try,
    an_overload_told_in_the_stream_is_one,
    a_server_error_is_worth_another_try,
    a_wrong_key_is_told_as_one,
    an_unknown_model_is_refused_for_good,
    a_broken_rule_can_be_mended,
    an_empty_reply_is_an_error,
    garbage_is_worth_another_try,
    a_page_of_a_proxy_is_worth_another_try,
    a_stream_that_never_begins_is_worth_another_try,
    a_stream_that_breaks_is_worth_another_try,
    nobody_there_is_worth_another_try,
    silence_ends_by_the_idle_time_out,
    cancelling_the_scope_ends_the_call,
    calls_at_once_do_not_mix,
    the_request_stays_as_it_was,
)

REAL_MODEL_CHECKS: tuple[ModelCheck, ...] = (
    it_says_what_it_is,
    a_reply_streams_in_and_comes_whole,
    nobody_needs_to_watch,
    a_call_comes_with_its_input,
    a_conversation_goes_on_after_results,
    usage_adds_up_to_the_prompt,
    a_reply_cut_by_the_output_limit_says_so,
    an_overflow_names_both_numbers,
    cancelling_the_scope_ends_the_call,
    the_request_stays_as_it_was,
)
"""Those that a model answering in its own words can take part in."""
