"""What voices and prompts have in common, kept: bounded by bytes, the longest unused goes first.

A device belongs to one checkpoint, and so do its caches: what is kept never outlives its model."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Sequence

from torch import Tensor

from gpu_engine.models.prompt import Prompt, embed_prompt
from gpu_engine.models.talker import Talker
from gpu_engine.runner.protocol import CacheStats
from gpu_engine.runner.session import Session

Tensors = tuple[Tensor, ...]


class TensorCache:
    """Least recently used out. What is larger than the whole cache is not kept. Tensors are
    computed once and never written to."""

    def __init__(self, most_bytes: int) -> None:
        self._entries: OrderedDict[Hashable, Tensors] = OrderedDict()
        self._most = most_bytes
        self._nbytes = self._hits = self._misses = self._evictions = 0

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: Hashable) -> bool:
        return key in self._entries

    def find(self, key: Hashable) -> Tensors | None:
        """Counts as a use, or as a miss: who missed makes it and puts it here."""
        found = self._entries.get(key)
        if found is None:
            self._misses += 1
            return None
        self._entries.move_to_end(key)
        self._hits += 1
        return found

    def put(self, key: Hashable, tensors: Sequence[Tensor]) -> Tensors:
        """Two may have made the same: the first one's is kept."""
        made = tuple(tensors)
        size = _size(made)
        if key not in self._entries and size <= self._most:
            self._entries[key] = made
            self._nbytes += size
        while self._nbytes > self._most:
            self._nbytes -= _size(self._entries.popitem(last=False)[1])
            self._evictions += 1
        return made

    @property
    def stats(self) -> CacheStats:
        counts = self._hits, self._misses, self._evictions
        return CacheStats(*counts, len(self), self._nbytes, self._most)


class Kept:
    """What one device keeps, `most_bytes` of each: `speakers` are vectors and embedded reference
    frames, `references` the codec's state behind a reference, `beginnings` the keys and values of
    what prompts begin with."""

    def __init__(self, most_bytes: int) -> None:
        self.speakers, self.references, self.beginnings = (
            TensorCache(most_bytes) for _ in range(3)
        )

    def stats(self) -> dict[str, CacheStats]:
        named = ("speakers", "references", "beginnings")
        return {name: getattr(self, name).stats for name in named}

    def embed(self, talker: Talker, session: Session) -> Prompt:
        """The session's prompt, a known speaker's part of it from memory."""
        if session.vector is None:
            return embed_prompt(talker, session.plan)
        found = self.speakers.find(session.voice)
        if found is None:
            found = self.speakers.put(session.voice, _speaker(talker, session))
        vector, frames = found
        return embed_prompt(talker, session.plan, vector, frames if len(frames) else None)


def _speaker(talker: Talker, session: Session) -> Tensors:
    assert session.vector is not None, "a preset is no speaker of its own"
    vector = session.vector.to(talker.codec_head.weight)
    if session.codes is None:
        return vector, vector.new_zeros(0, len(vector))
    return vector, talker.embed_frame(session.codes.to(talker.device))


def beginning_key(session: Session) -> Hashable:
    """Equal for prompts that begin equally: voice, language, instructions, layout of the codec
    side."""
    plan, length = session.plan, session.plan.prefix_length
    return plan.text_ids[:length], plan.codec_ids[:length], plan.vector_at, session.voice


def _size(tensors: Tensors) -> int:
    return sum(tensor.nbytes for tensor in tensors)
