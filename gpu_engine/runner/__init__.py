"""What touches the device: KV slots, codec state slots, sampling, and each job as one call."""

from gpu_engine.runner.local import LocalDevice
from gpu_engine.runner.protocol import CacheStats, Device, Outcome, Shapes, Ticket
from gpu_engine.runner.runner import Runner, Sampled
from gpu_engine.runner.session import Session
from gpu_engine.runner.voice import VoiceEncoding

__all__ = [
    "CacheStats",
    "Device",
    "LocalDevice",
    "Outcome",
    "Runner",
    "Sampled",
    "Session",
    "Shapes",
    "Ticket",
    "VoiceEncoding",
]
