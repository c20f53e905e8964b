"""The process that reads a recording: what ends it, and what its parent makes of that."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from tests.ttsapp.voices import recordings as heard
from tests.ttsapp.voices.bad import with_cover
from ttsapp.errors import ApiError
from ttsapp.voices.clips import decoding
from ttsapp.voices.clips.reader import HEADER, NOT_AUDIO

SPEECH = heard.speech()
SAMPLE = heard.wav(SPEECH)


def said(recording: bytes) -> tuple[np.ndarray, int, int]:
    """What it says of one: samples, rate, channels."""
    command = [sys.executable, "-I", "-m", "ttsapp.voices.clips.reader"]
    out = subprocess.run(command, input=recording, env={}, capture_output=True, check=True).stdout
    rate, channels, count = HEADER.unpack_from(out)
    return np.frombuffer(out, np.float32, count, HEADER.size), rate, channels


def ended(read: str, **limits: int) -> int:
    """The exit status of one that reads like this."""
    code = ["import sys", "from ttsapp.voices.clips import reader"]
    code += [f"reader.{name} = {value}" for name, value in limits.items()]
    code += [read, "reader.read = read", "sys.exit(reader.main())"]
    command = [sys.executable, "-c", "\n".join(code)]
    return subprocess.run(command, input=b"", stderr=subprocess.DEVNULL, check=False).returncode


def test_it_works() -> None:
    samples, rate, channels = said(SAMPLE)
    assert (len(samples), rate, channels) == (144_000, 24_000, 1)


@pytest.mark.parametrize("channels", range(1, 9))
def test_all_channels_are_mixed_down(channels: int) -> None:
    apart = np.zeros((len(SPEECH), channels), np.float32)
    apart[:, channels - 1] = SPEECH
    samples, rate, found = said(heard.packed(apart, "FLAC"))
    assert (rate, found) == (heard.RATE, channels)
    np.testing.assert_allclose(samples, SPEECH / channels, atol=1e-4)


@pytest.mark.parametrize("loudness", [4.0, 1e5, 1e30])
def test_what_goes_beyond_full_scale_is_turned_down_to_it(loudness: float) -> None:
    samples, *_ = said(heard.wav(SPEECH * np.float32(loudness), subtype="FLOAT"))
    louder = max(1.0, loudness * np.abs(SPEECH).max())
    np.testing.assert_allclose(samples, SPEECH * (loudness / louder), atol=1e-6)


@pytest.mark.parametrize(
    ("name", "codec"), [("flac", "flac"), ("mp3", "libmp3lame"), ("mp4", "aac")]
)
def test_a_cover_is_no_video(name: str, codec: str) -> None:
    samples, *_ = said(with_cover(name, codec))
    assert len(samples) == pytest.approx(heard.RATE, rel=0.1)


@pytest.mark.parametrize("threads", ["1", "64"])
def test_threads_of_a_large_machine_take_no_room_from_a_recording(threads: str) -> None:
    command = [sys.executable, "-I", "-m", "ttsapp.voices.clips.reader"]
    environment = {"OPENBLAS_NUM_THREADS": threads}
    read = subprocess.run(command, input=SAMPLE, env=environment, capture_output=True, check=False)
    assert read.returncode == 0, read.stderr


def test_a_file_that_takes_for_ever_ends_it_by_a_signal_of_its_own() -> None:
    status = ended("def read(data):\n    while True:\n        pass", CPU_SECONDS=1)
    assert status == -signal.SIGXCPU
    assert status in decoding._BROKEN


@pytest.mark.parametrize(
    "raised", ["KeyError('layout')", "MemoryError()", "RuntimeError('resampler')"]
)
def test_whatever_a_file_makes_the_libraries_raise_is_its_fault(raised: str) -> None:
    assert ended(f"def read(data):\n    raise {raised}") == NOT_AUDIO


def test_a_file_that_unpacks_to_more_than_there_may_be_is_at_fault() -> None:
    assert ended("def read(data):\n    return bytearray(3 << 30)") == NOT_AUDIO


async def test_one_that_is_not_there_says_nothing_of_the_recording(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(decoding.sys, "executable", "/nowhere/python")
    with pytest.raises(ApiError) as refused:
        await decoding.decode(SAMPLE, "clip", 1)
    assert (refused.value.status, refused.value.code) == (503, "reader_unavailable")


async def test_one_that_has_no_time_leaves_nothing_running(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun: list[int] = []
    create = decoding.asyncio.create_subprocess_exec

    async def noted(*command: str, **given: object) -> object:
        child = await create(*command, **given)  # type: ignore[arg-type]
        begun.append(child.pid)
        return child

    monkeypatch.setattr(decoding.asyncio, "create_subprocess_exec", noted)
    monkeypatch.setattr(decoding, "CHILD_SECONDS", 0.0)
    with pytest.raises(ApiError) as refused:
        await decoding.decode(SAMPLE, "clip", 1)
    assert (refused.value.status, refused.value.retry_after_ms) == (503, 2000)
    # It was waited for: there is no such process, not even one that is to be.
    (child,) = begun
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)
