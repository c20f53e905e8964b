"""The table of kernel variants: floors, what is wanted, and that one failure is one line."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest
import torch

from gpu_engine import bench
from gpu_engine.bench import variants
from gpu_engine.bench.floors import floor_ms
from gpu_engine.bench.record import CODEC, PACKAGE, STEPS, Record, Verdict, source_of
from gpu_engine.bench.report import write
from gpu_engine.bench.trial_list import every_trial, is_wanted
from gpu_engine.bench.trials import Built, Trial, World
from gpu_engine.bench.variants import References, try_one


@pytest.fixture
def world() -> World:
    return World("1.7B", torch.device("meta"), False, 90)


@pytest.mark.parametrize(
    ("trial", "floor"),
    [
        (Trial("talker", "fused", 1), 0.661),
        (Trial("talker", "fused-fp8", 1), 0.333),
        (Trial("predictor", "early", 1), 0.563),
        (Trial("predictor", "fused-fp8", 1), 0.282),
        (Trial("codec", "module", 1, 1), 0.106),
        (Trial("kernel", "talker.qkv", 1), 0.004),
        (Trial("kernel", "talker.gate_up", 1), 0.012),
        (Trial("codec", "fused-fp16", 64, 4), 1.607),
    ],
    ids=lambda value: value.name if isinstance(value, Trial) else None,
)
def test_floors(world: World, trial: Trial, floor: float) -> None:
    """Weights once over 4.3 TB/s, or arithmetic over 790 TFLOP/s; FP8 reads half."""
    assert floor_ms(world, trial) == pytest.approx(floor, abs=0.002)


def test_what_is_learnt_first_comes_first(world: World) -> None:
    trials = list(every_trial(world, [1, 64], [1]))
    assert [trial.name for trial in trials[:5]] == [
        "predictor folded, 64 rows",
        "predictor library, 64 rows",
        "codec fused-fp16, 1 rows x 1 frames",
        "codec fused-fp16, 64 rows x 1 frames",
        "talker early, 1 rows",
    ]
    assert len(trials) == len(set(trials))


def test_a_choice_of_variants() -> None:
    trial = Trial("predictor", "early", 1)
    assert is_wanted(trial, ["all"])
    assert is_wanted(trial, ["predictor:early"])
    assert is_wanted(trial, ["early"])
    assert not is_wanted(trial, ["talker", "fused"])


def test_a_choice_of_nothing_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(variants, "pick_device", lambda _: torch.device("cpu"))
    with pytest.raises(SystemExit, match="no variant is called fussed: all, or any of"):
        variants.main(["--only", "fussed", "--out", str(tmp_path / "steps.json")])


HEAD = {"shapes": "1.7B", "context": 90}
TALKER, PREDICTOR = Trial("talker", "early", 1), Trial("predictor", "early", 1)


def measured(trial: Trial, p50_ms: float) -> Verdict:
    return Verdict(trial.module, trial.variant, trial.rows, trial.frames, "ok", p50_ms)


def test_a_run_adds_to_the_runs_before_it(tmp_path: Path) -> None:
    """Given two rows of one run, when one is measured again, then each row names its run."""
    file = tmp_path / "steps.json"
    first = Record(HEAD, "2.11", file, None)
    first.add(measured(TALKER, 1.4))
    first.add(measured(PREDICTOR, 2.0))
    before = json.loads(file.read_text())["runs"][0]["at"]
    write(json.loads(file.read_text().replace(before, "2026-01-01")), file)

    again = Record(HEAD, "2.12", file, file)
    assert again.has(TALKER)
    again.add(measured(TALKER, 1.2))

    result = json.loads(file.read_text())
    assert [run["torch"] for run in result["runs"]] == ["2.11", "2.12"]
    rows = [(row["module"], row["p50_ms"], row["at"]) for row in result["steps"]]
    now = result["runs"][1]["at"]
    assert rows == [("talker", 1.2, now), ("predictor", 2.0, "2026-01-01")]


def test_other_kernels_are_measured_again(tmp_path: Path) -> None:
    file = tmp_path / "steps.json"
    Record(HEAD, "2.11", file, None).add(measured(TALKER, 1.4))
    write(json.loads(file.read_text().replace(source_of("talker"), "0" * 12)), file)
    assert not Record(HEAD, "2.11", file, file).has(TALKER)


def test_what_failed_is_tried_again(tmp_path: Path) -> None:
    file = tmp_path / "steps.json"
    failed = Verdict("talker", "early", 1, 0, "failed", problem="ValueError: no")
    Record(HEAD, "2.11", file, None).add(failed)
    assert not Record(HEAD, "2.11", file, file).has(TALKER)


def test_times_of_other_shapes_are_not_added_to(tmp_path: Path) -> None:
    file = tmp_path / "steps.json"
    Record(HEAD, "2.11", file, None).add(measured(TALKER, 1.4))
    with pytest.raises(SystemExit, match="'context': 90"):
        Record({**HEAD, "context": 20}, "2.11", file, file)


def test_a_source_is_that_of_its_files(tmp_path: Path) -> None:
    assert source_of("talker") == source_of("predictor") != source_of("codec")
    assert source_of("talker", tmp_path) != source_of("talker")


def test_every_kernel_file_is_in_a_source() -> None:
    files = {f"kernels/fused/{file.name}" for file in (PACKAGE / "kernels/fused").glob("*.py")}
    assert files - {"kernels/fused/__init__.py"} <= {*STEPS, *CODEC}
    assert all((PACKAGE / name).exists() for name in (*STEPS, *CODEC))


def verdict_of(
    monkeypatch: pytest.MonkeyPatch, built: Built | Exception, check: bool, plain_db: float = 40.0
) -> Verdict:
    def build(_world: World, _trial: Trial) -> Built:
        if isinstance(built, Exception):
            raise built
        return built

    monkeypatch.setattr(variants, "build", build)
    world = World("1.7B", torch.device("cpu"), True, 20)
    trial = Trial("codec", "fused-fp16", 1, 1)
    verdict = Verdict(trial.module, trial.variant, trial.rows, trial.frames)
    references = References(world)
    monkeypatch.setattr(references, "codec", lambda *_: (torch.ones(1, 8), plain_db))
    try_one(world, references, verdict, check, 0.01)
    return verdict


def test_a_variant_that_fails_is_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    verdict = verdict_of(monkeypatch, ValueError("out of resource"), check=True)
    assert (verdict.state, verdict.problem) == ("failed", "ValueError: out of resource")
    assert verdict.p50_ms is None


def test_a_variant_that_is_wrong_is_told_and_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = Built(lambda: None, lambda: None, lambda: torch.full((1, 8), 1.5))
    verdict = verdict_of(monkeypatch, wrong, check=True)
    assert (verdict.state, verdict.snr_db) == ("wrong", 6.0)
    assert verdict.p50_ms is not None


def test_numbers_that_are_not_finite_are_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = Built(lambda: None, lambda: None, lambda: torch.full((1, 8), float("nan")))
    assert verdict_of(monkeypatch, broken, check=True).state == "wrong"


def test_a_right_variant(monkeypatch: pytest.MonkeyPatch) -> None:
    right = Built(lambda: None, lambda: None, lambda: torch.full((1, 8), 1.001))
    verdict = verdict_of(monkeypatch, right, check=True)
    assert (verdict.state, verdict.snr_db) == ("ok", 60.0)
    assert verdict.floor_ms is not None


def test_a_codec_may_be_as_imprecise_as_its_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    """26 dB are right where plain PyTorch reaches 30 in the same precision."""
    close = Built(lambda: None, lambda: None, lambda: torch.full((1, 8), 1.05))
    assert verdict_of(monkeypatch, close, check=True).state == "wrong"
    assert verdict_of(monkeypatch, close, check=True, plain_db=30.0).state == "ok"


def test_without_a_gpu_and_without_triton(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpu_engine.kernels.interpreter.is_installed", lambda: False)
    with pytest.raises(SystemExit, match="Triton is not installed"):
        variants.pick_device("cpu")


def test_no_gpu_where_one_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(SystemExit, match="no CUDA device answers"):
        variants.pick_device("cuda")


@pytest.mark.parametrize(
    ("words", "module"),
    [
        (["steps", "--variants", "all", "--check"], "variants"),
        (["steps"], "steps"),
        (["profile", "--rows", "8"], "profile"),
    ],
    ids=["variants", "steps", "profile"],
)
def test_each_measurement_is_asked_for_by_name(
    words: list[str], module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    class Module:
        def run(self, _arguments: argparse.Namespace) -> int:
            return 7

    def imported(name: str) -> Module:
        asked.append(name)
        return Module()

    parser = argparse.ArgumentParser()
    bench.add_arguments(parser)
    monkeypatch.setattr(bench, "import_module", imported)
    assert bench.run(parser.parse_args(words)) == 7
    assert asked == [f"gpu_engine.bench.{module}"]
