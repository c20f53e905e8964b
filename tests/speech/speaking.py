"""Clips of sentences: by a checkpoint, or by the running product. None is said twice."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import numpy as np
import torch
from websockets.sync.client import connect

from gpu_engine.config import SamplingConfig
from gpu_engine.models.checkpoint import Checkpoint
from gpu_engine.models.prompt import Layout, PromptRequest
from gpu_engine.models.synthesis import Utterance, synthesise
from tests.speech.clips import save
from tests.speech.listening import Recording, Sentence

LAYOUTS: tuple[Layout, ...] = ("full", "streaming")
BATCH = 20
CHARACTERS_PER_SECOND = 15.3
FRAMES_PER_SECOND = 12.5


@dataclass(frozen=True)
class Job:
    """A sentence to be said into a file."""

    sentence: Sentence
    prompt: PromptRequest
    seed: int
    file: Path

    @property
    def recording(self) -> Recording:
        return Recording(self.sentence, self.file)

    @property
    def most_frames(self) -> int:
        seconds = 2.5 * len(self.sentence.words) / CHARACTERS_PER_SECOND + 2
        return int(seconds * FRAMES_PER_SECOND)


Say = Callable[[Iterable[Job]], None]


def jobs(said: Iterable[tuple[int, Sentence, str]], layout: Layout, folder: Path) -> Iterator[Job]:
    """From numbers, sentences and presets; the seed is the sentence's number."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, sentence, voice in said:
        prompt = PromptRequest(sentence.text, "english", voice, layout=layout)
        yield Job(sentence, prompt, number, folder / f"{number:03}.wav")


def by_checkpoint(checkpoint: Checkpoint, sampling: SamplingConfig | None = None) -> Say:
    """In batches of like lengths."""

    def say(asked: Iterable[Job]) -> None:
        missing = [job for job in asked if not job.file.exists()]
        missing.sort(key=lambda job: job.most_frames)
        for start in range(0, len(missing), BATCH):
            part = missing[start : start + BATCH]
            settings = sampling or checkpoint.config.sampling
            rows = [Utterance(job.prompt, settings, job.seed, job.most_frames) for job in part]
            for job, speech in zip(part, synthesise(checkpoint, rows), strict=True):
                save(job.file, speech.audio)
            print(f"said {start + len(part)} of {len(missing)}", flush=True)

    return say


def by_product(asked: Iterable[Job]) -> None:
    """Whole texts over HTTP; word by word, as the streaming layout takes them, over the socket."""
    for job in asked:
        if not job.file.exists():
            pcm = _live(job) if job.prompt.layout == "streaming" else _whole(job)
            samples = np.frombuffer(pcm, "<i2").astype(np.float32) / 32768
            save(job.file, torch.from_numpy(samples))


def _headers() -> dict[str, str]:
    return {"Authorization": f"Bearer {os.environ['PARLANCE_KEY']}"}


def _whole(job: Job) -> bytes:
    body = {
        "model": "tts-1",
        "voice": job.prompt.speaker,
        "input": job.prompt.text,
        "response_format": "pcm",
        "stream": False,
        "seed": job.seed,
    }
    url = f"{os.environ['PARLANCE_URL']}/v1/audio/speech"
    answer = httpx.post(url, json=body, headers=_headers(), timeout=120)
    answer.raise_for_status()
    return answer.content


def _live(job: Job) -> bytes:
    url = os.environ["PARLANCE_URL"].replace("http", "ws", 1) + "/v1/audio/speech/ws"
    start = {"type": "start", "mode": "token", "voice": job.prompt.speaker, "seed": job.seed}
    with connect(url, additional_headers=_headers()) as socket:
        for message in (start, {"type": "text", "text": job.prompt.text}, {"type": "end"}):
            socket.send(json.dumps(message))
        pcm = bytearray()
        while True:
            answer = socket.recv(timeout=120)
            if isinstance(answer, bytes):
                pcm += answer
                continue
            said = json.loads(answer)
            if said["type"] == "error":
                raise RuntimeError(f"{job.sentence.text!r}: {said['error']['message']}")
            if said["type"] == "finished":
                return bytes(pcm)
