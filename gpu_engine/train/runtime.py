"""What every training stage shares: ranks, flat gradients, captured steps, schedule, log, files."""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import torch
import torch.distributed as dist
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

PARTIAL = ".part"  # of a file that is still being written
SHARD_BYTES = 15 * 2**20  # small enough to travel one by one
WARM_UP_CALLS = 3  # eager calls before a capture: lazy initialisation and autotuning stay out of it


@dataclass(frozen=True, slots=True)
class World:
    """This process among its peers (torchrun's environment; alone without it)."""

    rank: int
    size: int
    device: torch.device

    @property
    def leads(self) -> bool:
        return self.rank == 0


def join_world(device: str = "auto") -> World:
    size, rank = int(os.environ.get("WORLD_SIZE", "1")), int(os.environ.get("RANK", "0"))
    cuda = device == "cuda" or (device == "auto" and torch.cuda.is_available())
    if cuda:
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    if size > 1:
        dist.init_process_group("nccl" if cuda else "gloo")
    here = torch.device("cuda", torch.cuda.current_device()) if cuda else torch.device("cpu")
    return World(rank, size, here)


class FlatGradients:
    """All gradients of some parameters as one buffer: one collective, one norm, one clip."""

    def __init__(self, parameters: Iterable[nn.Parameter], world: World) -> None:
        self.parameters = [p for p in parameters if p.requires_grad]
        self._world = world
        total = sum(p.numel() for p in self.parameters)
        self.buffer = torch.zeros(total, device=world.device)
        offset = 0
        for p in self.parameters:
            p.grad = self.buffer[offset : offset + p.numel()].view_as(p)
            offset += p.numel()

    def zero(self) -> None:
        self.buffer.zero_()

    def average(self) -> None:
        average(self.buffer, self._world)

    def clip(self, most: float) -> Tensor:
        """Scales to a norm of at most `most`, anything not finite to zero; the norm before."""
        norm: Tensor = self.buffer.norm()
        scale = (most / (norm + 1e-6)).clamp(max=1.0)
        self.buffer.mul_(scale).nan_to_num_(0.0, 0.0, 0.0)
        return norm


def average(tensor: Tensor, world: World) -> None:
    if world.size > 1:
        dist.all_reduce(tensor)
        tensor.div_(world.size)


def agreed(value: float, world: World) -> float:
    """The first rank's value, on every rank."""
    if world.size == 1:
        return value
    shared = torch.tensor([value], dtype=torch.float64, device=world.device)
    dist.broadcast(shared, 0)
    return float(shared)


def share_weights(module: nn.Module, world: World) -> None:
    """Every rank starts from the first rank's weights and buffers."""
    if world.size > 1:
        for tensor in module.state_dict().values():
            dist.broadcast(tensor, 0)


class Captured:
    """A step without arguments or results, eager at first, then replayed as a CUDA graph."""

    def __init__(self, step: Callable[[], None], world: World) -> None:
        self._step, self._cuda = step, world.device.type == "cuda"
        self._calls = 0
        self._graph: torch.cuda.CUDAGraph | None = None

    def __call__(self) -> None:
        if self._graph is not None:
            self._graph.replay()
        elif not self._cuda or self._calls < WARM_UP_CALLS:
            self._calls += 1
            self._eagerly()
        else:
            torch.cuda.synchronize()
            self._graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self._graph, capture_error_mode="thread_local"):
                self._step()
            self._graph.replay()

    def _eagerly(self) -> None:
        if not self._cuda:
            self._step()
            return
        side = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            self._step()
        torch.cuda.current_stream().wait_stream(side)


@dataclass(frozen=True, slots=True)
class Schedule:
    """Learning rate over a time budget: linear warm-up by steps, then a cosine to `floor` of it."""

    peak: float
    seconds: float
    warm_up_steps: int = 200
    floor: float = 0.05

    def rate(self, step: int, elapsed: float) -> float:
        warm = min(1.0, (step + 1) / self.warm_up_steps)
        done = min(1.0, elapsed / self.seconds)
        return (
            self.peak
            * warm
            * (self.floor + (1 - self.floor) * 0.5 * (1 + math.cos(math.pi * done)))
        )


