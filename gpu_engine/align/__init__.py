"""When words are spoken: aligners behind one interface, and what follows a stream's words."""

from gpu_engine.align.track import Aligner, TimedWord, Track

__all__ = ["Aligner", "TimedWord", "Track"]
