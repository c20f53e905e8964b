"""Formats that lose nothing hold exactly the engine's samples, however they came in."""

from __future__ import annotations

import io
import wave

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.ttsapp.decoding import by_ffmpeg, by_libsndfile, pieces, voice
from ttsapp.speech.encoders import audio_format, encode_whole, encoder

SAID = voice(0.7)
# Whole chunks, single bytes, odd cuts, nothing at all in between.
CUTS = [[3840], [1], [3839, 3, 1, 0 + 2], [960, 7681], [100_000]]


def streamed(name: str, pcm: bytes, cuts: list[int], **options: int) -> bytes:
    made = encoder(audio_format(name, **options))
    body = made.header() + made.push(b"")
    for piece in pieces(pcm, cuts):
        body += made.push(piece)
    return body + made.finish()


@pytest.mark.parametrize("cuts", CUTS, ids=str)
def test_pcm(cuts: list[int]) -> None:
    assert streamed("pcm", SAID.tobytes(), cuts) == SAID.tobytes()


@pytest.mark.parametrize("cuts", CUTS, ids=str)
def test_float_pcm(cuts: list[int]) -> None:
    found = np.frombuffer(streamed("pcm_f32", SAID.tobytes(), cuts), "<f4")
    assert np.array_equal(found * 32768, SAID)


@pytest.mark.parametrize("cuts", CUTS, ids=str)
@pytest.mark.parametrize("name", ["wav", "wav_f32"])
def test_wav(name: str, cuts: list[int]) -> None:
    samples, rate = by_libsndfile(streamed(name, SAID.tobytes(), cuts))
    assert rate == 24_000
    assert np.array_equal(samples * 32768, SAID)


@pytest.mark.parametrize("cuts", CUTS, ids=str)
def test_flac(cuts: list[int]) -> None:
    samples, rate = by_ffmpeg(streamed("flac", SAID.tobytes(), cuts))
    assert rate == 24_000
    assert np.array_equal(samples * 32768, SAID)


@pytest.mark.parametrize("name", ["wav", "wav_f32", "flac"])
@pytest.mark.parametrize("count", [1, 2, 4097, len(SAID)])
def test_whole_files(name: str, count: int) -> None:
    file = encode_whole(audio_format(name), SAID[:count].tobytes())
    samples, _ = by_libsndfile(file)
    assert np.array_equal(samples * 32768, SAID[:count])


@pytest.mark.parametrize("name", ["wav", "wav_f32", "wav_mulaw", "wav_alaw", "flac"])
def test_nothing_is_a_valid_file(name: str) -> None:
    decode = by_ffmpeg if name == "flac" else by_libsndfile
    assert len(decode(encode_whole(audio_format(name), b""))[0]) == 0


@pytest.mark.parametrize("name", ["pcm", "pcm_f32", "wav", "flac"])
def test_one_sample(name: str) -> None:
    made = encoder(audio_format(name))
    body = made.header() + made.push(b"\x01") + made.push(b"\x80") + made.finish()
    assert len(body) > 1
    if name in ("wav", "flac"):
        assert np.array_equal(by_ffmpeg(body)[0] * 32768, [-32767])


def test_half_a_sample_is_dropped() -> None:
    made = encoder(audio_format("pcm"))
    assert made.push(b"\x01\x02\x03") + made.finish() == b"\x01\x02"


def test_exact_wav_header() -> None:
    file = encode_whole(audio_format("wav"), SAID.tobytes())
    assert file[:4] == b"RIFF"
    assert int.from_bytes(file[4:8], "little") == len(file) - 8
    assert int.from_bytes(file[40:44], "little") == len(file) - 44
    with wave.open(io.BytesIO(file)) as strict:
        assert strict.getparams()[:4] == (1, 2, 24_000, len(SAID))


def test_an_odd_wav_is_padded() -> None:
    file = encode_whole(audio_format("wav_mulaw", 24_000), SAID[:3].tobytes())
    assert len(file) % 2 == 0
    assert int.from_bytes(file[4:8], "little") == len(file) - 8
    assert len(by_libsndfile(file)[0]) == 3


def test_strict_readers_take_an_open_wav() -> None:
    body = streamed("wav", SAID.tobytes(), [3840])
    with wave.open(io.BytesIO(body)) as strict:
        assert strict.readframes(len(SAID)) == SAID.tobytes()
    assert np.array_equal(by_ffmpeg(body)[0] * 32768, SAID)


@given(st.binary(max_size=600), st.lists(st.integers(1, 9), min_size=1))
@settings(max_examples=50)
def test_any_bytes_any_cuts(pcm: bytes, cuts: list[int]) -> None:
    assert streamed("pcm", pcm, cuts) == pcm[: len(pcm) // 2 * 2]
    values = np.frombuffer(pcm[: len(pcm) // 2 * 2], "<i2")
    assert np.array_equal(by_libsndfile(encode_whole(audio_format("wav"), pcm))[0] * 32768, values)
