"""Formats that lose something: the same sound, the same duration, from the first chunk on."""

from __future__ import annotations

import numpy as np
import pytest

from tests.ttsapp.decoding import by_ffmpeg, by_libsndfile, likeness, pieces, voice
from ttsapp.speech.encoders import AudioFormat, audio_format, encode_whole, encoder

SAID = voice(1.2)
CUTS = [[3840], [3839, 3, 1], [2], [100_000]]

# Name, rate, and by how many samples at that rate it may be longer. Opus tells its players what
# to skip. MP3 and AAC without a length in front cannot: their players hear the encoder's run-in
# (and what was put before a short first chunk) and a last frame that is filled up.
LOSSY = [
    ("opus", 8_000, 0),
    ("opus", 16_000, 0),
    ("opus", 24_000, 0),
    ("opus", 48_000, 0),
    ("webm", 24_000, 0),
    ("webm", 48_000, 0),
    *(("mp3", rate, 4 * 576) for rate in (8_000, 16_000, 22_050, 24_000)),
    *(("mp3", rate, 5 * 576) for rate in (11_025, 32_000, 44_100, 48_000)),
    *(("aac", rate, 4 * 1024) for rate in (8_000, 16_000, 22_050, 24_000, 44_100, 48_000)),
]


def decoded(audio: AudioFormat, body: bytes) -> tuple[np.ndarray, int]:
    if audio.name in ("mp3", "opus"):
        return by_libsndfile(body)
    return by_ffmpeg(body, {"webm": "webm", "aac": "aac"}[audio.name])


def streamed(audio: AudioFormat, pcm: bytes, cuts: list[int]) -> bytes:
    made = encoder(audio)
    return made.header() + b"".join(made.push(cut) for cut in pieces(pcm, cuts)) + made.finish()


def check(audio: AudioFormat, body: bytes, said: np.ndarray, longer: int) -> None:
    samples, rate = decoded(audio, body)
    excess = len(samples) / rate - len(said) / 24_000
    # Opus packets count in 1/48,000 s: a rounding each for the rate and for the end.
    assert -2 / audio.sample_rate <= excess <= (longer + 2) / audio.sample_rate


@pytest.mark.parametrize(("name", "rate", "longer"), LOSSY)
def test_duration(name: str, rate: int, longer: int) -> None:
    audio = audio_format(name, rate)
    check(audio, streamed(audio, SAID.tobytes(), [3840]), SAID, longer)


@pytest.mark.parametrize("cuts", CUTS, ids=str)
@pytest.mark.parametrize("name", ["mp3", "opus", "webm", "aac"])
def test_the_same_sound_whatever_the_cuts(name: str, cuts: list[int]) -> None:
    audio = audio_format(name)
    body = streamed(audio, SAID.tobytes(), cuts)
    check(audio, body, SAID, 4 * 1024)
    samples, rate = decoded(audio, body)
    said = np.interp(
        np.arange(len(SAID) * rate // 24_000) * 24_000 / rate, np.arange(len(SAID)), SAID
    )
    assert likeness(samples, said) > 0.98


@pytest.mark.parametrize(
    ("name", "longer"), [("mp3", 2304), ("opus", 0), ("webm", 0), ("aac", 4096)]
)
@pytest.mark.parametrize("count", [1, 7, 481, 28_800])
def test_whole_files(name: str, longer: int, count: int) -> None:
    audio = audio_format(name)
    if name == "webm" and count < 480:
        longer = 480  # nothing is trimmed off a first packet
    check(audio, encode_whole(audio, SAID[:count].tobytes()), SAID[:count], longer)


@pytest.mark.parametrize("name", ["opus", "webm", "aac", "mp3"])
def test_nothing_to_say_ends_well(name: str) -> None:
    made = encoder(audio_format(name))
    body = made.header() + made.push(b"") + made.finish()
    if name in ("opus", "webm"):
        assert body[:4] in (b"OggS", b"\x1aE\xdf\xa3")


# A resampler keeps up to 50 ms, so that a chunk must hold more: the engine's frames have 80 ms.
@pytest.mark.parametrize(
    ("name", "rate"),
    [(name, rate) for name, rate, _ in LOSSY]
    + [("pcm", 24_000), ("pcm_f32", 24_000), ("wav", 8_000), ("flac", 44_100), ("mulaw", 24_000)],
)
def test_something_leaves_with_the_first_chunk(name: str, rate: int) -> None:
    made = encoder(audio_format(name, rate))
    assert made.header() + made.push(SAID.tobytes()[:3840])


@pytest.mark.parametrize("name", ["mp3", "opus", "webm", "flac", "pcm"])
def test_something_leaves_with_a_tiny_first_chunk(name: str) -> None:
    made = encoder(audio_format(name))
    assert made.header() + made.push(SAID.tobytes()[:2])


@pytest.mark.parametrize("name", ["mp3", "opus", "webm", "aac", "flac"])
def test_no_chunk_is_kept_back(name: str) -> None:
    made = encoder(audio_format(name))
    made.header()
    assert all(made.push(piece) for piece in pieces(SAID.tobytes(), [3840]))


@pytest.mark.parametrize("rate", [22_050, 44_100, 48_000])
def test_aac_frames_follow_each_other(rate: int) -> None:
    """ADTS by its standard: each header names its rate, and its length leads to the next."""
    body = streamed(audio_format("aac", rate), SAID.tobytes(), [3840])
    rates = [96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025]
    place = frames = 0
    while place < len(body):
        assert body[place] == 0xFF
        assert body[place + 1] & 0xF6 == 0xF0
        assert rates[body[place + 2] >> 2 & 15] == rate
        place += (body[place + 3] & 3) << 11 | body[place + 4] << 3 | body[place + 5] >> 5
        frames += 1
    assert place == len(body)
    assert 0 <= frames * 1024 - len(SAID) * rate / 24_000 <= 3 * 1024


@pytest.mark.parametrize("bits", [32_000, 64_000, 96_000, 128_000, 192_000])
def test_bit_rate(bits: int) -> None:
    body = streamed(audio_format("mp3", 44_100, bits), SAID.tobytes(), [3840])
    heard, _ = by_libsndfile(body)
    assert len(body) * 8 * 44_100 / len(heard) == pytest.approx(bits, rel=0.05)
