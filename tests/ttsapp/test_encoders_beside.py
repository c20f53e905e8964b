"""Encoding beside the event loop."""

from __future__ import annotations

import asyncio
import threading
import tracemalloc

import pytest

from tests.ttsapp.decoding import by_libsndfile, voice
from ttsapp.speech.encoders import (
    AudioFormat,
    Encoding,
    WholeEncoding,
    audio_format,
    beside,
    encode_whole,
    encoder,
)

SAID = voice(0.3).tobytes()


async def encoded(name: str, speed: float = 1.0) -> bytes:
    encoding = Encoding(audio_format(name), speed)
    return (
        await encoding.push(SAID[:3840])
        + await encoding.push(SAID[3840:])
        + await encoding.finish()
    )


@pytest.mark.parametrize("name", ["pcm", "wav", "mp3", "opus", "webm", "aac", "flac", "mulaw"])
async def test_the_same_bytes_as_without_a_loop(name: str) -> None:
    made = encoder(audio_format(name))
    same = made.header() + made.push(SAID[:3840]) + made.push(SAID[3840:]) + made.finish()
    found = await encoded(name)
    if name in ("opus", "webm"):
        # Their streams and files carry numbers drawn by lot.
        assert len(found) == len(same)
    else:
        assert found == same


async def test_the_header_travels_with_the_first_chunk() -> None:
    assert (await Encoding(audio_format("wav")).push(SAID[:2]))[44:] == SAID[:2]


async def test_an_empty_answer_still_has_its_header() -> None:
    assert len(await Encoding(audio_format("wav")).finish()) == 44


async def test_what_takes_long_leaves_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    real = beside.encoder

    def noting(*args: object) -> object:
        seen.append(threading.current_thread() is threading.main_thread())
        return real(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(beside, "encoder", noting)
    await encoded("pcm")
    await encoded("mp3")
    await encoded("pcm", 1.5)
    assert seen == [True, False, False]


async def test_many_streams_at_once_do_not_mix() -> None:
    names = ["mp3", "flac", "aac", "mp3", "flac"]
    together = await asyncio.gather(*(encoded(name) for name in names))
    assert together == [await encoded(name) for name in names]


async def whole(audio: AudioFormat, pcm: bytes, speed: float, piece: int) -> bytes:
    file = WholeEncoding(audio, speed)
    for start in range(0, len(pcm), piece):
        await file.push(pcm[start : start + piece])
    return await file.finish()


async def test_whole_files() -> None:
    audio = audio_format("wav", 48_000)
    file = await whole(audio, SAID, 2.0, len(SAID))
    assert file == encode_whole(audio, SAID, 2.0)
    assert len(by_libsndfile(file)[0]) == len(SAID) // 2


LONG = voice(3.3).tobytes()


@pytest.mark.parametrize(
    "name", ["pcm", "wav", "wav_f32", "wav_mulaw", "pcm_f32", "mp3", "aac", "flac"]
)
@pytest.mark.parametrize("piece", [3841, 48_000, 70_001])
async def test_a_file_fed_in_pieces_is_the_file_of_the_whole(name: str, piece: int) -> None:
    audio = audio_format(name, 24_000)
    assert await whole(audio, LONG, 1.0, piece) == encode_whole(audio, LONG)


async def test_a_file_of_nothing() -> None:
    audio = audio_format("wav")
    assert await WholeEncoding(audio).finish() == encode_whole(audio, b"")


async def test_the_audio_of_a_file_is_not_kept_beside_it() -> None:
    """Ten minutes as wav_f32 at 48 kHz are 115 MB: that, and an eighth for growing."""
    file, second = WholeEncoding(audio_format("wav_f32", 48_000)), bytes(48_000)
    tracemalloc.start()
    try:
        for _ in range(600):
            await file.push(second)
        made = await file.finish()
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(made) == 58 + 600 * 48_000 * 4
    assert most < 1.2 * len(made)
