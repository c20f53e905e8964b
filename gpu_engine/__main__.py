"""`python -m gpu_engine COMMAND`: a command is a module, imported only when it is asked for.

A command's module has `add_arguments(parser)` and `run(arguments) -> exit status`.
"""

from __future__ import annotations

import argparse
import sys
from importlib import import_module

COMMANDS = {
    "assemble": ("gpu_engine.assemble", "put the package's Base checkpoint together, for clones"),
    "bench": ("gpu_engine.bench", "measure a running product from outside"),
    "serve": ("gpu_engine.server.serve", "run an engine: gRPC front and supervised core"),
    "train": ("gpu_engine.train.cli", "train a checkpoint from speech, stage by stage"),
    "verify": ("gpu_engine.verify", "check a checkpoint, alone or against the reference package"),
}


def main(argv: list[str]) -> int:
    """Exit status of the command that `argv` names; 2 where it names none."""
    if not argv or argv[0] not in COMMANDS:
        asked = bool(argv) and argv[0] in ("-h", "--help")
        print(usage(), file=sys.stdout if asked else sys.stderr)
        return 0 if asked else 2
    name, summary = argv[0], COMMANDS[argv[0]][1]
    module = import_module(COMMANDS[name][0])
    parser = argparse.ArgumentParser(f"python -m gpu_engine {name}", description=summary)
    module.add_arguments(parser)
    status: int = module.run(parser.parse_args(argv[1:]))
    return status


def usage() -> str:
    """One line a command."""
    width = max(map(len, COMMANDS))
    lines = [f"  {name:{width}}  {summary}" for name, (_, summary) in COMMANDS.items()]
    return "\n".join(["usage: python -m gpu_engine COMMAND ...", "", *lines])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
