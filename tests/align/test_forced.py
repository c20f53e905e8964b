"""Words of streams by the forced aligner: hearings that a script answers, and the net's own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import torch

from gpu_engine.align import TimedWord
from gpu_engine.align.follow import follow
from gpu_engine.align.forced import QwenAligner, QwenTrack
from gpu_engine.align.units import Unit
from gpu_engine.models.checkpoint import load_checkpoint
from gpu_engine.models.forced_aligner import Steps
from gpu_engine.proto import engine_pb2 as pb
from gpu_engine.server.settings import ASSETS
from tests.align.tiny_aligner import sound
from tests.engine.bench import Bench, start

SECOND = 24_000
TEXT = "one two three four five six"
# A word a second: from its beginning to its middle.
SPOKEN = {word: (1000 * place, 1000 * place + 480) for place, word in enumerate(TEXT.split())}


class Scripted(QwenAligner):
    """Hears what `SPOKEN` says; whatever is not spoken yet is put at the end."""

    def marks(self, samples: np.ndarray, words: Sequence[Unit]) -> Steps:
        yield
        heard = len(samples) * 1000 // SECOND
        times = [SPOKEN[word.read] for word in words]
        spans = [time if time[1] <= heard else (heard, heard) for time in times]
        return torch.tensor(spans).flatten()


@pytest.fixture
def track(aligner: QwenAligner) -> QwenTrack:
    opened = Scripted(aligner.net, aligner._tokenizer).open()
    opened.add_text(TEXT, done=True)
    return opened


def listen(track: QwenTrack, seconds: float) -> list[str]:
    """What is told once so much more has been heard."""
    track.hear(bytes(2 * round(seconds * SECOND)))
    return told(track)


def told(track: QwenTrack) -> list[str]:
    found: list[TimedWord] = []
    while track.due:
        found += track.look()
    return [TEXT[word.first : word.end] for word in found]


def test_it_works(track: QwenTrack) -> None:
    """Two hearings that agree, and a second behind the word."""
    assert listen(track, 2.0) == []
    assert listen(track, 2.0) == ["one", "two"]
    assert listen(track, 2.0) == ["three", "four"]
    track.end(complete=True)
    assert told(track) == ["five", "six"]
    assert track.over


def test_a_word_is_timed_in_samples_of_the_stream(track: QwenTrack) -> None:
    track.hear(bytes(2 * 6 * SECOND))
    track.end(complete=True)
    found: list[TimedWord] = []
    while track.due:
        found += track.look()
    assert found[1] == TimedWord(4, 7, SECOND, SECOND + 11_520)


def test_words_of_a_stream_that_was_cut_are_those_that_are_sure(track: QwenTrack) -> None:
    listen(track, 3.0)
    track.end(complete=False)
    assert told(track) == ["one", "two"]
    assert track.over


def test_the_longer_a_stream_the_rarer_it_is_heard(track: QwenTrack) -> None:
    listen(track, 40.0)
    track.hear(bytes(2 * 9 * SECOND))
    assert not track.due
    track.hear(bytes(2 * 1 * SECOND))
    assert track.due


def test_a_word_that_may_go_on_waits(aligner: QwenAligner) -> None:
    track = Scripted(aligner.net, aligner._tokenizer).open()
    track.add_text("one two", done=False)
    listen(track, 4.0)
    assert listen(track, 4.0) == ["one"]


def test_five_minutes_are_the_most(track: QwenTrack) -> None:
    track.hear(bytes(2 * (300 * SECOND + 1)))
    track.end(complete=True)
    assert told(track) == []
    assert track.over


@pytest.mark.parametrize("text", ["今日はいい天気ですね", " \u2014 ", ""])
def test_a_text_without_words_has_none(text: str, aligner: QwenAligner) -> None:
    assert follow(aligner, text, sound(1.0)) == []


def test_nothing_is_heard_in_an_instant(aligner: QwenAligner) -> None:
    assert follow(aligner, "one", sound(0.02)) == []


def test_every_word_of_the_net_is_told_once_in_order_inside_the_audio(aligner: QwenAligner) -> None:
    pcm = sound(7.0)
    found = [each.word for each in follow(aligner, TEXT, pcm)]
    assert [TEXT[word.first : word.end] for word in found] == TEXT.split()
    times = [time for word in found for time in (word.first_sample, word.end_sample)]
    assert times == sorted(times)
    assert times[0] >= 0
    assert times[-1] <= len(pcm)


def test_a_look_is_one_step(aligner: QwenAligner) -> None:
    """Of both towers' layers, and what lies before, between and behind."""
    track = aligner.open()
    track.add_text(TEXT, done=True)
    track.hear(sound(2.5).tobytes())
    track.end(complete=True)
    looks = 0
    while track.due:
        track.look()
        looks += 1
    assert looks == 8


def test_an_engine_tells_its_words(aligner: QwenAligner) -> None:
    """The tiny voice speaks; a look is a job among the others."""
    bench = Bench(load_checkpoint(ASSETS / "tiny"), aligner)
    clara = pb.Voice(preset="clara")
    number = bench.submit(start(TEXT, clara, word_times=True, max_frames=100, keep_silence=False))
    bench.run()
    heard = bench.heard[number]
    assert [TEXT[first:end] for first, end, _, _ in heard.words] == TEXT.split()
    marks = [mark for _, _, *times in heard.words for mark in times]
    assert marks == sorted(marks)
    assert marks[-1] <= heard.finished.samples
