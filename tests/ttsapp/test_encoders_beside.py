"""Encoding beside the event loop."""

from __future__ import annotations

import asyncio
import threading

import pytest

from tests.ttsapp.decoding import by_libsndfile, voice
from ttsapp.speech.encoders import Encoding, audio_format, beside, encode_whole, encoder, whole

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


async def test_whole_files() -> None:
    audio = audio_format("wav", 48_000)
    file = await whole(audio, SAID, 2.0)
    assert file == encode_whole(audio, SAID, 2.0)
    assert len(by_libsndfile(file)[0]) == len(SAID) // 2
