"""`python -m gpu_engine bench`: measures a running product from outside, as its clients see it;
`bench steps` measures an engine's modules from inside, without any server."""

from __future__ import annotations

import argparse
import asyncio
import os
from importlib import import_module
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress

from gpu_engine.bench import load, report
from gpu_engine.bench.client import Target, speak
from gpu_engine.bench.commands import MODULES, add_loads
from gpu_engine.bench.machine import describe
from gpu_engine.bench.summary import lead, real_time_factor, summarize
from gpu_engine.server.settings import default_checkpoint

ALONE, TOGETHER, ROUNDS = 3, 8, 2
FAILED = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--url", default=os.environ.get("PARLANCE_URL", "http://127.0.0.1:8000"))
    add("--key", default=os.environ.get("PARLANCE_KEY", ""), help="an API key")
    add("--voice", default="alloy")
    add("--rates", type=float, nargs="+", default=[1.0], help="requests a second, open loop")
    add("--seconds", type=float, default=40.0, help="length of each window")
    add("--warm-up", type=int, default=3, help="requests that do not count")
    add("--seed", type=int, default=1)
    add("--name", default="local", help="of the files")
    add("--out", type=Path, default=Path("docs/benchmarks"), help="folder")
    start = os.environ.get("PARLANCE_START_SECONDS")
    add("--start-seconds", type=float, default=start, help="of the product's second start")
    setup = os.environ.get("PARLANCE_SETUP_SECONDS")
    add("--setup-seconds", type=float, default=setup, help="of make setup in a bare clone")
    measures = parser.add_subparsers(dest="measure", metavar="MEASURE")
    steps = measures.add_parser("steps", help="milliseconds of each module by batch")
    _add_steps(steps)
    _add_variants(steps)
    _add_profile(measures.add_parser("profile", help="a frame as a trace for Perfetto"))
    add_loads(measures)


def _add_steps(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    shipped = default_checkpoint()
    add("--checkpoint", default=shipped, required=not shipped, help="folder, official layout")
    add("--device", default="auto", choices=["auto", "cpu", "cuda"])
    add("--threads", type=int, default=0, help="CPU threads")
    add("--kernels", default="auto", choices=["auto", "torch"], help="of a small model on a CPU")
    add("--rows", type=int, nargs="+", default=[1, 2, 4, 8], help="streams in a batch")
    add("--frames", type=int, nargs="+", default=[1, 2, 4, 8], help="frames of a codec decode")
    add("--context", type=int, default=100, help="positions behind each Talker step")
    add("--seconds", type=float, default=1.0, help="length of each measurement")
    add("--out", type=Path, default=Path("docs/benchmarks/steps.json"), help="file")


def _add_variants(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--variants",
        nargs="+",
        default=[],
        help="a GPU's kernels, no checkpoint: all, or any of: module, variant, module:variant",
    )
    add("--official", default="1.7B", choices=["1.7B", "0.6B"], help="shapes, random weights")
    add("--check", action="store_true", help="compare each variant with plain PyTorch")
    add("--budget", type=float, default=420.0, help="seconds after which no variant is begun")
    add("--skip-done", type=Path, help="file of a run before: what these kernels did stays")


def _add_profile(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--device", default="auto", choices=["auto", "cpu", "cuda"])
    add("--official", default="1.7B", choices=["1.7B", "0.6B"], help="shapes, random weights")
    add("--rows", type=int, default=1)
    add("--frames", type=int, default=1, help="of the codec's decode")
    add("--context", type=int, default=90, help="positions behind the Talker step")
    add("--talker", default="fused", help="variant")
    add("--predictor", default="fused", help="variant")
    add("--codec", default="fused-fp16", help="variant")
    add("--out", type=Path, default=Path("docs/benchmarks/profile.json"), help="file")


def run(arguments: argparse.Namespace) -> int:
    """Exit status 1 where a request failed: figures are then no figures."""
    if arguments.measure is not None:
        # These need torch, which a load from outside does not.
        name = "variants" if getattr(arguments, "variants", None) else arguments.measure
        name = MODULES.get(name, name)
        status: int = import_module(f"gpu_engine.bench.{name}").run(arguments)
        return status
    from gpu_engine.bench import plot

    console = Console()
    result = {"machine": describe(), "seed": arguments.seed}
    result |= asyncio.run(measure(arguments, console))
    result["start_seconds"] = arguments.start_seconds
    result["setup_seconds"] = arguments.setup_seconds
    result["targets"] = [vars(line) for line in report.targets(result)]
    report.write(result, arguments.out / f"{arguments.name}.json")
    plot.draw(result, arguments.out / f"{arguments.name}.png")
    console.print(report.load_table(result))
    console.print(report.target_table(result))
    console.print(f"{arguments.out / arguments.name}.json, .png")
    return FAILED if any(row["failed"] for row in result["open_loop"]) else 0


async def measure(arguments: argparse.Namespace, console: Console) -> dict[str, Any]:
    target = Target(arguments.url, arguments.key, arguments.voice)
    with Progress(console=console) as progress:
        for number in progress.track(range(arguments.warm_up), description="warm-up"):
            take = await speak(target, "This one does not count.", number)
            if take.failure:
                raise SystemExit(f"{arguments.url} does not speak: {take.failure}")
        rows = [await _open_loop(target, arguments, rate, progress) for rate in arguments.rates]
        alone = progress.add_task("one stream alone", total=ALONE)
        texts = load.long_texts(ALONE, arguments.seed)
        single = await load.one_by_one(target, texts, arguments.seed)
        progress.update(alone, completed=ALONE)
        rounds = []
        for number in progress.track(range(ROUNDS), description=f"{TOGETHER} streams together"):
            texts = load.long_texts(TOGETHER, arguments.seed + TOGETHER * number)
            rounds.append(await load.together(target, texts, arguments.seed))
    return {
        "open_loop": rows,
        "alone": [real_time_factor(take) for take in single if take.samples],
        "together": [_round(takes) for takes in rounds],
    }


async def _open_loop(
    target: Target, arguments: argparse.Namespace, rate: float, progress: Progress
) -> dict[str, Any]:
    expected = len(load.poisson(rate, arguments.seconds, arguments.seed))
    bar = progress.add_task(f"{rate:g} requests/s", total=expected)
    takes = await load.open_loop(
        target,
        rate,
        arguments.seconds,
        arguments.seed,
        lambda ended: progress.update(bar, completed=ended),
    )
    return {"rate": rate, "seconds": arguments.seconds, **summarize(takes, arguments.seconds)}


def _round(takes: list[Any]) -> dict[str, Any]:
    """Streams at once: the summary, and each stream's lead over its listener."""
    longest = max(take.total for take in takes)
    return {
        **summarize(takes, longest),
        "lead": [
            [(round(at, 3), round(ahead, 3)) for at, ahead in lead(t)] for t in takes if t.pcm
        ],
    }
