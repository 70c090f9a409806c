"""The one seam: every exception of the SDKs and of the transport becomes one of ours."""

from __future__ import annotations

import inspect
import json
from typing import Any

import anthropic
import httpx2
import openai
import pytest

from wayfare.errors import (
    ModelAuthError,
    ModelError,
    ModelRateLimited,
    ModelRefused,
    ModelTimeout,
    ModelUnreachable,
    OutputTooLarge,
    PromptTooLong,
)
from wayfare.providers.errors_from import (
    FATES,
    Asked,
    Garbled,
    fate_of,
    model_error,
    translated,
)

REQUEST = httpx2.Request("POST", "https://user:secret@api.example.test/v1/messages")
ASKED = Asked(
    provider="anthropic:claude-test",
    window_tokens=200_000,
    reserve_tokens=8_000,
    idle_seconds=30.0,
    key_hint="environment variable ANTHROPIC_API_KEY",
)


def exception_classes(module: Any, base: type[BaseException]) -> list[type[BaseException]]:
    found = {
        kind
        for _, kind in inspect.getmembers(module, inspect.isclass)
        if issubclass(kind, base) or kind.__name__.endswith("Error")
    }
    found |= set(all_subclasses(base))
    return sorted(
        (kind for kind in found if kind.__module__.partition(".")[0] == module.__name__),
        key=lambda kind: kind.__name__,
    )


def all_subclasses(kind: type[BaseException]) -> list[type[BaseException]]:
    return [one for sub in kind.__subclasses__() for one in (sub, *all_subclasses(sub))]


SDK_CLASSES = [
    *exception_classes(anthropic, anthropic.AnthropicError),
    *exception_classes(openai, openai.OpenAIError),
]
TRANSPORT_CLASSES = [httpx2.HTTPError, *all_subclasses(httpx2.HTTPError), httpx2.StreamError]


def status_error(sdk: Any, status: int, body: object, **headers: str) -> Exception:
    response = httpx2.Response(status, request=REQUEST, headers=headers)
    return sdk.APIStatusError("the SDK's own words", response=response, body=body)


ELSEWHERE = (".lib.beta.agents", ".lib.tools", "._old_api", "_AmbiguousModuleClientUsageError")
"""Parts of the SDKs that wayfare never calls."""


class TestEveryClass:
    @pytest.mark.parametrize(
        "kind", SDK_CLASSES, ids=lambda kind: f"{kind.__module__}.{kind.__name__}"
    )
    def test_of_an_sdk_has_a_fate_of_its_own(self, kind: type[BaseException]) -> None:
        """What carries a status is read as an answer, every other class is named in the table:
        a new one of a new SDK fails here until somebody has looked at it."""
        assert fate_of(kind) is not None
        named = {parent.__name__ for parent in kind.__mro__ if parent.__name__ in FATES}
        is_seen = bool(named - {"AnthropicError", "OpenAIError"})
        is_parent = kind in (anthropic.AnthropicError, openai.OpenAIError)
        is_elsewhere = any(part in f"{kind.__module__}.{kind.__name__}" for part in ELSEWHERE)
        assert is_seen or is_parent or is_elsewhere, f"{kind} is in no row of FATES"

    def test_of_both_sdks_was_found(self) -> None:
        assert len(SDK_CLASSES) > 40, "the SDKs hide their exceptions from this test"

    @pytest.mark.parametrize("kind", TRANSPORT_CLASSES, ids=lambda kind: kind.__name__)
    def test_of_the_transport_is_a_lost_connection_or_silence(
        self, kind: type[BaseException]
    ) -> None:
        assert fate_of(kind) == ("timeout" if "Timeout" in kind.__name__ else "unreachable")

    def test_of_our_own_code_passes(self) -> None:
        for error in (KeyError("x"), TypeError("x"), ValueError("x"), AssertionError("x")):
            assert model_error(error, ASKED) is None
            with pytest.raises(type(error)), translated(ASKED):
                raise error

    def test_that_is_ours_already_passes_unchanged(self) -> None:
        ours = ModelRefused("no", provider="x")
        with pytest.raises(ModelRefused) as caught, translated(ASKED):
            raise ours
        assert caught.value is ours


