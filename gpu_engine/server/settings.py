"""What an engine process is told at start, shared by front and core."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from gpu_engine.config import TalkerConfig
from gpu_engine.scheduler import SchedulerSettings

ASSETS = Path(__file__).parent.parent / "assets"
CPU_STREAMS, CUDA_STREAMS = 8, 64
SMALL_MODEL = 512


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """Seconds unless the name says otherwise; 0 streams and 0 threads mean what fits the device."""

    checkpoint: str
    listen: str = "127.0.0.1:7788"
    device: str = "auto"
    threads: int = 0
    max_streams: int = 0
    waiting: int = 32
    max_positions: int = 4096
    busy_lead: float = 3.0
    idle_lead: float = 12.0
    metrics_port: int = 0
    text_timeout: float = 20.0
    unread_limit: float = 180.0
    hang_limit: float = 60.0
    grace: float = 2.0
    engine_id: str = ""

    @property
    def folder(self) -> Path:
        return Path(self.checkpoint)

    @property
    def max_text_tokens(self) -> int:
        """A quarter of the positions: a token becomes about three frames of speech."""
        return self.max_positions // 4

    def slots(self, device: str) -> int:
        return self.max_streams or (CUDA_STREAMS if device == "cuda" else CPU_STREAMS)

    def cpu_threads(self, talker: TalkerConfig) -> int:
        """A small model's operators are too short to share: a second thread measured no faster
        alone, and several times slower beside other work, because the threads wait by spinning."""
        if self.threads:
            return self.threads
        return 1 if talker.hidden_size < SMALL_MODEL else max(1, (os.cpu_count() or 1) // 2)

    def scheduler(self, device: str) -> SchedulerSettings:
        # On a CPU a decode takes 5 ms a frame: 32 frames are as long as others should wait.
        rows, frames = (8, 32) if device == "cpu" else (64, 512)
        return SchedulerSettings(
            slots=self.slots(device),
            waiting=self.waiting,
            step_rows=rows,
            codec_frames=frames,
            busy_lead=self.busy_lead,
            idle_lead=self.idle_lead,
        )


def shipped_checkpoint() -> str:
    """The checkpoint folder that came with the package, or nothing."""
    return next((str(file.parent) for file in sorted(ASSETS.glob("*/config.json"))), "")
