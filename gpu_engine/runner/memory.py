"""What a device's memory is for, measured by the tensors that lie in it."""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Iterable, Iterator, Mapping
from ctypes import c_size_t, c_void_p
from dataclasses import dataclass, fields, is_dataclass

import numpy as np
import torch
from torch import Tensor, nn

PAGE = mmap.PAGESIZE
# Smaller ones share their pages with others.
SMALL = 1 << 16
_mincore = ctypes.CDLL(None).mincore


@dataclass(frozen=True, slots=True)
class Footprint:
    """Tensors that stay as long as their device. `state` is what streams have beside their keys and
    values, `graphs` the bytes that captured graphs and their workspaces hold."""

    weights: tuple[Tensor, ...]
    kv: tuple[Tensor, ...]
    state: tuple[Tensor, ...]
    graphs: int = 0


def distinct(tensors: Iterable[Tensor]) -> tuple[Tensor, ...]:
    """One for each piece of memory: views share it."""
    return tuple({each.untyped_storage().data_ptr(): each for each in tensors}.values())


def nbytes(tensors: Iterable[Tensor]) -> int:
    """Of the memory behind `distinct` ones; in the host's, what was touched of it: an empty slot
    costs addresses, not pages."""
    return sum(map(_held, tensors))


def _held(tensor: Tensor) -> int:
    storage = tensor.untyped_storage()
    size = storage.nbytes()
    if tensor.device.type != "cpu" or size < SMALL:
        return size
    return min(size, _resident(storage.data_ptr(), size))


def _resident(address: int, size: int) -> int:
    """Bytes of the pages that are in memory; all of them where the system does not say."""
    first = address - address % PAGE
    pages = -(-(address + size - first) // PAGE)
    told = np.zeros(pages, np.uint8)
    if _mincore(c_void_p(first), c_size_t(pages * PAGE), c_void_p(told.ctypes.data)):
        return size
    return PAGE * int(np.count_nonzero(told & 1))


def held_for_tensors(device: torch.device) -> int:
    """Bytes that torch has of a GPU: what it could give back is given back first. Graphs keep what
    they use, though no tensor is left there."""
    if device.type != "cuda":
        return 0
    torch.cuda.synchronize(device)
    torch.cuda.empty_cache()
    return torch.cuda.memory_reserved(device)


def tensors_of(*things: object) -> tuple[Tensor, ...]:
    """All that these objects hold, in their fields and what those hold, each piece once."""
    return distinct(_tensors(things, set()))


def _tensors(thing: object, seen: set[int]) -> Iterator[Tensor]:
    if isinstance(thing, Tensor):
        yield thing
    elif id(thing) not in seen:
        seen.add(id(thing))
        for part in _parts(thing):
            yield from _tensors(part, seen)


def _parts(thing: object) -> Iterable[object]:
    if isinstance(thing, nn.Module):
        return [*thing.parameters(), *thing.buffers()]
    if isinstance(thing, Mapping):
        return thing.values()
    if isinstance(thing, list | tuple):
        return thing
    if is_dataclass(thing):
        return [getattr(thing, each.name) for each in fields(thing)]
    # What others made has no tensors of ours.
    return vars(thing).values() if _is_ours(thing) else ()


def _is_ours(thing: object) -> bool:
    return type(thing).__module__.startswith("gpu_engine.") and hasattr(thing, "__dict__")
