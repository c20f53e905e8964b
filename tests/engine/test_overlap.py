"""The overlapped loop, and prompts whose beginning is kept: the same tokens either way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
import torch

from gpu_engine import messages as m
from gpu_engine.models.checkpoint import Checkpoint
from gpu_engine.proto import engine_pb2 as pb
from gpu_engine.runner import CacheStats, LocalDevice, Outcome, Ticket
from gpu_engine.runner.cache import TensorCache
from gpu_engine.scheduler import BooksError
from gpu_engine.server.engine import Engine
from gpu_engine.server.settings import EngineSettings
from tests.engine.bench import TEXT, Bench, distance, start
from tests.engine.conftest import BASE, CUSTOM

VOICES = ("ryan", "serena", "sohee")


@dataclass
class Late:
    """A ticket that is done only when it was asked for a while, as a busy device's is."""

    outcome: Outcome
    asks: int = 3

    def done(self) -> bool:
        self.asks -= 1
        return self.asks < 0

    def wait(self) -> Outcome:
        return self.outcome


@dataclass
class LateDevice:
    """A device whose results come one step late. `most` is how many jobs were under way at once."""

    inner: LocalDevice
    lanes: int = 1
    flying: int = 0
    most: int = 0
    kinds: list[str] = field(default_factory=list)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    @property
    def shapes(self) -> Any:
        return replace(self.inner.shapes, lanes=self.lanes, overlapped=True)

    def prefill(self, slots: Any) -> Ticket:
        return self._late("prefill", self.inner.prefill(slots))

    def talk(self, slots: Any) -> Ticket:
        return self._late("talk", self.inner.talk(slots))

    def predict(self, slots: Any) -> Ticket:
        return self._late("predict", self.inner.predict(slots))

    def decode(self, slots: Any, frames: int) -> Ticket:
        return self._late("decode", self.inner.decode(slots, frames))

    def _late(self, kind: str, ticket: Ticket) -> Ticket:
        self.kinds.append(kind)
        return Late(ticket.wait())


def overlapped(checkpoint: Checkpoint, lanes: int = 1) -> Bench:
    bench = Bench(checkpoint)
    bench.device = LateDevice(bench.device, lanes)  # type: ignore[assignment]
    bench.engine = Engine(
        bench.device, bench.scheduler, checkpoint.config, bench._hear, overlapped=True
    )
    return bench


def test_audio_leaves_while_its_stream_goes_on(
    checkpoint: Callable[[str], Checkpoint],
) -> None:
    """No decode waits for the next one, or for the stream's end, to be looked at."""
    # given a device that decodes beside its steps, and one stream of twelve frames
    bench = overlapped(checkpoint(CUSTOM), lanes=2)
    number = bench.submit(start(max_frames=12))
    # when its first audio has left
    while not bench.heard[number].pcm:
        bench.turn()
    # then the frames behind it have not been made yet
    made = bench.device.kinds.count("predict")  # type: ignore[attr-defined]
    assert made <= 4


@pytest.mark.parametrize("lanes", [1, 2])
def test_both_loops_give_the_same_tokens(
    checkpoint: Callable[[str], Checkpoint], lanes: int
) -> None:
    openings = [start(voice=pb.Voice(preset=voice), seed=n) for n, voice in enumerate(VOICES)]
    # One ends by itself at once, so that a frame is begun in vain.
    openings.append(start(max_frames=1, seed=9))
    plain = Bench(checkpoint(CUSTOM)).say_together(*openings)
    late = overlapped(checkpoint(CUSTOM), lanes).say_together(*openings)
    for one, other in zip(plain, late, strict=True):
        assert (one.finished.reason, one.finished.frames) == (
            other.finished.reason,
            other.finished.frames,
        )
        frames = one.finished.frames
        assert torch.equal(one.codes[:frames], other.codes[:frames])
        assert distance(one.samples, other.samples) <= 1


def test_a_slot_is_used_again_only_after_its_last_job(
    checkpoint: Callable[[str], Checkpoint],
) -> None:
    bench = overlapped(checkpoint(CUSTOM))
    first = bench.submit(start())
    while not bench.heard[first].pcm:
        bench.turn()
    bench.engine.handle(m.CancelStream(first), bench.now)
    again = bench.submit(start(seed=5))
    bench.run()
    alone = Bench(checkpoint(CUSTOM)).say(start(seed=5))
    assert distance(bench.heard[again].samples, alone.samples) <= 1


def test_the_second_prompt_of_a_voice_is_not_read_again(bench: Bench) -> None:
    one = bench.say(start())
    stats = bench.device.kept.stats()["beginnings"]
    other = bench.say(start())
    again = bench.device.kept.stats()["beginnings"]
    assert (stats.hits, stats.misses, stats.entries) == (0, 1, 1)
    assert (again.hits, again.misses, again.entries) == (1, 1, 1)
    assert again.nbytes == stats.nbytes > 0
    status = bench.engine.status(memory_bytes=0, now=bench.now)
    kept = status.caches["beginnings"]
    assert (kept.hits, kept.misses) == (1, 1)
    assert torch.equal(one.codes, other.codes)
    assert one.pcm == other.pcm


