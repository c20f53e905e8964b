"""Level and leading silence of 24 kHz mono audio."""

from gpu_engine.audio.level import to_pcm16, window_rms
from gpu_engine.audio.silence import LeadingSilence

__all__ = ["LeadingSilence", "to_pcm16", "window_rms"]
