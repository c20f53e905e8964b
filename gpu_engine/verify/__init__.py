"""The `verify` command: does this checkpoint load, and does the engine agree with itself about it?

With --reference: does it agree with the official `qwen_tts` package, in every mode?
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path

import torch
from rich.console import Console
from rich.table import Table

from gpu_engine.errors import CheckpointError
from gpu_engine.models.checkpoint import Checkpoint, load_checkpoint
from gpu_engine.verify.checks import Check, self_checks
from gpu_engine.verify.reference import import_reference, reference_checks


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--checkpoint", type=Path, required=True, help="model directory")
    parser.add_argument("--reference", action="store_true", help="compare with qwen_tts as well")
    parser.add_argument("--device", default="cpu", help="cpu or cuda; always in float32")
    parser.add_argument("--frames", type=int, default=12, help="frames synthesised per check")


def run(arguments: argparse.Namespace) -> int:
    """0: everything agrees. 1: something does not, or the directory cannot be loaded."""
    console = Console()
    try:
        checkpoint = load_checkpoint(arguments.checkpoint, arguments.device)
    except CheckpointError as error:
        print(error, file=sys.stderr)
        return 1
    console.print(_describe(checkpoint))
    passed = _report(console, "Self-consistency", self_checks(checkpoint, arguments.frames))
    if arguments.reference:
        passed &= _compare(console, checkpoint, arguments.frames)
    return 0 if passed else 1


def _compare(console: Console, checkpoint: Checkpoint, frames: int) -> bool:
    try:
        package = import_reference()
    except ImportError as error:
        console.print(f"[red]{error}[/red]; see docs/parity.md for the environment it needs")
        return False
    checks = reference_checks(package, checkpoint, frames)
    return _report(console, "Against the reference package", checks)


def _describe(checkpoint: Checkpoint) -> Table:
    config = checkpoint.config
    title = f"{checkpoint.folder.name}: {config.kind} {config.size}, {checkpoint.fingerprint}"
    table = Table("module", "parameters", "type", title=title)
    modules: dict[str, torch.nn.Module | None] = {
        "talker": checkpoint.talker,
        "of it, code predictor": checkpoint.talker.code_predictor,
        "codec decoder": checkpoint.codec_decoder,
        "codec encoder": checkpoint.codec_encoder,
        "speaker encoder": checkpoint.speaker_encoder,
    }
    for name, module in modules.items():
        table.add_row(name, *_size(module))
    return table


def _size(module: torch.nn.Module | None) -> tuple[str, str]:
    if module is None:
        return "absent", ""
    parameters = list(module.parameters())
    return f"{sum(p.numel() for p in parameters):,}", str(parameters[0].dtype).removeprefix(
        "torch."
    )


def _report(console: Console, title: str, checks: Iterable[Check]) -> bool:
    table, passed = Table("check", "result", "detail", title=title), True
    for check in checks:
        table.add_row(check.name, "ok" if check.passed else "[red]FAILED[/red]", check.detail)
        passed &= check.passed
    console.print(table)
    return passed
