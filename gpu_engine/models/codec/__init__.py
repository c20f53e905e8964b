"""The 12.5 Hz codec: 16 codes a frame to 24 kHz audio, and back."""

from gpu_engine.models.codec.decoder import CodecDecoder
from gpu_engine.models.codec.encoder import CodecEncoder
from gpu_engine.models.codec.state import CodecState

__all__ = ["CodecDecoder", "CodecEncoder", "CodecState"]
