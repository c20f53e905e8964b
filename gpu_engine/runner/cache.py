"""What voices and prompts have in common, kept: bounded by bytes, the longest unused goes first.

A device belongs to one checkpoint, and so do its caches: what is kept never outlives its model."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from collections.abc import Set as AbstractSet

from torch import Tensor

from gpu_engine.messages import Act, Held, Speaker
from gpu_engine.models.prompt import Prompt, PromptPlan, embed_prompt
from gpu_engine.models.talker import Talker
from gpu_engine.runner.protocol import CacheStats
from gpu_engine.runner.session import Session

Tensors = tuple[Tensor, ...]
Embed = Callable[[Talker, PromptPlan, Tensor | None, Tensor | None], Prompt]

# Names of artifacts, before those of voices that are gone are looked for.
FEW_NAMES = 1024


class TensorCache:
    """Least recently used out, but what `pinned` speakers have stays, and what `barred` ones bring
    is not kept, as is what is larger than the whole cache. Tensors are computed once and never
    written to."""

    def __init__(
        self,
        most_bytes: int,
        pinned: AbstractSet[Speaker] = frozenset(),
        barred: AbstractSet[Speaker] = frozenset(),
    ) -> None:
        self._entries: OrderedDict[Hashable, Tensors] = OrderedDict()
        self._keys_of: defaultdict[Hashable, set[Hashable]] = defaultdict(set)
        self._most, self._pinned, self._barred = most_bytes, pinned, barred
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
        made, speakers = tuple(tensors), _speakers(key)
        size = _size(made)
        is_welcome = size <= self._most and self._barred.isdisjoint(speakers)
        if is_welcome and key not in self._entries:
            self._entries[key] = made
            self._nbytes += size
            for speaker in speakers:
                self._keys_of[speaker].add(key)
        while self._nbytes > self._most:
            self._drop(self._next_out(key))
            self._evictions += 1
        return made

    def has(self, speaker: Speaker) -> bool:
        return speaker in self._keys_of

    def of(self, speaker: Speaker) -> list[Tensors]:
        """Told with every heartbeat: what others have is not looked at."""
        return [self._entries[key] for key in self._keys_of.get(speaker, ())]

    def unload(self, speaker: Speaker) -> None:
        for key in tuple(self._keys_of.get(speaker, ())):
            self._drop(key)

    def _next_out(self, newest: Hashable) -> Hashable:
        """The bound holds before every pin: where all the rest is pinned, the newest goes."""
        free = (key for key in self._entries if self._pinned.isdisjoint(_speakers(key)))
        return next(free, newest)

    def _drop(self, key: Hashable) -> None:
        self._nbytes -= _size(self._entries.pop(key))
        for speaker in _speakers(key):
            self._keys_of[speaker].remove(key)
            if not self._keys_of[speaker]:
                del self._keys_of[speaker]

    @property
    def stats(self) -> CacheStats:
        counts = self._hits, self._misses, self._evictions
        return CacheStats(*counts, len(self), self._nbytes, self._most)


class Kept:
    """What one device keeps, `most_bytes` of each: `speakers` are vectors and embedded reference
    frames, `references` the codec's state behind a reference, `beginnings` the keys and values of
    what prompts begin with. What streams of `barred` speakers bring is not kept."""

    def __init__(self, most_bytes: int) -> None:
        self.pinned: dict[Speaker, None] = {}
        self.barred: set[Speaker] = set()
        self._caches = tuple(
            TensorCache(most_bytes, self.pinned.keys(), self.barred) for _ in range(3)
        )
        self.speakers, self.references, self.beginnings = self._caches
        self._speaker_of: dict[bytes, Speaker] = {}
        self._room_for_names = FEW_NAMES

    def stats(self) -> dict[str, CacheStats]:
        named = ("speakers", "references", "beginnings")
        return {name: getattr(self, name).stats for name in named}

    def name(self, artifact: bytes, speaker: Speaker, live: Iterable[Speaker]) -> None:
        """Whom the artifact speaks as, for as long as anything is kept of them, or may be by a
        stream that is `live`."""
        self._speaker_of[artifact] = speaker
        if len(self._speaker_of) > self._room_for_names:
            known = {speaker, *live, *self.pinned}
            self._speaker_of = {
                artifact: speaker
                for artifact, speaker in self._speaker_of.items()
                if speaker in known or any(cache.has(speaker) for cache in self._caches)
            }
            self._room_for_names = max(FEW_NAMES, 2 * len(self._speaker_of))

    def speaker(self, called: Speaker) -> Speaker:
        """By itself, or by its artifact; one that nothing is kept of is whatever it is called."""
        return self._speaker_of.get(called, called) if isinstance(called, bytes) else called

    def pin(self, speaker: Speaker, pinned: bool) -> None:
        """Whether what is known of this speaker, now and later, may be given up for others."""
        if pinned:
            self.pinned[speaker] = None
        else:
            self.pinned.pop(speaker, None)

    def unload(self, speaker: Speaker) -> None:
        """Streams that speak by it have what they need; the next one makes it anew."""
        self.pin(speaker, pinned=False)
        for cache in self._caches:
            cache.unload(speaker)

    def keep(self, called: Speaker, act: Act) -> tuple[Held, Held]:
        """What is held before and after."""
        speaker = self.speaker(called)
        before = self.held(speaker)
        if act in ("pin", "unpin"):
            self.pin(speaker, pinned=act == "pin")
        if act == "unload":
            self.unload(speaker)
        return before, self.held(speaker)

    def held(self, speaker: Speaker) -> Held:
        own = [tensors for cache in self._caches for tensors in cache.of(speaker)]
        return Held(speaker, speaker in self.pinned, len(own), sum(map(_size, own)))

    def embed(self, talker: Talker, session: Session, embed: Embed = embed_prompt) -> Prompt:
        """The session's prompt, a known speaker's part of it from memory."""
        if session.vector is None:
            return embed(talker, session.plan, None, None)
        found = self.speakers.find(session.voice)
        if found is None:
            found = self.speakers.put(session.voice, _speaker(talker, session))
        vector, frames = found
        return embed(talker, session.plan, vector, frames if len(frames) else None)


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


def _speakers(key: Hashable) -> AbstractSet[Hashable]:
    """Clones are kept by their voice; what a preset's prompts begin with has its code in it, among
    others that are nobody's."""
    if not isinstance(key, tuple):
        return {key}
    _, codes, _, voice = key
    return {voice} if voice else set(codes)


def _size(tensors: Tensors) -> int:
    return sum(tensor.nbytes for tensor in tensors)
