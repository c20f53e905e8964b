"""A clip of speech as a voice."""

from __future__ import annotations

import numpy as np
import torch

from gpu_engine.models.checkpoint import Checkpoint
from gpu_engine.models.speaker import log_mel


@torch.inference_mode()
def encode_voice(checkpoint: Checkpoint, pcm: bytes) -> tuple[bytes, bytes]:
    """A float32 clip as speaker embedding and codes (empty without an encoder for them)."""
    device = checkpoint.talker.device
    samples = torch.from_numpy(np.frombuffer(pcm, "<f4").astype(np.float32)).to(device)
    speaker, codec = checkpoint.speaker_encoder, checkpoint.codec_encoder
    assert speaker is not None, "the front asks only where a voice can be encoded"
    embedding = speaker(log_mel(samples[None]))[0].float().cpu().numpy().astype("<f4").tobytes()
    if codec is None:
        return embedding, b""
    codes = codec.encode(samples[None])[0].T.cpu().numpy().astype("<u2")
    return embedding, codes.tobytes()
