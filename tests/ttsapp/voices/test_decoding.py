"""Which reader a recording is given to, and whose turn it is."""

from __future__ import annotations

import asyncio

import pytest

from tests.ttsapp.voices import recordings as heard
from ttsapp.errors import ApiError
from ttsapp.voices.clips import decoding
from ttsapp.voices.clips.containers import container_of

ID3 = b"ID3\x04\x00\x00\x00\x00\x01\x00" + bytes(128)


@pytest.mark.parametrize(
    ("beginning", "name"),
    [
        (heard.wav(heard.noise(0.1)), "wav"),
        (heard.packed(heard.noise(0.1), "FLAC"), "flac"),
        (heard.packed(heard.noise(0.1), "MP3"), "mp3"),
        (heard.packed(heard.noise(0.1), "OGG"), "ogg"),
        (heard.packed(heard.noise(0.1), "W64"), "w64"),
        (heard.packed(heard.noise(0.1), "AIFF"), "aiff"),
        (heard.packed(heard.noise(0.1), "CAF"), "caf"),
        (b"\x00\x00\x00\x1cftypM4A ", "mov"),
        (b"\x1a\x45\xdf\xa3\x9fB\x86\x81", "matroska"),
        (b"\xff\xf1L@!_", "aac"),
        (ID3 + b"\xff\xf9L@!_", "aac"),
        (ID3 + ID3 + bytes(9) + b"\xff\xfb\x90d", "mp3"),
    ],
)
def test_a_recording_has_the_reader_of_its_beginning(beginning: bytes, name: str) -> None:
    assert container_of(beginning) == name


@pytest.mark.parametrize(
    "content",
    [
        b"v=0\no=- 0 0 IN IP4 127.0.0.1\n",
        b"#EXTM3U\nfile:///etc/passwd\n",
        b"ffconcat version 1.0\nfile /etc/passwd\n",
        b"RIFF\x00\x00\x00\x00AVI LIST",
        b"\xff",
        ID3,
    ],
)
async def test_what_is_no_sound_is_refused_without_a_reader(
    monkeypatch: pytest.MonkeyPatch, content: bytes
) -> None:
    monkeypatch.setattr(decoding, "_in_child", None)
    with pytest.raises(ApiError) as refused:
        await decoding.decode(content, "audio_sample", 1)
    assert refused.value.code == "not_audio"


async def test_who_sends_many_waits_for_who_sends_one() -> None:
    turns, had, first = decoding._Turns(), list[int](), asyncio.Event()

    async def read(tenant: int) -> None:
        async with turns.of(tenant):
            await first.wait()
            had.append(tenant)

    async with asyncio.TaskGroup() as group:
        for tenant in (1, 1, 1, 1, 2, 3):
            group.create_task(read(tenant))
            await asyncio.sleep(0)
        first.set()

    assert had == [1, 2, 3, 1, 1, 1]
