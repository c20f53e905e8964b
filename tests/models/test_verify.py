from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from gpu_engine.__main__ import COMMANDS, main
from gpu_engine.models.checkpoint import Checkpoint
from gpu_engine.verify.checks import Check, self_checks
from gpu_engine.verify.reference import modes

CUSTOM, BASE, DESIGN = "tiny-1b7-custom_voice", "tiny-1b7-base", "tiny-1b7-voice_design"


@pytest.mark.parametrize("name", [CUSTOM, BASE, DESIGN])
def test_it_works(name: str, checkpoint: Callable[[str], Checkpoint]) -> None:
    checks = list(self_checks(checkpoint(name), frames=3))
    assert [check for check in checks if not check.passed] == []
    assert len(checks) >= 7


def test_the_command_reports_and_exits_with_0(
    checkpoint_folder: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(checkpoint_folder(CUSTOM))
    assert main(["verify", "--checkpoint", folder, "--frames", "2"]) == 0
    assert "streamed audio equals whole" in capsys.readouterr().out


def test_a_folder_that_cannot_be_loaded_exits_with_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verify", "--checkpoint", str(tmp_path)]) == 1
    remedy = "--checkpoint, PARLANCE_CHECKPOINT or --aligner names a folder in the official layout"
    assert capsys.readouterr().err == f"{tmp_path}/config.json: missing: {remedy}\n"


@pytest.mark.skipif(importlib.util.find_spec("qwen_tts") is not None, reason="qwen_tts is here")
def test_a_missing_reference_package_exits_with_1(
    checkpoint_folder: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(checkpoint_folder(CUSTOM))
    assert main(["verify", "--checkpoint", folder, "--frames", "2", "--reference"]) == 1
    assert "docs/parity.md" in capsys.readouterr().out


def test_a_broken_codec_fails_a_check(checkpoint: Callable[[str], Checkpoint]) -> None:
    loaded = checkpoint(CUSTOM)
    silent = replace(loaded, codec_decoder=_Silent(loaded.codec_decoder))  # type: ignore[arg-type]
    failed = [check.name for check in self_checks(silent, frames=2) if not check.passed]
    assert failed == ["finite audio"]


class _Silent(torch.nn.Module):
    """A decoder whose weights are gone: every sample is zero, streamed and whole alike."""

    def __init__(self, decoder: torch.nn.Module) -> None:
        super().__init__()
        self.decoder = decoder
        self.config, self.initial_state = decoder.config, decoder.initial_state

    def forward(self, codes: torch.Tensor) -> torch.Tensor:
        return torch.zeros_like(self.decoder(codes))

    def decode(self, codes: torch.Tensor) -> torch.Tensor:
        return self(codes)

    def step(self, codes: torch.Tensor, state: object) -> tuple[torch.Tensor, object]:
        return self(codes), state


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (CUSTOM, {"instructions", "dialect of dylan", "streaming"}),
        (BASE, {"in context, full text", "in context, streaming"}),
        (DESIGN, {"no description", "language auto"}),
    ],
)
def test_every_mode_of_a_kind_is_compared(
    name: str, expected: set[str], checkpoint: Callable[[str], Checkpoint]
) -> None:
    assert expected <= set(modes(checkpoint(name)))


def test_unequal_shapes_fail() -> None:
    check = Check.close("x", torch.zeros(2), torch.zeros(3))
    assert (check.passed, check.detail) == (False, "shape [2], expected [3]")


def test_unequal_values_fail() -> None:
    assert not Check.close("x", torch.tensor([1.0]), torch.tensor([1.001])).passed


def test_unequal_integers_are_counted() -> None:
    check = Check.equal("x", torch.tensor([1, 2]), torch.tensor([1, 3]))
    assert (check.passed, check.detail) == (False, "1 of 2 equal")


@pytest.mark.parametrize("argv", [[], ["sing"]])
def test_no_known_command_exits_with_2(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(argv) == 2
    printed = capsys.readouterr().err
    assert [name for name in COMMANDS if name not in printed] == []


def test_help_lists_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    assert "verify" in capsys.readouterr().out
