"""The simulated provider: exact sizes, refusals in the provider's words, a prefix cache."""

from __future__ import annotations

from typing import Any

import pytest
import toktok
from bench.judges.counting import IMAGE_TOKENS, message_tokens
from bench.judges.prefix_cache import PrefixCache
from bench.judges.provider import Prices, Refusal, SimulatedProvider, Usage, reserve_tokens
from bench.wire import FORMATS

PARTS = [bytes([n]) for n in range(10)]


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def test_count_grows_by_the_tokens_of_the_text() -> None:
    text = "上下文 governance of a long-running agent\n" * 50
    (exact,) = toktok.batch_count([text], "o200k_base")
    empty = message_tokens(user(""), "anthropic")
    assert message_tokens(user(text), "anthropic") - empty == exact


def test_image_counts_its_tokens_and_not_its_base64() -> None:
    def image(data: str) -> dict[str, Any]:
        source = {"type": "base64", "media_type": "image/png", "data": data}
        inner = [{"type": "image", "source": source}]
        block = {"type": "tool_result", "tool_use_id": "t", "content": inner}
        return {"role": "user", "content": [block]}

    small, large = (
        message_tokens(image("aa"), "anthropic"),
        message_tokens(image("ab" * 50_000), "anthropic"),
    )
    assert small == large
    assert IMAGE_TOKENS < large < IMAGE_TOKENS + 20


def test_lone_surrogate_is_counted_and_does_not_stop_the_judge() -> None:
    assert message_tokens(user("a\ud800b"), "openai-chat") > 0


@pytest.mark.parametrize("format", FORMATS)
def test_request_is_refused_one_token_past_the_window(format: Any) -> None:
    message = user("word " * 500)
    sent = SimulatedProvider(None, format).send({"messages": [message]}).sent_tokens
    SimulatedProvider(sent + 100, format, reserve=100).send({"messages": [message]})
    with pytest.raises(Refusal) as refused:
        SimulatedProvider(sent + 99, format, reserve=100).send({"messages": [message]})
    assert refused.value.sent_tokens == sent
    assert refused.value.limit_tokens == sent - 1
    assert refused.value.status == 400


def test_refusals_are_worded_as_the_providers_word_them() -> None:
    request = {"messages": [user("word " * 20_000)]}
    said: dict[str, str] = {}
    for format in FORMATS:
        with pytest.raises(Refusal) as refused:
            SimulatedProvider(12_500, format).send(request)
        said[format] = refused.value.body["error"]["message"]
    assert said["anthropic"].startswith("prompt is too long: 20")
    assert said["anthropic"].endswith("tokens > 12500 maximum")
    assert said["openai-chat"].startswith("This model's maximum context length is 12500 tokens.")
    assert said["openai-responses"].startswith("Your input exceeds the context window")


@pytest.mark.parametrize(
    ("window", "reserve"), [(12_500, 3_125), (50_000, 12_500), (200_000, 20_000)]
)
def test_reserve_is_a_quarter_of_the_window_and_20_000_at_most(window: int, reserve: int) -> None:
    assert reserve_tokens(window) == reserve


def test_growing_request_reads_what_was_sent_and_writes_the_rest() -> None:
    provider = SimulatedProvider(None, "anthropic", minimum_cache_tokens=10)
    first, second = user("alpha " * 200), user("beta " * 100)
    one = provider.send({"messages": [first]}, now_seconds=0)
    two = provider.send({"messages": [first, second]}, now_seconds=60, output_tokens=7)
    assert (one.cache_read, one.input) == (0, 0)
    assert two.cache_read == one.cache_write
    assert two.cache_write == two.sent_tokens - one.sent_tokens
    assert two.output == 7


def test_equal_content_in_another_object_is_the_same_prefix() -> None:
    provider = SimulatedProvider(None, "anthropic", minimum_cache_tokens=10)
    provider.send({"messages": [user("alpha " * 200)]})
    again = provider.send({"messages": [user("alpha " * 200), user("more")]})
    assert again.cache_read > 200


def test_changed_system_prompt_reads_nothing() -> None:
    provider = SimulatedProvider(None, "anthropic", minimum_cache_tokens=10)
    messages = [user("alpha " * 200)]
    provider.send({"system": "one", "messages": messages})
    assert provider.send({"system": "two", "messages": messages}).cache_read == 0


def test_cache_reads_up_to_the_first_changed_message() -> None:
    cache = PrefixCache(minimum_tokens=0)
    cache.split(PARTS[:5], [10] * 5, 0.0)
    split = cache.split([*PARTS[:3], PARTS[7], PARTS[8]], [10] * 5, 1.0)
    assert (split.read_tokens, split.write_tokens) == (30, 20)
    # The first request is still known: going back to it reads it whole.
    assert cache.split(PARTS[:5], [10] * 5, 2.0).read_tokens == 50


def test_cache_forgets_after_its_lifetime_and_a_read_renews_it() -> None:
    cache = PrefixCache(minimum_tokens=0, lifetime_seconds=300)
    cache.split(PARTS[:2], [10, 10], 0.0)
    assert cache.split(PARTS[:2], [10, 10], 300.0).read_tokens == 20
    assert cache.split(PARTS[:2], [10, 10], 600.0).read_tokens == 20
    assert cache.split(PARTS[:2], [10, 10], 900.1).read_tokens == 0


def test_prefix_under_the_minimum_is_neither_written_nor_read() -> None:
    cache = PrefixCache(minimum_tokens=25)
    small = cache.split(PARTS[:2], [10, 10], 0.0)
    assert (small.plain_tokens, small.write_tokens) == (20, 0)
    assert cache.split(PARTS[:3], [10] * 3, 1.0).read_tokens == 0
    assert cache.split(PARTS[:4], [10] * 4, 2.0).read_tokens == 30


def test_cost_weighs_reads_writes_and_plain_tokens() -> None:
    usage = Usage(input=100, cache_read=1_000, cache_write=200, output=50)
    assert usage.cost(Prices()) == pytest.approx(100 + 100 + 250)
