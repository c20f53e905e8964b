"""The measurements of `bench` that have a module of their own, by the name they are asked for."""

from __future__ import annotations

from argparse import ArgumentParser
from importlib import import_module
from typing import Any

# Name, module, summary. A module has `add_arguments(parser)` and `run(arguments) -> exit status`.
LOADS = (
    ("load", "rates", "open loop at given rates, over HTTP or gRPC"),
    ("capacity", "capacity", "the highest rate that is served in time, and its cost"),
    ("scheduler", "scheduler", "microseconds of a turn, without a device"),
)
MODULES = {name: module for name, module, _ in LOADS}


def add_loads(measures: Any) -> None:
    """`measures` is what `add_subparsers` returned."""
    for name, module, summary in LOADS:
        parser: ArgumentParser = measures.add_parser(name, help=summary, description=summary)
        import_module(f"gpu_engine.bench.{module}").add_arguments(parser)
