"""Models small enough for an interpreter, with every width different, and their random weights."""

from __future__ import annotations

from typing import TypeVar

import torch
from torch import nn

from gpu_engine.config import PredictorConfig, TalkerConfig

Module = TypeVar("Module", bound=nn.Module)

PREDICTOR = PredictorConfig(
    hidden_size=64,
    intermediate_size=96,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    head_dim=32,
    vocab_size=64,
    num_code_groups=16,
    rms_norm_eps=1e-6,
    rope_theta=1e6,
)
TALKER = TalkerConfig(
    hidden_size=128,
    intermediate_size=192,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    head_dim=32,
    text_hidden_size=32,
    text_vocab_size=48,
    vocab_size=80,
    num_code_groups=16,
    rms_norm_eps=1e-6,
    rope_theta=1e6,
    max_position_embeddings=512,
    codec_bos_id=70,
    codec_eos_token_id=71,
    codec_pad_id=72,
    codec_think_id=73,
    codec_nothink_id=74,
    codec_think_bos_id=75,
    codec_think_eos_id=76,
    codec_language_id={},
    spk_id={},
    spk_is_dialect={},
    code_predictor_config=PREDICTOR,
)


def filled(module: Module, seed: int) -> Module:
    """Random weights whose products keep their scale; gains near one."""
    generator = torch.Generator().manual_seed(seed)
    for name, parameter in module.named_parameters():
        noise = torch.randn(parameter.shape, generator=generator)
        if parameter.ndim == 1:
            parameter.data = 1 + 0.2 * noise if name.endswith("norm.weight") else 0.1 * noise
        else:
            parameter.data = noise * parameter[0].numel() ** -0.5
    return module.eval().requires_grad_(False)
