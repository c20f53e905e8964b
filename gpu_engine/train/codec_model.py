"""The codec in training: encoder, quantizer and decoder together, with heads that are dropped."""

from __future__ import annotations

import itertools

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from gpu_engine.config import CodecConfig, CodecDecoderConfig, CodecEncoderConfig
from gpu_engine.models.codec.decoder import CodecDecoder, ConvNeXt
from gpu_engine.models.codec.encoder import CodecEncoder
from gpu_engine.models.codec.transformer import Scale
from gpu_engine.train.alignment import PHONES, PHONES_PER_FRAME
from gpu_engine.train.codec_quantizer import TrainingQuantizer

PHONE_CONTEXT = 2  # frames that phones are named from: what went before is known when speaking
TINY_CODEC = CodecConfig(
    decoder_config=CodecDecoderConfig(
        codebook_dim=128,
        codebook_size=512,
        num_quantizers=16,
        latent_dim=256,
        decoder_dim=256,
        hidden_size=192,
        intermediate_size=512,
        num_hidden_layers=3,
        num_attention_heads=3,
        head_dim=64,
        sliding_window=24,
        rms_norm_eps=1e-5,
        rope_theta=10000.0,
        upsample_rates=(8, 5, 4, 3),
        upsampling_ratios=(2, 2),
    ),
    encoder_config=CodecEncoderConfig(
        num_filters=16,
        hidden_size=192,
        intermediate_size=512,
        num_hidden_layers=2,
        num_attention_heads=3,
        head_dim=64,
        codebook_dim=64,
        codebook_size=512,
        num_quantizers=16,
        vector_quantization_hidden_dimension=64,
        upsampling_ratios=(8, 6, 5, 4),
        norm_eps=1e-5,
        rope_theta=10000.0,
    ),
)


class CodecModel(nn.Module):
    """Encoder, training quantizer, decoder, and two heads that are dropped after training."""

    def __init__(self, config: CodecConfig) -> None:
        super().__init__()
        self.encoder = CodecEncoder(config.encoder_config, config.encoder_valid_num_quantizers)
        self.decoder = CodecDecoder(config.decoder_config)
        initialise(self.encoder, self.decoder)
        self.quantizer = TrainingQuantizer(self.encoder, self.decoder)
        # From the quantized latents to the eight 10 ms log-mel frames each of them covers: a short
        # path for the encoder's gradient, without which it stays at the mean spectrum.
        width = config.decoder_config.codebook_dim
        self.mel_head = nn.Sequential(nn.Linear(width, 384), nn.GELU(), nn.Linear(384, 8 * 80))
        semantic = config.encoder_config.codebook_dim
        self.phone_head = nn.Sequential(
            nn.Linear(PHONE_CONTEXT * semantic, 256),
            nn.GELU(),
            nn.Linear(256, PHONES_PER_FRAME * PHONES),
        )


def initialise(encoder: CodecEncoder, decoder: CodecDecoder) -> None:
    """He's scheme for the encoder, which keeps its input's size; PyTorch's own for the decoder.

    With PyTorch's the encoder shrinks its input below its biases and carries nothing; with a
    deviation of 0.02 the decoder shrinks its signal to 1e-4. Measured with both.
    """
    for module in encoder.modules():
        if isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, std=0.02)
        if isinstance(module, nn.Conv1d):
            nn.init.kaiming_normal_(module.weight)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
    for module in itertools.chain(encoder.modules(), decoder.modules()):
        if isinstance(module, Scale):
            nn.init.constant_(module.scale, 0.1)
        if isinstance(module, ConvNeXt):
            nn.init.constant_(module.gamma, 0.1)


def in_context(semantic: Tensor) -> Tensor:
    """[B, D, T] to [B, T, PHONE_CONTEXT * D]: each frame behind the ones before it."""
    frames = semantic.transpose(1, 2)
    shifts = range(PHONE_CONTEXT - 1, -1, -1)
    before = [F.pad(frames, (0, 0, shift, 0))[:, : frames.shape[1]] for shift in shifts]
    return torch.cat(before, -1)


def scale_loss(latents: Tensor) -> Tensor:
    """Mean squared log-deviation of the channels of latents [B, C, T].

    The norm before the quantizer divides by *running* statistics, so louder latents always pay for
    the encoder; unchecked they grew to 1e4.
    """
    deviation: Tensor = latents.float().var((0, 2)).add(1e-6).log()
    return deviation.mul(0.5).square().mean()


def export(state: dict[str, Tensor], config: CodecConfig) -> tuple[CodecEncoder, CodecDecoder]:
    """The official modules, on the CPU, from a saved training state."""
    model = CodecModel(config)
    model.load_state_dict(state)
    model.quantizer.export(model.encoder, model.decoder)
    return model.encoder.eval(), model.decoder.eval()
