"""What prompts have in common, kept: bounded by bytes, the longest unused goes first."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from torch import Tensor

from gpu_engine.runner.protocol import CacheStats
from gpu_engine.runner.session import Session


@dataclass(frozen=True, slots=True)
class Entry:
    """Tensors computed once, never written to."""

    tensors: tuple[Tensor, ...]

    @property
    def nbytes(self) -> int:
        return sum(tensor.nbytes for tensor in self.tensors)


class PromptCache:
    """Least recently used out. An entry larger than the whole cache is made and not kept."""

    def __init__(self, most_bytes: int) -> None:
        self._entries: OrderedDict[Hashable, Entry] = OrderedDict()
        self._most = most_bytes
        self._nbytes = self._hits = self._misses = self._evictions = 0

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: Hashable) -> bool:
        return key in self._entries

    def get(self, key: Hashable, make: Callable[[], Sequence[Tensor]]) -> Entry:
        """The entry, made now where it is not there."""
        found = self._entries.get(key)
        if found is not None:
            self._entries.move_to_end(key)
            self._hits += 1
            return found
        self._misses += 1
        entry = Entry(tuple(make()))
        if entry.nbytes <= self._most:
            self._entries[key] = entry
            self._nbytes += entry.nbytes
        while self._nbytes > self._most:
            self._nbytes -= self._entries.popitem(last=False)[1].nbytes
            self._evictions += 1
        return entry

    @property
    def stats(self) -> CacheStats:
        counts = self._hits, self._misses, self._evictions
        return CacheStats(*counts, len(self), self._nbytes, self._most)


def prefix_key(session: Session) -> Hashable:
    """Equal for prompts that begin equally: voice, language, instructions, layout of the codec
    side. A cloned voice counts by its vector's bytes."""
    plan, length = session.plan, session.plan.prefix_length
    vector = b"" if session.vector is None else session.vector.float().cpu().numpy().tobytes()
    return plan.text_ids[:length], plan.codec_ids[:length], plan.vector_at, vector


def reference_key(codes: Tensor) -> Hashable:
    """Equal for equal reference codes."""
    return codes.shape, codes.cpu().numpy().tobytes()
