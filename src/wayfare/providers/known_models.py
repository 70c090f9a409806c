"""What is known of models and of compatible providers: two small tables with their sources."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Final, Literal, cast

from wayfare.model import Prices

Dialect = Literal["chat", "responses"]

UNKNOWN_WINDOW_TOKENS: Final = 200_000
"""Window believed of a model nobody told us about; a refusal teaches the true one."""

UNKNOWN_OUTPUT_TOKENS: Final = 16_384
"""Longest reply asked of such a model; most take it, and a refusal names the limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownModel:
    """Sizes and prices of a model, and the endpoint it works best with."""

    window_tokens: int = UNKNOWN_WINDOW_TOKENS
    max_output_tokens: int = UNKNOWN_OUTPUT_TOKENS
    prices: Prices = field(default_factory=Prices)
    dialect: Dialect = "chat"
    source: str = ""


@cache
def _table() -> Mapping[str, Mapping[str, Any]]:
    text = files("wayfare.providers").joinpath("known_models.toml").read_text("utf-8")
    return tomllib.loads(text)


def known_model(provider: str, model: str) -> KnownModel:
    """What the table says of a model, by the longest prefix of its name; defaults if nothing.

    A provider that serves other people's models (`vendor/model`) is looked up under each vendor.
    """
    name = model.rpartition("/")[2].lower().removesuffix(":free")
    tables = _table()
    own = [tables[provider]] if provider in tables else list(tables.values())
    best: tuple[str, Mapping[str, Any], str] | None = None
    for table in own:
        for prefix, row in table.items():
            longer = best is None or len(prefix) > len(best[0])
            if isinstance(row, Mapping) and name.startswith(prefix) and longer:
                found = cast("Mapping[str, Any]", row)
                best = (prefix, found, str(table["source"]))
    if best is None:
        return KnownModel()
    _, row, source = best
    return KnownModel(
        window_tokens=row["window"],
        max_output_tokens=row["output"],
        prices=_prices(row),
        dialect=row.get("dialect", "chat"),
        source=source,
    )


def _prices(row: Mapping[str, Any]) -> Prices:
    """The prices of a row; those of the cache are the usual ratios where it names none."""
    if "input" not in row:
        return Prices()
    price, ratios = float(row["input"]), Prices()
    return Prices(
        input=price,
        cache_read=row.get("cache_read", price * ratios.cache_read),
        cache_write=row.get("cache_write", price * ratios.cache_write),
        output=row["output_price"],
        currency="USD",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A provider that speaks the OpenAI format at an address of its own."""

    base_url: str
    key_variable: str
    source: str


PLACES: Final[Mapping[str, Place]] = {
    "deepseek": Place(
        base_url="https://api.deepseek.com",
        key_variable="DEEPSEEK_API_KEY",
        source="https://api-docs.deepseek.com",
    ),
    "moonshot": Place(
        base_url="https://api.moonshot.ai/v1",
        key_variable="MOONSHOT_API_KEY",
        source="https://platform.moonshot.ai/docs",
    ),
    "openrouter": Place(
        base_url="https://openrouter.ai/api/v1",
        key_variable="OPENROUTER_API_KEY",
        source="https://openrouter.ai/docs",
    ),
    "qwen": Place(
        base_url="https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
        key_variable="DASHSCOPE_API_KEY",
        source="https://www.alibabacloud.com/help/en/model-studio",
    ),
    "ollama": Place(
        base_url="http://127.0.0.1:11434/v1",
        key_variable="",
        source="https://docs.ollama.com/openai",
    ),
    "vllm": Place(
        base_url="http://127.0.0.1:8000/v1",
        key_variable="",
        source="https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html",
    ),
}
"""Compatible providers by the name a spec calls them; any other goes by `base_url`."""
