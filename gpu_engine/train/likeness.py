"""A loss for a codec whose audio is no longer its speaker's.

Spectra hardly tell two people apart who say the same: a codec of few bits learns a voice between
them. A speaker encoder that was trained on many voices hears the difference.
"""

from __future__ import annotations

from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn import functional as F

from gpu_engine.config import read_config
from gpu_engine.models.speaker import FFT_SIZE, HOP, SpeakerEncoder
from gpu_engine.train.losses import LogMel

MEL_FLOOR = 1e-5  # the encoder's own
FOLLOW = 0.02  # a batch's least share in the running mean
PREFIX = "speaker_encoder."


class Likeness(nn.Module):
    """How far audio has gone from its speaker: `encoder` listens and learns nothing.

    All voices' vectors lie close together (cosines of 0.8 between strangers were seen), so they are
    compared as they differ from the mean of the voices that were heard so far. The layers before
    are compared too, frame by frame: there are many ways to please one vector of a small network,
    and few to be heard alike all the way through it.
    """

    mean: Tensor
    heard: Tensor

    def __init__(self, encoder: SpeakerEncoder) -> None:
        super().__init__()
        self.encoder = encoder.eval().requires_grad_(False)
        self.mel = LogMel(FFT_SIZE, encoder.config.mel_dim, HOP, floor=MEL_FLOOR)
        self.register_buffer("mean", torch.zeros(encoder.config.enc_dim))
        self.register_buffer("heard", torch.zeros(()))

    def forward(self, made: Tensor, audio: Tensor) -> tuple[Tensor, Tensor]:
        """Audio [B, S] and [B, S] at 24 kHz to the mean of 1 - cosine of their vectors, and to how
        far the layers before are apart relative to their size; both 0 where all is alike."""
        with torch.no_grad():
            real, real_layers = self._listen(audio)
            self.heard.add_(1)
            self.mean.lerp_(real.mean(0), (1 / self.heard).clamp(min=FOLLOW))
        mine, layers = self._listen(made)
        alike = F.cosine_similarity(mine - self.mean, real - self.mean)
        apart = [
            (a - b).abs().mean() / b.abs().mean() for a, b in zip(layers, real_layers, strict=True)
        ]
        return (1 - alike).mean(), torch.stack(apart).mean()

    def _listen(self, audio: Tensor) -> tuple[Tensor, list[Tensor]]:
        """Vectors [B, D], and the outputs of the encoder's blocks [B, C, T]."""
        layers: list[Tensor] = []
        hooks = [
            block.register_forward_hook(lambda module, given, made: layers.append(made))
            for block in self.encoder.blocks
        ]
        found: Tensor = self.encoder(self.mel(audio).transpose(1, 2))
        for hook in hooks:
            hook.remove()
        return found, layers


def listener(checkpoint: Path) -> Likeness:
    """With the speaker encoder of a Base checkpoint. Raises ValueError for one of another kind.

    Read here: the checkpoint's loader needs what serves, and machines that train have none of it.
    """
    config = read_config(checkpoint)
    if config.kind != "base" or config.speaker_encoder is None:
        raise ValueError(f"{checkpoint} has no speaker encoder: a Base checkpoint is needed")
    tensors = load_file(checkpoint / "model.safetensors")
    encoder = SpeakerEncoder(config.speaker_encoder)
    encoder.load_state_dict(
        {k.removeprefix(PREFIX): v for k, v in tensors.items() if k.startswith(PREFIX)}
    )
    return Likeness(encoder)
