"""From a spec to a model: which class, which address, which key, and what is said when not."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from wayfare.errors import ConfigError, ModelAuthError
from wayfare.model import Prices, format_of
from wayfare.providers.anthropic import AnthropicModel
from wayfare.providers.keys import NO_KEY, find_key, is_on_this_machine
from wayfare.providers.known_models import PLACES, known_model
from wayfare.providers.model_settings import ModelSettings
from wayfare.providers.openai import OpenAIChatModel
from wayfare.providers.openai_responses import OpenAIResponsesModel
from wayfare.providers.registry import FORMS, model_from
from wayfare.providers.scripted import ScriptedModel

KEYS = {
    "ANTHROPIC_API_KEY": "sk-ant-0123456789",
    "OPENAI_API_KEY": "sk-openai-0123456789",
    "OPENROUTER_API_KEY": "sk-or-0123456789",
}


def no_keyring(name: str) -> str | None:
    return None


def made(spec: str, environ: dict[str, str] = KEYS, **settings: Any) -> Any:
    return model_from(spec, ModelSettings(**settings), environ=environ, keyring=no_keyring)


class TestSpecs:
    @pytest.mark.parametrize(
        ("spec", "kind", "format"),
        [
            ("anthropic:claude-sonnet-5-5", AnthropicModel, "anthropic"),
            ("openai:gpt-4o", OpenAIChatModel, "openai-chat"),
            ("openai:gpt-6.2-sol", OpenAIResponsesModel, "openai-responses"),
            ("openai-chat:gpt-6.2-sol", OpenAIChatModel, "openai-chat"),
            ("openai-responses:gpt-4o", OpenAIResponsesModel, "openai-responses"),
            ("openrouter:anthropic/claude-opus-5-5", OpenAIChatModel, "openai-chat"),
            ("ollama:qwen3", OpenAIChatModel, "openai-chat"),
        ],
    )
    def test_lead_to_a_model_of_that_name(self, spec: str, kind: type, format: str) -> None:
        model = made(spec)
        assert type(model) is kind
        assert model.name == spec
        assert format_of(model) == format

    def test_of_a_script_lead_to_its_file(self, tmp_path: Path) -> None:
        path = tmp_path / "script.json"
        path.write_text(json.dumps(["hi"]), "utf-8")
        model = made(f"scripted:{path}")
        assert isinstance(model, ScriptedModel)
        assert model.left == 1

    def test_at_another_address_responses_are_not_assumed(self) -> None:
        model = made("openai:gpt-6.2-sol", base_url="http://127.0.0.1:8000/v1")
        assert isinstance(model, OpenAIChatModel)

    @pytest.mark.parametrize(
        ("spec", "hint"),
        [
            ("claude-sonnet-5-5", "did you mean anthropic:claude-sonnet-5-5"),
            ("gpt-4o", "did you mean openai:gpt-4o"),
            ("antropic:claude", "did you mean anthropic:MODEL"),
            ("models/x.gguf", "did you mean local:models/x.gguf"),
            ("", "unknown model ''"),
        ],
    )
    def test_that_are_unknown_name_the_nearest_and_all_there_are(
        self, spec: str, hint: str
    ) -> None:
        with pytest.raises(ConfigError) as caught:
            made(spec)
        assert hint in str(caught.value)
        assert all(form in str(caught.value) for form in FORMS.values())

    def test_without_a_model_show_the_form(self) -> None:
        with pytest.raises(ConfigError, match="anthropic:MODEL"):
            made("anthropic:")

    def test_import_no_sdk(self) -> None:
        script = (
            "import sys; from wayfare.providers.registry import model_from\n"
            "env = {'ANTHROPIC_API_KEY': 'k', 'OPENAI_API_KEY': 'k'}\n"
            "for spec in ('anthropic:claude-x', 'openai:gpt-x', 'openai-responses:gpt-x'):\n"
            "    model_from(spec, environ=env)\n"
            "print([m for m in ('anthropic', 'openai', 'httpx2', 'pydantic') if m in sys.modules])"
        )
        done = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == "[]"


class TestKeys:
    @pytest.mark.parametrize("spec", ["anthropic:claude-x", "openai:gpt-x", "deepseek:deepseek-x"])
    def test_that_are_missing_are_asked_for_in_three_lines(self, spec: str) -> None:
        with pytest.raises(ModelAuthError) as caught:
            made(spec, {})
        lines = str(caught.value).splitlines()
        assert len(lines) == 3
        variable = f"{spec.partition(':')[0].upper()}_API_KEY"
        assert variable in lines[0]
        assert f"keyring set wayfare {variable}" in lines[1]
        assert "wayfare local install" in lines[2]
        assert "--model local" in lines[2]

    def test_come_from_the_environment_before_the_keyring(self) -> None:
        def keyring(name: str) -> str | None:
            return f"{name} of the ring"

        first = find_key(("A", "B"), {"B": "b of the environment"}, keyring)
        second = find_key(("A", "B"), {"A": "  "}, keyring)
        assert first is not None
        assert second is not None
        assert first.reveal() == "b of the environment"
        assert (second.reveal(), second.source) == ("A of the ring", "keyring entry A")

    def test_do_not_show(self) -> None:
        key = find_key(("A",), {"A": "sk-hidden"}, no_keyring)
        assert "sk-hidden" not in f"{key} {key!r} {vars(type(key)).keys()}"
        with pytest.raises(TypeError):
            json.dumps(key)

    def test_do_not_show_in_a_model_either(self) -> None:
        for spec in ("anthropic:claude-x", "openai:gpt-x", "openai-responses:gpt-x"):
            seen: list[str] = []
            walk(made(spec), seen, 0)
            assert not any("0123456789" in text for text in seen), spec

    def test_are_sent_nowhere_but_where_they_belong(self) -> None:
        with pytest.raises(ConfigError, match="key_variable"):
            made("openai:gpt-x", base_url="https://elsewhere.example.test/v1")
        with pytest.raises(ConfigError, match="key_variable"):
            made("anthropic:claude-x", base_url="http://127.evil.example.test")
        model = made(
            "openai:gpt-x",
            {"ELSEWHERE_KEY": "k"},
            base_url="https://elsewhere.example.test/v1",
            key_variable="ELSEWHERE_KEY",
        )
        assert isinstance(model, OpenAIChatModel)

    @pytest.mark.parametrize(
        "url", ["http://127.0.0.1:8000/v1", "http://localhost:1", "http://[::1]:11434/v1"]
    )
    def test_are_not_needed_on_this_machine(self, url: str) -> None:
        assert is_on_this_machine(url)
        assert isinstance(made("openai:any", {}, base_url=url), OpenAIChatModel)
        assert isinstance(made("anthropic:any", {}, base_url=url), AnthropicModel)

    @pytest.mark.parametrize(
        "url", ["https://api.openai.com", "http://127.0.0.1.nip.io", "http://10.0.0.1", "localhost"]
    )
    def test_are_needed_anywhere_else(self, url: str) -> None:
        assert not is_on_this_machine(url)

    def test_of_nobody_are_no_secret(self) -> None:
        assert NO_KEY.reveal() == "no-key-needed"


def walk(value: Any, seen: list[str], depth: int) -> None:
    """The reprs of everything an object holds, as a debugger or a log would show them."""
    seen.append(repr(value))
    if depth < 4:
        for inner in vars(value).values() if hasattr(value, "__dict__") else ():
            walk(inner, seen, depth + 1)


class TestSizesAndPrices:
    def test_come_from_the_table_by_the_longest_prefix(self) -> None:
        model = made("anthropic:claude-opus-5-5-20260922")
        assert model.window_tokens == 1_000_000
        assert model.max_output_tokens == 128_000
        assert model.prices == Prices(
            input=4.0, cache_read=0.2, cache_write=5.0, output=20.0, currency="USD"
        )

    def test_of_a_model_behind_a_gateway_are_those_of_its_maker(self) -> None:
        assert made("openrouter:anthropic/claude-opus-5-5").prices.input == 4.0

    def test_of_an_unknown_model_are_sensible_and_no_money(self) -> None:
        model = made("openai:gpt-of-next-year")
        assert (model.window_tokens, model.max_output_tokens) == (200_000, 16_384)
        assert model.prices == Prices()
        assert model.prices.currency == ""

    def test_are_overridden_by_settings(self) -> None:
        prices = Prices(input=7.0, currency="EUR")
        model = made(
            "anthropic:claude-opus-5-5", window_tokens=50_000, max_output_tokens=9, prices=prices
        )
        assert (model.window_tokens, model.max_output_tokens, model.prices) == (50_000, 9, prices)

    def test_every_row_of_the_table_is_whole_and_says_where_it_was_read(self) -> None:
        for name in ("claude-fable-5-2", "gpt-6-luna", "deepseek-flash"):
            row = known_model("", name)
            assert row.source.startswith("https://")
            assert 0 < row.max_output_tokens <= row.window_tokens
            assert row.prices.cache_read <= row.prices.input <= row.prices.output

    def test_every_place_has_an_address(self) -> None:
        assert all(place.base_url.startswith("http") for place in PLACES.values())
