"""The real core without its process: desk, scheduler, runner and engine, driven turn by turn."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gpu_engine import messages as m
from gpu_engine.align import Aligner
from gpu_engine.models.checkpoint import Checkpoint
from gpu_engine.proto import engine_pb2 as pb
from gpu_engine.runner import LocalDevice, Runner
from gpu_engine.scheduler import Scheduler, SchedulerSettings
from gpu_engine.server.artifact import Seal
from gpu_engine.server.engine import Engine
from gpu_engine.server.opening import Desk
from gpu_engine.server.settings import EngineSettings
from gpu_engine.server.voices import Voices

TEXT = "The quick brown fox jumps over the lazy dog."
FRAMES = 24


def start(text: str = TEXT, voice: pb.Voice | None = None, **fields: Any) -> pb.Start:
    """A sound Start: preset ryan, English, seed 1, silence kept, 24 frames at most."""
    usual: dict[str, Any] = {
        "language": "english",
        "seed": 1,
        "keep_silence": True,
        "max_frames": FRAMES,
    }
    return pb.Start(text=text, voice=voice or pb.Voice(preset="ryan"), **(usual | fields))


def distance(one: NDArray[np.int16], other: NDArray[np.int16]) -> int:
    """Largest difference in units of the last bit of 16-bit audio. Equal codes may end one apart:
    how audio is cut into decodes depends on time, and float sums on how it is cut."""
    assert one.shape == other.shape
    return int(np.abs(one.astype(int) - other.astype(int)).max())


@dataclass
class Heard:
    """What the engine said about one stream."""

    accepted: bool = False
    pcm: bytes = b""
    chunks: list[int] = field(default_factory=list)
    words: list[tuple[int, int, int, int]] = field(default_factory=list)
    end: m.StreamFinished | m.StreamFailed | None = None
    codes: Tensor = field(default_factory=lambda: torch.empty(0))

    @property
    def samples(self) -> NDArray[np.int16]:
        return np.frombuffer(self.pcm, "<i2")

    @property
    def finished(self) -> m.StreamFinished:
        assert isinstance(self.end, m.StreamFinished), self.end
        return self.end

    @property
    def failed(self) -> m.StreamFailed:
        assert isinstance(self.end, m.StreamFailed), self.end
        return self.end


def desk(checkpoint: Checkpoint, settings: EngineSettings | None = None) -> Desk:
    """The front's half for a checkpoint."""
    settings = settings or EngineSettings(str(checkpoint.folder), max_positions=512)
    config, seal = checkpoint.config, Seal(b"the installation's key")
    voices = Voices("tiny", config, checkpoint.fingerprint, seal)
    return Desk("tiny", config, checkpoint.tokenizer, settings, voices)


class Bench:
    """`submit` opens a stream, `run` turns until nothing is left to do."""

    def __init__(
        self, checkpoint: Checkpoint, aligner: Aligner | None = None, **limits: Any
    ) -> None:
        self.checkpoint = checkpoint
        self.settings = EngineSettings(str(checkpoint.folder), max_positions=512)
        languages = aligner.languages if aligner is not None else ()
        self.desk = replace(desk(checkpoint, self.settings), word_languages=languages)
        self.runner = Runner(checkpoint, 4, 512)
        chosen = SchedulerSettings(**({"slots": 4} | limits))
        self.scheduler = Scheduler(chosen)
        self.device = LocalDevice(self.runner)
        self.engine = Engine(
            self.device, self.scheduler, checkpoint.config, self._hear, aligner=aligner
        )
        self.heard: dict[int, Heard] = {}
        self.clips: list[m.ToFront] = []
        self.now = 0.0

    def submit(self, opening: pb.Start, done: bool = True) -> int:
        number = len(self.heard) + 1
        self.heard[number] = Heard()
        submit = self.desk.submit(number, opening, opening.text, done)
        self.engine.handle(submit, self.now)
        return number

    def turn(self) -> bool:
        """One job. Codes are kept as they grow: slots are reused."""
        worked = self.engine.turn(self._clock)
        for number, row in self.engine.live.items():
            if row.session.frames:
                codes = self.device.spoken_codes(row.slot, row.session.frames)
                self.heard[number].codes = codes
        return worked

    def _clock(self) -> float:
        self.now += 0.001
        return self.now

    def run(self) -> None:
        while self.engine.live or len(self.engine.captions):
            self.turn()
        self.engine.check()

    def say(self, opening: pb.Start) -> Heard:
        number = self.submit(opening)
        self.run()
        return self.heard[number]

    def say_together(self, *openings: pb.Start) -> list[Heard]:
        numbers = [self.submit(opening) for opening in openings]
        self.run()
        return [self.heard[number] for number in numbers]

    def _hear(self, message: m.ToFront) -> None:
        match message:
            case m.StreamAccepted():
                self.heard[message.stream].accepted = True
            case m.AudioChunk():
                heard = self.heard[message.stream]
                assert message.first_sample == len(heard.pcm) // 2
                heard.pcm += message.pcm
                heard.chunks.append(len(message.pcm) // 2)
            case m.StreamWords():
                assert self.heard[message.stream].end is None, "words come before the end"
                self.heard[message.stream].words += message.words
            case m.StreamFinished() | m.StreamFailed():
                assert self.heard[message.stream].end is None, "a stream ends once"
                self.heard[message.stream].end = message
            case _:
                self.clips.append(message)
