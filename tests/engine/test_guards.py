"""A model that loses its way: silence that never ends, text without a sound."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from gpu_engine.models.checkpoint import load_checkpoint
from tests.engine.bench import Bench, start
from tests.engine.conftest import CUSTOM

SAMPLES = 1920


def silent_and_endless(folder: Path) -> Bench:
    """An engine whose model never stops and whose codec has gone silent."""
    checkpoint = load_checkpoint(folder)
    for parameter in checkpoint.codec_decoder.decoder[-1].parameters():
        parameter.data.zero_()
    bench = Bench(checkpoint)
    bench.runner.rules.blocked[bench.runner.rules.end] = True
    return bench


def test_a_stream_lost_in_silence_is_cut_as_length(
    checkpoint_folder: Callable[[str], Path],
) -> None:
    bench = silent_and_endless(checkpoint_folder(CUSTOM))
    finished = bench.say(start(keep_silence=False, max_frames=400)).finished
    assert (finished.reason, finished.trimmed_samples) == ("length", 24_000)
    assert 4 * 24_000 <= finished.samples < 6 * 24_000


def test_a_text_without_any_sound_is_a_retryable_error(
    checkpoint_folder: Callable[[str], Path],
) -> None:
    bench = silent_and_endless(checkpoint_folder(CUSTOM))
    failed = bench.say(start(keep_silence=False, max_frames=9)).failed
    assert (failed.code, failed.retryable) == ("no_audio", True)


def test_who_keeps_silence_gets_all_of_it(checkpoint_folder: Callable[[str], Path]) -> None:
    bench = silent_and_endless(checkpoint_folder(CUSTOM))
    finished = bench.say(start(max_frames=100)).finished
    assert (finished.reason, finished.samples) == ("length", 100 * SAMPLES)
