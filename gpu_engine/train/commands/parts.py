"""`train pack` and `train unpack`."""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from gpu_engine.train.commands.common import Stages, new_stage
from gpu_engine.train.parts import pack, unpack


def add(stages: Stages) -> None:  # type: ignore[valid-type]
    stage = new_stage(stages, "pack", "files and folders in parts of one size", _pack)
    stage.add_argument("paths", type=Path, nargs="+")
    stage.add_argument("--out", type=Path, required=True, help="holds nothing but the parts then")
    stage.add_argument("--size", type=float, default=13.0, help="MiB of a part")
    stage = new_stage(stages, "unpack", "parts, as they come; the last one unpacks them", _unpack)
    stage.add_argument("parts", type=Path, nargs="+", help="folders that `train pack` made")
    stage.add_argument("--out", type=Path, required=True)


def _pack(args: argparse.Namespace) -> None:
    shutil.rmtree(args.out, ignore_errors=True)
    count = pack(args.paths, args.out, int(args.size * 2**20))
    print(f"{count} parts in {args.out}")


def _unpack(args: argparse.Namespace) -> None:
    missing = unpack(args.parts, args.out)
    print(f"missing: {', '.join(map(str, missing))}" if missing else f"all is in {args.out}")