def test_voices_languages_and_instructions_have_beginnings_of_their_own(bench: Bench) -> None:
    bench.say(start())
    for other in (
        start(voice=pb.Voice(preset="serena")),
        start(language="chinese"),
        start(instructions="Whisper."),
    ):
        bench.say(other)
    bench.say(start("Another text."))
    stats = bench.device.kept.stats()["beginnings"]
    assert (stats.hits, stats.misses) == (1, 4)


def test_a_kept_beginning_joins_the_batch_without_a_prefill(
    checkpoint: Callable[[str], Checkpoint],
) -> None:
    streaming = pb.TEXT_LAYOUT_STREAMING
    bench = overlapped(checkpoint(CUSTOM))
    first = bench.say(start(layout=streaming))
    bench.device.kinds.clear()  # type: ignore[attr-defined]
    second = bench.say(start(layout=streaming))
    assert bench.device.kinds[:2] == ["talk", "predict"]  # type: ignore[attr-defined]
    assert "prefill" not in bench.device.kinds  # type: ignore[attr-defined]
    assert torch.equal(first.codes[: len(second.codes)], second.codes[: len(first.codes)])
    assert first.pcm == second.pcm


def test_a_clone_in_context_starts_where_its_reference_ended_each_time(
    checkpoint: Callable[[str], Checkpoint],
) -> None:
    bench = Bench(checkpoint(BASE))
    width = bench.checkpoint.config.talker.hidden_size
    vector = np.random.default_rng(1).normal(size=width).tolist()
    codes = np.random.default_rng(2).integers(0, 30, (12, 16)).astype("<u2").tobytes()
    reference = pb.Reference(
        embedding=pb.SpeakerEmbedding(values=vector), codes=codes, text="Once upon a time."
    )
    one = bench.say(start(voice=pb.Voice(reference=reference)))
    heard = bench.device.kept.stats()["references"]
    assert (heard.hits, heard.misses) == (0, 1)
    other = bench.say(start(voice=pb.Voice(reference=reference)))
    heard = bench.device.kept.stats()["references"]
    assert (heard.hits, heard.misses) == (1, 1)
    assert one.pcm == other.pcm


def test_the_cache_is_bounded_by_bytes() -> None:
    cache = TensorCache(most_bytes=1000)
    for key in range(5):
        cache.put(key, [torch.zeros(100)])
    assert cache.stats == CacheStats(0, 0, 3, 2, 800, 1000)
    assert cache.find(0) is None
    assert cache.find(3) is not None
    cache.put(5, [torch.zeros(100)])
    assert (3 in cache, 4 in cache, 5 in cache) == (True, False, True)
    assert cache.stats == CacheStats(1, 1, 4, 2, 800, 1000)


def test_what_two_made_at_once_is_kept_once() -> None:
    cache = TensorCache(most_bytes=1000)
    first = cache.put("voice", [torch.zeros(100)])
    cache.put("voice", [torch.zeros(100)])
    assert cache.find("voice") is first
    assert cache.stats == CacheStats(1, 0, 0, 1, 400, 1000)


def test_what_is_larger_than_the_cache_is_made_and_not_kept() -> None:
    cache = TensorCache(most_bytes=10)
    assert len(cache.put("large", [torch.zeros(100)])[0]) == 100
    assert cache.stats == CacheStats(0, 0, 0, 0, 0, 10)


def test_a_batch_that_fails_ends_only_the_row_at_fault(bench: Bench) -> None:
    alone = bench.say(start(seed=2))
    talk = bench.runner.talk

    def fragile(sessions: Any) -> Any:
        if any(session.seed == 1 and session.frames == 3 for session in sessions):
            raise RuntimeError("out of memory")
        return talk(sessions)

    bench.runner.talk = fragile  # type: ignore[method-assign]
    broken, sound = bench.say_together(start(seed=1), start(seed=2))
    assert broken.failed.code == "internal"
    assert torch.equal(sound.codes, alone.codes)


def test_audio_that_is_not_finite_ends_its_stream_alone(bench: Bench) -> None:
    decode = bench.runner.decode

    def poisoned(sessions: Any, frames: int) -> Any:
        heard = [row.copy() for row in decode(sessions, frames)]
        for session, row in zip(sessions, heard, strict=True):
            row[:] = np.nan if session.seed == 1 else row
        return heard

    bench.runner.decode = poisoned  # type: ignore[method-assign]
    broken, sound = bench.say_together(start(seed=1), start(seed=2))
    assert (broken.failed.code, broken.pcm) == ("internal", b"")
    assert sound.finished.samples > 0


def test_a_stream_that_is_lost_is_reported_by_the_core(bench: Bench) -> None:
    bench.submit(start(TEXT))
    bench.engine.live.clear()
    with pytest.raises(BooksError, match="0 streams live, 1 scheduled"):
        bench.engine.check()


@pytest.mark.parametrize(
    ("loop", "usual", "overlaps"),
    [
        ("auto", True, True),
        ("auto", False, False),
        ("plain", True, False),
        ("overlapped", False, True),
    ],
)
def test_one_option_chooses_the_loop(loop: str, usual: bool, overlaps: bool) -> None:
    assert EngineSettings("tiny", loop=loop).overlaps(usual) is overlaps
