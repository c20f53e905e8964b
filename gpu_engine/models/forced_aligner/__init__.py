"""The Qwen3 forced aligner: when each word of a text is spoken in a recording."""

from gpu_engine.models.forced_aligner.config import ForcedAlignerConfig, read_config
from gpu_engine.models.forced_aligner.thinker import ForcedAligner
from gpu_engine.models.forced_aligner.tower import Steps

__all__ = ["ForcedAligner", "ForcedAlignerConfig", "Steps", "read_config"]
