"""Small random modules with every width different, and the tiny checkpoints of the parity tests."""

from __future__ import annotations

import pytest
import torch

from gpu_engine.config import PredictorConfig, TalkerConfig
from gpu_engine.models.talker import Talker
from tests.parity.conftest import checkpoint, checkpoint_folder

__all__ = ["checkpoint", "checkpoint_folder"]

PREDICTOR = PredictorConfig(
    hidden_size=24,
    intermediate_size=40,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    head_dim=8,
    vocab_size=32,
    num_code_groups=16,
    rms_norm_eps=1e-6,
    rope_theta=10_000,
)
TALKER = TalkerConfig(
    hidden_size=32,
    intermediate_size=48,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    head_dim=16,
    text_hidden_size=20,
    text_vocab_size=100,
    vocab_size=64,
    num_code_groups=16,
    rms_norm_eps=1e-6,
    rope_theta=10_000,
    max_position_embeddings=256,
    codec_bos_id=40,
    codec_eos_token_id=41,
    codec_pad_id=42,
    codec_think_id=43,
    codec_nothink_id=44,
    codec_think_bos_id=45,
    codec_think_eos_id=46,
    codec_language_id={"english": 50, "chinese": 51, "beijing_dialect": 52},
    spk_id={"alice": 60, "bob": 61},
    spk_is_dialect={"alice": False, "bob": "beijing_dialect"},
    code_predictor_config=PREDICTOR,
)


@pytest.fixture
def talker() -> Talker:
    torch.manual_seed(0)
    talker = Talker(TALKER).eval()
    for name, parameter in talker.named_parameters():
        if "norm" in name:  # ones would hide a weight that is applied in the wrong place
            torch.nn.init.normal_(parameter, 1.0, 0.3)
    return talker
