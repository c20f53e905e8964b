"""What an engine process is told at start, shared by front and core."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from gpu_engine.align.folder import aligner_folder
from gpu_engine.config import TalkerConfig
from gpu_engine.errors import EngineError
from gpu_engine.scheduler import SchedulerSettings

ASSETS = Path(__file__).parent.parent / "assets"
CPU_STREAMS, CUDA_STREAMS = 8, 64
# A small model's memory is small too, and its modules in C speak more than eight at once.
SMALL_ON_CPU_STREAMS = 16
CPU_CACHE_MB, CUDA_CACHE_MB = 256, 1024
SMALL_MODEL = 512
MOST_CODEC_THREADS = 4
# Seconds without a heartbeat: not serving from the first, replaced from the second. The loop's
# pulse waits for the job that runs, which takes a second where it takes long; on a CPU a large
# model's prefill alone takes many.
SILENCE, SILENCE_LARGE_ON_CPU = (5.0, 15.0), (60.0, 240.0)


# Flag, least and most. What lies outside is a slip of the hand.
RANGES: tuple[tuple[str, float, float], ...] = (
    ("--threads", 0, 1024),
    ("--max-streams", 0, 4096),
    ("--waiting", 0, 65_536),
    ("--max-positions", 64, 1 << 20),
    ("--cache-mb", 0, 1 << 20),
    ("--busy-lead", 0.1, 600.0),
    ("--idle-lead", 0.1, 600.0),
    ("--text-timeout", 0.1, 86_400.0),
    ("--grace", 0.0, 3600.0),
    ("--metrics-port", 0, 65_535),
)


class BadSetting(EngineError):
    """A start option that cannot work; the message names it."""

    def __init__(self, problem: str) -> None:
        super().__init__("bad_setting", problem)


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """Seconds unless the name says otherwise; 0 streams, threads and MB: what fits the device."""

    checkpoint: str
    listen: str = "127.0.0.1:7788"
    device: str = "auto"
    threads: int = 0
    kernels: str = "auto"
    aligner: str = "auto"
    weights: str = "bf16"
    max_streams: int = 0
    waiting: int = 32
    max_positions: int = 4096
    cache_mb: int = 0
    in_context: str = "interleaved"
    busy_lead: float = 3.0
    idle_lead: float = 12.0
    metrics_port: int = 0
    text_timeout: float = 20.0
    unread_limit: float = 180.0
    start_limit: float = 900.0
    grace: float = 2.0
    loop: str = "auto"
    engine_id: str = ""

    def check(self) -> None:
        """Raises BadSetting naming the flag."""
        for flag, least, most in RANGES:
            value = getattr(self, flag.removeprefix("--").replace("-", "_"))
            if not least <= value <= most:
                raise BadSetting(f"{flag} is {value:.10g}, expected {least:.10g} to {most:.10g}")
        if self.busy_lead > self.idle_lead:
            lead, most = self.busy_lead, self.idle_lead
            raise BadSetting(f"--busy-lead is {lead:g}, expected --idle-lead's {most:g} at most")

    def check_model(self, talker: TalkerConfig) -> None:
        """What the checkpoint limits. Raises BadSetting naming the flag."""
        most = talker.max_position_embeddings
        if self.max_positions > most:
            problem = f"--max-positions is {self.max_positions}"
            raise BadSetting(f"{problem}, expected the checkpoint's {most} at most")

    @property
    def folder(self) -> Path:
        return Path(self.checkpoint)

    @property
    def aligner_folder(self) -> Path | None:
        return aligner_folder(self.aligner, self.folder)

    @property
    def max_text_tokens(self) -> int:
        """A quarter of the positions: a token becomes about three frames of speech."""
        return self.max_positions // 4

    def overlaps(self, usual: bool) -> bool:
        """Whether jobs are launched while another runs; `usual` is what the device is made for."""
        return usual if self.loop == "auto" else self.loop == "overlapped"

    @property
    def cuda_slots(self) -> int:
        return self.max_streams or CUDA_STREAMS

    def slots(self, device: str, talker: TalkerConfig) -> int:
        if device == "cuda":
            return self.cuda_slots
        is_small = talker.hidden_size < SMALL_MODEL
        return self.max_streams or (SMALL_ON_CPU_STREAMS if is_small else CPU_STREAMS)

    def cache_bytes(self, device: str) -> int:
        """Of each cache. An official preset's beginning takes 1.2 MB, that of a clone in context up
        to 40, the codec's state behind its reference 5."""
        return (self.cache_mb or (CUDA_CACHE_MB if device == "cuda" else CPU_CACHE_MB)) << 20

    def cpu_threads(self, talker: TalkerConfig) -> int:
        """A small model's operators are too short to share: a second thread measured no faster
        alone, and several times slower beside other work, because the threads wait by spinning."""
        if self.threads:
            return self.threads
        return 1 if talker.hidden_size < SMALL_MODEL else max(1, (os.cpu_count() or 1) // 2)

    @property
    def codec_threads(self) -> int:
        """Threads that share a decode of several streams in C, by streams: none waits by spinning,
        and two cores halve the longest job there is."""
        return self.threads or min(MOST_CODEC_THREADS, os.cpu_count() or 1)

    @staticmethod
    def silence(device: str, talker: TalkerConfig) -> tuple[float, float]:
        """After how many seconds a silent core counts as not serving, and as hung."""
        slow = device == "cpu" and talker.hidden_size >= SMALL_MODEL
        return SILENCE_LARGE_ON_CPU if slow else SILENCE

    def scheduler(self, device: str, talker: TalkerConfig) -> SchedulerSettings:
        # On a CPU a decode takes 5 ms a frame: 32 frames are as long as others should wait.
        # A GPU makes a next chunk in 20 to 30 ms: who has twice that in hand is not to go before a
        # prompt, and a stream that has just begun has 80.
        rows, frames, margin = (8, 32, 0.2) if device == "cpu" else (64, 512, 0.05)
        return SchedulerSettings(
            slots=self.slots(device, talker),
            waiting=self.waiting,
            step_rows=rows,
            codec_frames=frames,
            margin=margin,
            busy_lead=self.busy_lead,
            idle_lead=self.idle_lead,
        )


def shipped_checkpoint() -> str:
    """The checkpoint folder that came with the package, or nothing."""
    return next((str(file.parent) for file in sorted(ASSETS.glob("*/config.json"))), "")


def default_checkpoint() -> str:
    """What the operator chose for the product, or else what came with the package."""
    return os.environ.get("PARLANCE_CHECKPOINT") or shipped_checkpoint()
