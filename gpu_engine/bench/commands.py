"""The measurements of `bench` that have a module of their own, by the name they are asked for."""

from __future__ import annotations

from argparse import ArgumentParser
from importlib import import_module
from pathlib import Path
from typing import Any

from gpu_engine.align.folder import SHIPPED

# Name, module, summary. A module has `add_arguments(parser)` and `run(arguments) -> exit status`.
LOADS = (
    ("load", "rates", "open loop at given rates, over HTTP or gRPC"),
    ("capacity", "capacity", "the highest rate that is served in time, and its cost"),
    ("gpu", "gpu", "load and capacity of an engine of its own, no checkpoint or control plane"),
    ("scheduler", "scheduler", "microseconds of a turn, without a device"),
    ("neighbours", "neighbours", "what one tenant's burst costs another's listeners"),
    ("voices", "voices", "first audio of clones beside a preset's, and listeners meanwhile"),
)
MODULES = {name: module for name, module, _ in LOADS}


def add_loads(measures: Any) -> None:
    """`measures` is what `add_subparsers` returned."""
    for name, module, summary in LOADS:
        parser: ArgumentParser = measures.add_parser(name, help=summary, description=summary)
        import_module(f"gpu_engine.bench.{module}").add_arguments(parser)
    summary = "how far word times are from the truth"
    _add_alignment(measures.add_parser("alignment", help=summary, description=summary))


def _add_alignment(parser: ArgumentParser) -> None:
    """Its module needs torch, which a load from outside does not."""
    add = parser.add_argument
    add("--corpus", required=True, help="speech with word times: a folder, or module:function")
    add("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of the corpus")
    add("--aligner", type=Path, default=SHIPPED, help="folder")
    add("--checkpoint", type=Path, help="whose speech is followed too; its times are not known")
    add("--seed", type=int, default=1, help="of that speech")
    add("--out", type=Path, default=Path("docs/benchmarks/alignment.json"), help="file")
