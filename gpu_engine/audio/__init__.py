"""Level and leading silence of 24 kHz mono audio."""

from gpu_engine.audio.level import to_pcm16, window_rms
from gpu_engine.audio.silence import LeadingSilence, QuietRun, with_closing_silence

__all__ = ["LeadingSilence", "QuietRun", "to_pcm16", "window_rms", "with_closing_silence"]
