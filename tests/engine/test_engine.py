"""The core's loop with the real models: what is spoken, alone and together, and how it ends."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch

from gpu_engine import messages as m
from gpu_engine.models.checkpoint import Checkpoint
from gpu_engine.models.prompt import PromptRequest, Reference
from gpu_engine.models.synthesis import Utterance, synthesise
from gpu_engine.proto import engine_pb2 as pb
from gpu_engine.scheduler import Kind
from tests.engine.bench import FRAMES, TEXT, Bench, distance, start
from tests.engine.conftest import BASE, CUSTOM, DESIGN

VOICES = ("ryan", "serena", "sohee")
SAMPLES = 1920


def test_it_works(bench: Bench) -> None:
    heard = bench.say(start())
    assert heard.accepted
    assert heard.finished.reason in ("stop", "length")
    assert heard.finished.samples == len(heard.samples) == heard.finished.frames * SAMPLES
    assert heard.finished.text_tokens == 10
    assert np.abs(heard.samples).max() > 100


def test_what_it_says_is_what_the_plain_loop_says(bench: Bench) -> None:
    request = PromptRequest(TEXT, "english", "ryan")
    usual = bench.checkpoint.config.sampling
    [plain] = synthesise(bench.checkpoint, [Utterance(request, usual, seed=1, max_frames=FRAMES)])
    heard = bench.say(start())
    assert torch.equal(heard.codes, plain.codes)
    assert distance(heard.samples, np.rint(plain.audio.numpy() * 32767).astype(np.int16)) <= 1


@pytest.mark.parametrize("profile", pb.ChunkProfile.values())
def test_streamed_audio_equals_one_whole_decode(bench: Bench, profile: pb.ChunkProfile) -> None:
    heard = bench.say(start(profile=profile))
    whole = bench.checkpoint.codec_decoder.decode(heard.codes.T[None])[0].numpy()
    assert distance(heard.samples, np.rint(whole * 32767).astype(np.int16)) <= 1


def test_the_first_audio_leaves_before_the_last_frame_is_made(bench: Bench) -> None:
    number = bench.submit(start())
    while not bench.heard[number].pcm:
        bench.turn()
    assert bench.engine.live[number].session.frames == 2
    bench.run()
    assert bench.heard[number].chunks[:4] == [2 * SAMPLES, 2 * SAMPLES, 4 * SAMPLES, 8 * SAMPLES]


def test_the_same_seed_gives_the_same_audio_alone_and_among_others(bench: Bench) -> None:
    openings = [start(voice=pb.Voice(preset=voice), seed=n) for n, voice in enumerate(VOICES)]
    alone = [bench.say(opening) for opening in openings]
    together = bench.say_together(*openings)
    assert bench.engine.counters[Kind.TALKER].rows > bench.engine.counters[Kind.TALKER].steps
    for one, other in zip(alone, together, strict=True):
        assert torch.equal(one.codes, other.codes)
        assert distance(one.samples, other.samples) <= 1


def test_no_two_voices_of_a_batch_share_a_beginning(bench: Bench) -> None:
    openings = [start(voice=pb.Voice(preset=voice)) for voice in VOICES]
    first, second, third = (tuple(h.codes[0].tolist()) for h in bench.say_together(*openings))
    assert len({first, second, third}) == 3


def test_another_seed_gives_other_speech(bench: Bench) -> None:
    one, other = bench.say_together(start(seed=1), start(seed=2**64 - 1))
    assert not torch.equal(one.codes[:2], other.codes[:2])


def test_greedy_needs_no_seed(bench: Bench) -> None:
    greedy = pb.Sampling(temperature=0.0)
    one, other = bench.say_together(start(sampling=greedy, seed=1), start(sampling=greedy, seed=2))
    assert torch.equal(one.codes, other.codes)


def test_text_in_pieces_says_what_the_whole_text_says(bench: Bench) -> None:
    layout = pb.TEXT_LAYOUT_STREAMING
    whole = bench.say(start(layout=layout))
    opening = start("The quick", layout=layout)
    number = bench.submit(opening, done=False)
    submit = bench.desk.submit(number, opening, opening.text, done=False)
    spoken = opening.text
    for piece in (" brown fox jumps", " over the lazy", " dog."):
        while bench.turn():
            pass
        spoken += piece
        more = bench.desk.extend(submit, opening, spoken, piece, done=spoken == TEXT)
        bench.engine.handle(more, bench.now)
    bench.run()
    heard = bench.heard[number]
    assert torch.equal(heard.codes, whole.codes)
    assert distance(heard.samples, whole.samples) <= 1
    assert heard.finished.text_tokens == whole.finished.text_tokens == 10


def test_a_stream_that_ran_out_of_text_rests_beside_one_that_speaks(bench: Bench) -> None:
    layout = pb.TEXT_LAYOUT_STREAMING
    open_ended = bench.submit(start("The quick", layout=layout), done=False)
    other = bench.submit(start())
    while bench.heard[other].end is None:
        bench.turn()
    assert bench.heard[open_ended].end is None
    assert bench.engine.live[open_ended].session.frames == 2
    assert bench.turn() is False


def test_the_frame_cap_ends_as_length(bench: Bench) -> None:
    heard = bench.say(start(max_frames=3))
    assert (heard.finished.reason, heard.finished.frames) == ("length", 3)


def test_cancel_ends_at_once_and_frees_the_slot(bench: Bench) -> None:
    number = bench.submit(start())
    while not bench.heard[number].pcm:
        bench.turn()
    bench.engine.handle(m.CancelStream(number), bench.now)
    finished = bench.heard[number].finished
    assert (finished.reason, finished.samples) == ("cancelled", 2 * SAMPLES)
    assert sorted(bench.scheduler.free) == [0, 1, 2, 3]
    assert bench.engine.live == {}


def test_a_slot_remembers_nothing_of_the_stream_before(bench: Bench) -> None:
    fresh = bench.say(start(seed=5))
    bench.say_together(*(start(seed=seed, voice=pb.Voice(preset="sohee")) for seed in range(4)))
    again = bench.say(start(seed=5))
    assert again.pcm == fresh.pcm


def test_a_stream_whose_numbers_break_ends_alone(bench: Bench) -> None:
    alone = bench.say(start(seed=2))
    broken, sound = bench.submit(start(seed=1)), bench.submit(start(seed=2))
    while bench.engine.live[broken].session.frames < 2:
        bench.turn()
    bench.runner.next_input[bench.engine.live[broken].session.slot] = torch.nan
    bench.runner.hidden[bench.engine.live[broken].session.slot] = torch.nan
    bench.run()
    assert (bench.heard[broken].failed.code, bench.heard[broken].failed.retryable) == (
        "internal",
        True,
    )
    assert torch.equal(bench.heard[sound].codes, alone.codes)


def test_a_full_engine_says_when_to_come_back(checkpoint: Callable[[str], Checkpoint]) -> None:
    bench = Bench(checkpoint(CUSTOM), slots=1, waiting=0)
    first, second = bench.submit(start()), bench.submit(start())
    failed = bench.heard[second].failed
    assert (failed.code, failed.retryable, failed.retry_after_ms) == ("engine_full", True, 32)
    bench.run()
    assert bench.heard[first].finished.samples > 0


def test_leading_silence_is_removed_and_counted(bench: Bench) -> None:
    kept = bench.say(start())
    trimmed = bench.say(start(keep_silence=False))
    cut = trimmed.finished.trimmed_samples
    assert trimmed.finished.samples == len(kept.samples) - cut
    assert distance(trimmed.samples, kept.samples[cut:]) == 0


def test_device_time_is_shared_by_the_rows_of_each_step(bench: Bench) -> None:
    one, other = bench.say_together(start(), start(seed=2))
    spent = [
        sum(h.finished.talker_ms + h.finished.predictor_ms + h.finished.codec_ms for h in (x,))
        for x in (one, other)
    ]
    busy = sum(counters.busy for counters in bench.engine.counters.values())
    assert sum(spent) == pytest.approx(1000 * busy)


def test_a_clone_by_vector_and_one_in_context_say_what_the_plain_loop_says(
    clone_bench: Bench,
) -> None:
    config = clone_bench.checkpoint.config
    dice = torch.Generator().manual_seed(3)
    vector = torch.randn(config.talker.hidden_size, generator=dice)
    codes = torch.randint(0, 2048, (7, 16), generator=dice)
    reference = Reference("A short reference.", codes)
    usual = config.sampling
    requests = [
        PromptRequest(TEXT, "english", embedding=vector),
        PromptRequest(TEXT, "english", embedding=vector, reference=reference),
    ]
    plain = synthesise(clone_bench.checkpoint, [Utterance(r, usual, 1, FRAMES) for r in requests])
    embedding = pb.SpeakerEmbedding(values=vector.tolist())
    raw = codes.numpy().astype("<u2").tobytes()
    by_vector = pb.Voice(embedding=embedding)
    in_context = pb.Voice(
        reference=pb.Reference(embedding=embedding, codes=raw, text=reference.text)
    )
    heard = clone_bench.say_together(start(voice=by_vector), start(voice=in_context))
    for one, expected in zip(heard, plain, strict=True):
        assert torch.equal(one.codes, expected.codes)
        audio = np.rint(expected.audio.numpy() * 32767).astype(np.int16)
        assert distance(one.samples, audio) <= 1


def test_a_described_voice_speaks(checkpoint: Callable[[str], Checkpoint]) -> None:
    bench = Bench(checkpoint(DESIGN))
    heard = bench.say(start(voice=pb.Voice(described=True), instructions="A calm old man."))
    assert heard.finished.samples > 0


def test_a_voice_is_encoded_while_others_speak(clone_bench: Bench) -> None:
    tone = np.sin(np.arange(48_000) / 20).astype("<f4")
    clone_bench.engine.handle(m.EncodeClip(9, tone.tobytes(), True), 0.0)
    while not clone_bench.clips:
        clone_bench.turn()
    [encoded] = clone_bench.clips
    assert isinstance(encoded, m.ClipEncoded)
    width = clone_bench.checkpoint.config.talker.hidden_size
    assert len(encoded.embedding) == 4 * width
    # 2 s and half a second of silence behind them.
    assert len(encoded.codes) == 2 * 16 * 32
    assert BASE in str(clone_bench.checkpoint.folder)


def test_news_of_a_stream_that_is_gone_changes_nothing(bench: Bench) -> None:
    bench.engine.handle(m.CancelStream(77), 0.0)
    bench.engine.handle(m.Extend(77, (1, 2), 2, True, 10), 0.0)
    assert (bench.heard, bench.engine.live) == ({}, {})
