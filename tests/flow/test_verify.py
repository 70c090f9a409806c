"""The six experiments pass with a model that behaves, and every mutant turns its experiment red."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from wayfare.errors import ConfigError, ModelUnreachable
from wayfare.providers.local import LocalModel
from wayfare.providers.model_settings import ModelSettings
from wayfare.providers.scripted import ScriptedModel
from wayfare.verify.checks import MODEL_DONE
from wayfare.verify.experiments import EXPERIMENTS, Experiment, chosen, run_one
from wayfare.verify.mutants import MUTANTS, Mutant, run_mutant, unwatched
from wayfare.verify.stand_in import stand_in
from wayfare.verify.subject import Subject

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("preset", ["window", "classic"])
@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda one: one.key)
async def test_an_experiment_passes_with_a_model_that_behaves(
    experiment: Experiment, preset: str, tmp_path: Path
) -> None:
    subject = Subject(model=stand_in(), preset=preset)
    result = await run_one(subject, tmp_path, experiment)
    assert [(c.name, c.said, c.evidence) for c in result.failures] == []
    passed = {check.name for check in result.checks if check.verdict == "passed"}
    assert passed >= set(experiment.names)
    assert not any(check.stand_in for check in result.checks)
    assert (tmp_path / "requests.jsonl").stat().st_size > 0


@pytest.mark.parametrize("window_tokens", [4_096, 8_192, 64_000])
@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda one: one.key)
async def test_in_other_windows_as_well(
    experiment: Experiment, window_tokens: int, tmp_path: Path
) -> None:
    subject = Subject(model=stand_in(window_tokens), window_tokens=window_tokens)
    result = await run_one(subject, tmp_path, experiment)
    assert [(c.name, c.said, c.evidence) for c in result.failures] == []


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda one: f"{one.key}: {one.name}")
async def test_a_mechanism_switched_off_turns_its_experiment_red(
    mutant: Mutant, tmp_path: Path
) -> None:
    caught = await run_mutant(mutant, tmp_path)
    assert caught.missed == ()


def test_every_check_has_a_mutant() -> None:
    assert unwatched() == []


async def test_what_the_model_leaves_open_is_judged_with_the_stand_in(tmp_path: Path) -> None:
    idle = ScriptedModel(always="I would rather not.", window_tokens=16_000)
    (experiment,) = chosen(["documents"])
    result = await run_one(Subject(model=idle), tmp_path, experiment)
    assert result.verdict == "failed-model"
    own = {c.name: c.verdict for c in result.checks if not c.stand_in}
    assert own[MODEL_DONE] == "failed-model"
    assert set(own.values()) == {"failed-model", "skipped"}
    again = {c.name: c.verdict for c in result.checks if c.stand_in}
    assert again == dict.fromkeys(experiment.names, "passed")


async def test_a_model_that_cannot_be_reached_is_no_fault_of_ours(tmp_path: Path) -> None:
    gone = ScriptedModel(always=ModelUnreachable("no route to host"), window_tokens=16_000)
    (experiment,) = chosen(["2"])
    result = await run_one(Subject(model=gone), tmp_path, experiment)
    assert result.verdict == "failed-model"
    assert "no route to host" in result.failures[0].evidence[0]


def test_an_experiment_that_is_not_there_is_named() -> None:
    with pytest.raises(ConfigError, match="'7'"):
        chosen(["7"])


@pytest.fixture(scope="module")
def local(packaged_model: Path) -> Iterator[LocalModel]:
    """The packaged model, loaded for as long as these tests run."""
    model = LocalModel(packaged_model, settings=ModelSettings(extra_body={"temperature": 0.0}))
    model.process.join(model)
    yield model
    model.process.leave(model)


@pytest.mark.local_model
@pytest.mark.parametrize("key", ["documents", "large-output"])
async def test_the_packaged_model_comes_to_the_end(
    key: str, local: LocalModel, tmp_path: Path
) -> None:
    (experiment,) = chosen([key])
    subject = Subject(model=local, window_tokens=4_096, reply_tokens=24)
    result = await run_one(subject, tmp_path, experiment)
    # What such a model fails at is its own fault, and told apart by evidence.
    assert result.verdict in ("passed", "failed-model")
    assert all(check.evidence for check in result.failures)
    judged = {check.name for check in result.checks if check.verdict != "skipped"}
    assert judged >= set(experiment.names)