class Clock:
    """Seconds of training so far, across restarts."""

    def __init__(self, before: float = 0.0) -> None:
        self._start = time.monotonic() - before

    def elapsed(self) -> float:
        return time.monotonic() - self._start


@dataclass
class Log:
    """Losses by name over steps; printed, kept as JSON and drawn as curves."""

    folder: Path
    rows: list[dict[str, float]] = field(default_factory=list)

    @classmethod
    def going_on(cls, folder: Path, step: int) -> Log:
        """With what an earlier process wrote before that step."""
        file = folder / "log.json"
        rows = json.loads(file.read_text()) if file.exists() else []
        return cls(folder, [row for row in rows if row["step"] < step])

    def add(self, row: Mapping[str, float]) -> None:
        self.rows.append(dict(row))
        print("  ".join(f"{name} {value:.4g}" for name, value in row.items()), flush=True)

    def save(self, drawn: bool = True) -> None:
        """Drawing takes seconds, which a run that goes on may spare."""
        write_whole(self.folder / "log.json", json.dumps(self.rows))
        if not drawn:
            return
        try:
            import matplotlib
        except ModuleNotFoundError:
            return
        matplotlib.use("Agg")
        self._draw()

    def _draw(self) -> None:
        from matplotlib import pyplot

        names = sorted({name for row in self.rows for name in row} - {"step", "seconds"})
        if not names:
            return
        figure, axes = pyplot.subplots(
            -(-len(names) // 3), 3, figsize=(14, 3 * -(-len(names) // 3))
        )
        for axis, name in zip(axes.flat, names, strict=False):
            points = [(row["step"], row[name]) for row in self.rows if name in row]
            axis.plot(*zip(*points, strict=True), linewidth=1)
            axis.set_title(name)
            axis.grid(alpha=0.3)
        figure.tight_layout()
        figure.savefig(self.folder / "curves.png", dpi=80)
        pyplot.close(figure)


def write_whole(path: Path, text: str) -> None:
    """All of it, or what was there before."""
    partial = path.with_name(path.name + PARTIAL)
    partial.write_text(text, "utf-8")
    partial.replace(path)


def save_shards(folder: Path, stem: str, tensors: Mapping[str, Tensor]) -> None:
    """`stem-00.safetensors` and on, each under SHARD_BYTES unless one tensor alone is larger.

    The shards of an earlier save stay whole until all of the new ones are written."""
    fresh: list[Path] = []
    for number, shard in enumerate(_shards(tensors)):
        fresh.append(folder / f"{stem}-{number:02}.safetensors")
        save_file(shard, fresh[-1].with_suffix(PARTIAL))
    for path in fresh:
        path.with_suffix(PARTIAL).replace(path)
    for stale in {*_files(folder, stem)} - {*fresh}:
        stale.unlink()


def _shards(tensors: Mapping[str, Tensor]) -> Iterator[dict[str, Tensor]]:
    shard: dict[str, Tensor] = {}
    size = 0
    for name, tensor in sorted(tensors.items()):
        nbytes = tensor.numel() * tensor.element_size()
        if shard and size + nbytes > SHARD_BYTES:
            yield shard
            shard, size = {}, 0
        shard[name] = tensor.detach().cpu().contiguous()
        size += nbytes
    yield shard


def _files(folder: Path, stem: str) -> list[Path]:
    return sorted(folder.glob(f"{stem}-[0-9][0-9].safetensors"))


def load_shards(folder: Path, stem: str) -> dict[str, Tensor]:
    """What `save_shards` wrote. Raises FileNotFoundError if there is nothing."""
    files = _files(folder, stem)
    if not files:
        raise FileNotFoundError(f"{folder}/{stem}-00.safetensors")
    return {name: tensor for file in files for name, tensor in load_file(file).items()}
