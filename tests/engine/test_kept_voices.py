"""What a device keeps of a voice: equal numbers with and without it, and one entry a recording."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from gpu_engine import messages as m
from gpu_engine.models.checkpoint import Checkpoint
from gpu_engine.models.prompt import PromptRequest, Reference, plan_prompt
from gpu_engine.proto import engine_pb2 as pb
from gpu_engine.runner.parts import Reading, cut, packed
from gpu_engine.scheduler import Kind
from gpu_engine.server.artifact import Voice
from gpu_engine.server.settings import EngineSettings
from tests.engine.bench import Bench, Heard, desk, distance, start
from tests.engine.conftest import BASE

STREAMING, FIRST = pb.TEXT_LAYOUT_STREAMING, pb.TEXT_LAYOUT_REFERENCE_FIRST
TRANSCRIPT = "Once upon a time."


def vector(seed: int = 1) -> list[float]:
    values: list[float] = np.random.default_rng(seed).normal(size=64).tolist()
    return values


def reference(frames: int = 12, seed: int = 1, text: str = TRANSCRIPT) -> pb.Voice:
    codes = np.random.default_rng(seed).integers(0, 30, (frames, 16)).astype("<u2").tobytes()
    embedding = pb.SpeakerEmbedding(values=vector(seed))
    return pb.Voice(reference=pb.Reference(embedding=embedding, codes=codes, text=text))


def entries(bench: Bench) -> dict[str, int]:
    return {name: stats.entries for name, stats in bench.device.kept.stats().items()}


@pytest.mark.parametrize(
    ("layout", "frames"), [(STREAMING, 3), (STREAMING, 12), (pb.TEXT_LAYOUT_FULL, 12), (FIRST, 20)]
)
def test_a_known_voice_says_what_it_said_when_it_was_new(
    checkpoint: Callable[[str], Checkpoint], layout: pb.TextLayout, frames: int
) -> None:
    bench = Bench(checkpoint(BASE))
    opening = start(voice=reference(frames), layout=layout, max_frames=6)
    cold, warm = bench.say(opening), bench.say(opening)
    assert torch.equal(cold.codes, warm.codes)
    assert distance(cold.samples, warm.samples) <= 1
    assert entries(bench) == {"speakers": 1, "references": 1, "beginnings": 1}


def test_a_reference_that_comes_first_needs_no_prefill_once_it_is_known(
    clone_bench: Bench,
) -> None:
    clone_bench.say(start(voice=reference(30), layout=FIRST, max_frames=2))
    read = clone_bench.engine.counters[Kind.PREFILL].steps
    clone_bench.say(start("Another text.", voice=reference(30), layout=FIRST, max_frames=2))
    assert clone_bench.engine.counters[Kind.PREFILL].steps == read > 10


def test_one_recording_under_two_transcripts_is_heard_once(clone_bench: Bench) -> None:
    for text in (TRANSCRIPT, "Two upon a time."):
        clone_bench.say(start(voice=reference(text=text), max_frames=2))
    assert entries(clone_bench) == {"speakers": 1, "references": 1, "beginnings": 2}


def test_voices_do_not_share_what_is_kept(clone_bench: Bench) -> None:
    def said(seed: int) -> Heard:
        return clone_bench.say(start(voice=reference(seed=seed), layout=FIRST, max_frames=6))

    alice, mallory = said(1), said(2)
    assert not torch.equal(alice.codes, mallory.codes)
    assert torch.equal(said(1).codes, alice.codes)
    assert entries(clone_bench) == {"speakers": 2, "references": 2, "beginnings": 2}


def test_a_cancelled_reading_leaves_a_sound_slot(clone_bench: Bench) -> None:
    opening = start(voice=reference(30), layout=FIRST, max_frames=6)
    gone = clone_bench.submit(opening)
    for _ in range(5):
        clone_bench.turn()
    clone_bench.engine.handle(m.CancelStream(gone), clone_bench.now)
    assert entries(clone_bench)["beginnings"] == 0
    assert clone_bench.say(opening).pcm != b""
    assert clone_bench.heard[gone].finished.reason == "cancelled"


def test_live_text_follows_a_reference_that_comes_first(clone_bench: Bench) -> None:
    opening = start("The quick brown fox", voice=reference(), layout=FIRST)
    whole = clone_bench.say(start("The quick brown fox jumps.", voice=reference(), layout=FIRST))
    number = clone_bench.submit(opening, done=False)
    for _ in range(20):
        clone_bench.turn()
    submit = clone_bench.desk.submit(number, opening, opening.text, False)
    more = clone_bench.desk.extend(submit, opening, "The quick brown fox jumps.", " jumps.", True)
    clone_bench.engine.handle(more, clone_bench.now)
    clone_bench.run()
    grown = clone_bench.heard[number]
    assert torch.equal(grown.codes, whole.codes)


def test_a_stream_does_not_bring_back_what_was_unloaded(clone_bench: Bench) -> None:
    """Given one that is reading its prompt, when its voice is unloaded by its artifact."""
    opening = start(voice=reference(30), layout=FIRST, max_frames=6)
    artifact = clone_bench.desk.voices.artifact_of(opening.voice)
    reading = clone_bench.submit(opening)
    for _ in range(5):
        clone_bench.turn()
    clone_bench.engine.handle(m.KeepVoice(1, artifact, "unload"), clone_bench.now)
    clone_bench.run()

    assert clone_bench.heard[reading].pcm != b""
    assert entries(clone_bench) == {"speakers": 0, "references": 0, "beginnings": 0}
    told = clone_bench.clips[-1]
    assert isinstance(told, m.VoiceKept)
    assert (told.before.entries > 0, told.after.entries) == (True, 0)
    # Who comes after it is kept as ever.
    clone_bench.say(opening)
    assert entries(clone_bench) == {"speakers": 1, "references": 1, "beginnings": 1}


def plan(checkpoint: Checkpoint, text: str, **fields: Any) -> Any:
    codes = torch.zeros(12, 16, dtype=torch.int64)
    request = PromptRequest(
        text, embedding=torch.zeros(64), reference=Reference(TRANSCRIPT, codes), **fields
    )
    return plan_prompt(checkpoint.config, checkpoint.tokenizer, request)


@pytest.mark.parametrize(
    ("layout", "own"), [("streaming", 5), ("full", 5), ("reference_first", 12)]
)
def test_what_can_be_kept_knows_nothing_of_the_text(
    checkpoint: Callable[[str], Checkpoint], layout: str, own: int
) -> None:
    one, other = (
        plan(checkpoint(BASE), text, layout=layout) for text in ("Hello there.", "Good bye, all.")
    )
    kept = one.prefix_length
    assert kept == other.prefix_length == 8 + own
    assert one.text_ids[:kept] == other.text_ids[:kept]
    assert one.codec_ids[:kept] == other.codec_ids[:kept]
    assert one.text_ids[kept] != other.text_ids[kept]


def test_a_reference_first_prompt_ends_with_the_first_word(
    checkpoint: Callable[[str], Checkpoint],
) -> None:
    loaded = checkpoint(BASE)
    laid = plan(loaded, "Hello there.", layout="reference_first")
    words = loaded.tokenizer.encode("Hello there.")
    assert laid.text_ids[-1] == words[0]
    assert laid.trailing == (*words[1:], loaded.config.text_ids.tts_eos)
    assert laid.frames_at == len(laid.text_ids) - 12


def test_an_engine_may_speak_all_clones_reference_first(
    checkpoint: Callable[[str], Checkpoint],
) -> None:
    loaded = checkpoint(BASE)
    settings = EngineSettings(str(loaded.folder), max_positions=512, in_context="reference-first")
    front = desk(loaded, settings)
    parts = reference().reference
    voice = Voice(loaded.fingerprint, np.array(vector(), "<f4").tobytes(), parts.codes, parts.text)
    artifact, number = front.voices.seal.close(voice)
    opened = front.admit(start(voice=pb.Voice(artifact=pb.Artifact(data=artifact))))
    assert opened.layout == FIRST
    assert front.voices.artifact_of(opened.voice).hex() == number
    assert front.streams_text(opened)
    only = pb.Artifact(data=artifact, embedding_only=True)
    opened = front.admit(start(voice=pb.Voice(artifact=only)))
    assert opened.layout == pb.TEXT_LAYOUT_UNSPECIFIED


def test_parts_cover_everything_and_share_jobs() -> None:
    parts = [*cut(Reading.BEGIN, 0, 9, 8), *cut(Reading.REST, 9, 12, 8)]
    assert [(p.start, p.end, p.last) for p in parts] == [(0, 8, False), (8, 9, True), (9, 12, True)]
    assert [len(job) for job in packed(parts)] == [1, 2]
    assert list(cut(Reading.HEAR, 0, 0, 8)) == []
