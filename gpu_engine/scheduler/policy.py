"""The scheduler's limits and instants, and the chunk ramps that clients choose from."""

from __future__ import annotations

from dataclasses import dataclass

# Frames a decode, as a stream plays on. An upper bound: a short lead makes chunks smaller.
RAMPS: dict[str, tuple[int, ...]] = {
    "latency": (1, 2, 4, 8),
    "balanced": (2, 2, 4, 8, 16),
    "throughput": (8, 16),
}


@dataclass(frozen=True, slots=True)
class SchedulerSettings:
    """Seconds unless the name says otherwise; 0 positions mean no bound on memory."""

    slots: int = 8
    waiting: int = 32
    positions: int = 0
    page: int = 1
    prefill_rows: int = 1
    step_rows: int = 8
    codec_rows: int = 32
    codec_frames: int = 32
    longest_chunk: int = 16
    # A stream without audio is due this long after it arrived; its prefill sooner, because a
    # stream that has joined shares every later step.
    first_audio_target: float = 0.1
    join_head_start: float = 0.2
    # A playing stream is urgent this long before its listener runs dry. When only the next chunk's
    # time is left it goes before first frames, unless these have waited as long as the rescue.
    margin: float = 0.2
    rescue: float = 1.0
    # What a chunk may be late on its way to the listener.
    cushion: float = 0.008
    # Audio is held back before the first release at most this long.
    longest_hold: float = 2.0
    # Who has less in hand is as urgent as a stream that has just begun.
    rival_lead: float = 0.75
    busy_lead: float = 3.0
    idle_lead: float = 12.0
    # A batch that stands before a first frame takes rows with more time than the horizon only
    # while that adds no more than the tolerance; any batch ends within the longest job if it can.
    fill_horizon: float = 1.0
    fill_tolerance: float = 0.25
    block_limit: float = 0.008
    longest_job: float = 0.05
    background_patience: float = 5.0
    # A voice that is encoded, or a reference that is heard for the first time, is cut in pieces;
    # each waits this long for a moment that nobody needs.
    encode_patience: float = 0.25
    reading_patience: float = 0.1
    background_share: float = 0.75
    # Streams are let in while their frames together fit into this share of real time; one that has
    # waited out the patience is let in as soon as there is a slot.
    utilisation: float = 0.85
    slack_patience: float = 3.0
    # While tenants share the device a job takes at most this part of a lone stream's first audio:
    # whoever comes waits for the job that runs. What a tenant asked for is kept for it, fading.
    # Who asks for more than the others, on average, goes later, for each doubling.
    block_share: float = 0.45
    claim_fades: float = 20.0
    handicap: float = 1.0
    shared_head_start: float = 0.4
    longest_handicap: float = 1.0