class TestWithAnAnswer:
    @pytest.mark.parametrize("sdk", [anthropic, openai], ids=lambda sdk: sdk.__name__)
    @pytest.mark.parametrize(
        ("status", "text", "kind"),
        [
            (400, "prompt is too long: 219898 tokens > 200000 maximum", PromptTooLong),
            (413, "Request exceeds the maximum size", PromptTooLong),
            (
                400,
                "max_tokens: 99999 > 8192, which is the maximum allowed number of output tokens for x",
                OutputTooLarge,
            ),
            (401, "invalid key", ModelAuthError),
            (402, "Insufficient Balance", ModelRefused),
            (403, "not allowed for this key", ModelAuthError),
            (404, "no such model", ModelRefused),
            (429, "slow down", ModelRateLimited),
            (500, "internal", ModelUnreachable),
            (503, "unavailable", ModelUnreachable),
            (529, "Overloaded", ModelUnreachable),
        ],
    )
    def test_the_class_says_what_cures_it(
        self, sdk: Any, status: int, text: str, kind: type[ModelError]
    ) -> None:
        found = model_error(status_error(sdk, status, {"error": {"message": text}}), ASKED)
        assert type(found) is kind, found
        assert (found.status, found.provider) == (status, "anthropic:claude-test")
        assert text in str(found)

    def test_it_carries_the_request_id_of_either_provider(self) -> None:
        for sdk, header in ((anthropic, "request-id"), (openai, "x-request-id")):
            found = model_error(status_error(sdk, 500, None, **{header: "req_7"}), ASKED)
            assert found is not None
            assert found.request_id == "req_7"

    def test_it_carries_the_wait(self) -> None:
        for status in (429, 503):
            found = model_error(
                status_error(anthropic, status, None, **{"retry-after": "12"}), ASKED
            )
            assert isinstance(found, ModelRateLimited | ModelUnreachable)
            assert found.retry_after_seconds == 12.0

    def test_one_request_above_a_cap_over_a_minute_is_to_be_shrunk(self) -> None:
        text = "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 53123."
        found = model_error(status_error(openai, 429, {"message": text}), ASKED)
        assert isinstance(found, PromptTooLong)
        assert found.limit_tokens == 30_000

    def test_sizes_decide_where_a_refusal_gives_no_reason(self) -> None:
        asked = [
            Asked(provider="m", window_tokens=100_000, estimate=lambda n=n: n)
            for n in (1_000, 95_000)
        ]
        refusal = status_error(openai, 400, {"message": "Bad Request"})
        small, large = (model_error(refusal, one) for one in asked)
        assert isinstance(small, ModelRefused)
        assert isinstance(large, PromptTooLong)

    def test_our_own_count_is_asked_only_when_something_failed(self) -> None:
        def count() -> int:
            raise AssertionError("counted without need")

        with translated(Asked(provider="m", estimate=count)):
            pass

    def test_an_error_of_a_stream_is_one_though_its_status_says_200(self) -> None:
        body = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
        found = model_error(status_error(anthropic, 200, body), ASKED)
        assert isinstance(found, ModelUnreachable)
        assert found.status is None

    def test_a_wrong_key_says_where_it_was_taken_from(self) -> None:
        found = model_error(status_error(anthropic, 401, {"error": {"message": "no"}}), ASKED)
        assert "environment variable ANTHROPIC_API_KEY" in str(found)


class TestWithoutAnAnswer:
    def test_silence_names_the_idle_time(self) -> None:
        error = openai.APITimeoutError(request=REQUEST)
        error.__cause__ = httpx2.ReadTimeout("")
        found = model_error(error, ASKED)
        assert isinstance(found, ModelTimeout)
        assert found.timeout_seconds == 30.0

    def test_a_host_that_takes_no_connection_is_not_there(self) -> None:
        error = anthropic.APITimeoutError(request=REQUEST)
        error.__cause__ = httpx2.ConnectTimeout("")
        assert isinstance(model_error(error, ASKED), ModelUnreachable)

    def test_the_host_is_named_without_credentials_and_path(self) -> None:
        error = anthropic.APIConnectionError(request=REQUEST)
        error.__cause__ = httpx2.ConnectError("[Errno 111] Connection refused")
        text = str(model_error(error, ASKED))
        assert "cannot connect to https://api.example.test: [Errno 111]" in text
        assert "secret" not in text

    def test_what_is_no_json_cannot_be_read(self) -> None:
        for error in (
            json.JSONDecodeError("Expecting value", "x", 0),
            UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"),
            Garbled("it stops"),
        ):
            found = model_error(error, ASKED)
            assert isinstance(found, ModelUnreachable)
            assert "cannot be read" in str(found)

    def test_a_client_without_a_key_is_an_authentication_failure(self) -> None:
        with pytest.raises(ModelAuthError), translated(ASKED):
            openai.AsyncOpenAI(api_key=None)
