"""The shapes of the official checkpoints, and modules of those shapes with random weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import torch
from torch import nn

from gpu_engine.config import CodecDecoderConfig, PredictorConfig, TalkerConfig
from gpu_engine.models.codec import CodecDecoder
from gpu_engine.models.layers import fuse_layers
from gpu_engine.models.talker import Talker

Module = TypeVar("Module", bound=nn.Module)

PREDICTOR = PredictorConfig(
    hidden_size=1024,
    intermediate_size=3072,
    num_hidden_layers=5,
    num_attention_heads=16,
    num_key_value_heads=8,
    head_dim=128,
    vocab_size=2048,
    num_code_groups=16,
    rms_norm_eps=1e-6,
    rope_theta=1e6,
)
TALKER_1B7 = TalkerConfig(
    hidden_size=2048,
    intermediate_size=6144,
    num_hidden_layers=28,
    num_attention_heads=16,
    num_key_value_heads=8,
    head_dim=128,
    text_hidden_size=2048,
    text_vocab_size=151936,
    vocab_size=3072,
    num_code_groups=16,
    rms_norm_eps=1e-6,
    rope_theta=1e6,
    max_position_embeddings=32768,
    codec_bos_id=2149,
    codec_eos_token_id=2150,
    codec_pad_id=2148,
    codec_think_id=2154,
    codec_nothink_id=2155,
    codec_think_bos_id=2156,
    codec_think_eos_id=2157,
    codec_language_id={"english": 2050},
    spk_id={"ryan": 3061},
    spk_is_dialect={"ryan": False},
    code_predictor_config=PREDICTOR,
)
TALKER_0B6 = replace(TALKER_1B7, hidden_size=1024, intermediate_size=3072)
CODEC = CodecDecoderConfig(
    codebook_dim=512,
    codebook_size=2048,
    num_quantizers=16,
    latent_dim=1024,
    decoder_dim=1536,
    hidden_size=512,
    intermediate_size=1024,
    num_hidden_layers=8,
    num_attention_heads=16,
    head_dim=64,
    sliding_window=72,
    rms_norm_eps=1e-5,
    rope_theta=10000.0,
    upsample_rates=(8, 5, 4, 3),
    upsampling_ratios=(2, 2),
)
TALKERS = {"1.7B": TALKER_1B7, "0.6B": TALKER_0B6}


def narrow(config: TalkerConfig) -> TalkerConfig:
    """The same model with widths that an interpreter gets through, for dry runs."""
    small: dict[str, Any] = {"intermediate_size": 96, "num_hidden_layers": 2}
    small |= {"num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 64}
    predictor = replace(config.code_predictor_config, hidden_size=64, vocab_size=64, **small)
    return replace(
        config,
        hidden_size=128,
        text_hidden_size=32,
        text_vocab_size=64,
        vocab_size=80,
        codec_eos_token_id=71,
        code_predictor_config=predictor,
        **small,
    )


def narrow_codec(config: CodecDecoderConfig) -> CodecDecoderConfig:
    return replace(
        config,
        codebook_dim=32,
        codebook_size=64,
        latent_dim=32,
        decoder_dim=256,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=2,
        head_dim=16,
        sliding_window=12,
    )


def random_talker(config: TalkerConfig, device: torch.device, dtype: torch.dtype) -> Talker:
    """Made on the device. Its text embedding, most of the weights and no part of a step, is cut."""
    cut = replace(config, text_vocab_size=min(config.text_vocab_size, 1024))
    talker = fill_random(lambda: Talker(cut), device, dtype)
    fuse_layers(talker)
    return talker


def random_codec(config: CodecDecoderConfig, device: torch.device) -> CodecDecoder:
    return fill_random(lambda: CodecDecoder(config), device, torch.float32)


def fill_random(build: Callable[[], Module], device: torch.device, dtype: torch.dtype) -> Module:
    """Weights whose products keep their scale, gains of one, biases and Snake rates near zero."""
    with torch.device("meta"):
        module = build()
    for path, parameter in list(module.named_parameters()):
        owner, _, leaf = path.rpartition(".")
        tensor = torch.empty(parameter.shape, device=device, dtype=dtype)
        if parameter.ndim == 1:
            gain = leaf in ("weight", "scale", "gamma", "cluster_usage")
            tensor.normal_(1.0 if gain else 0.0, 0.05)
        else:
            fan = parameter[0].numel()
            tensor.normal_(0.0, 0.02 if "embedding" in path else fan**-0.5)
        if leaf in ("scale", "gamma"):
            tensor *= 0.1
        setattr(module.get_submodule(owner), leaf, nn.Parameter(tensor, requires_grad=False))
    return module.eval()
