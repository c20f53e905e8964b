"""A small random forced aligner in the official layout, rebuilt from its tensors' names alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import save_file

from gpu_engine.models.forced_aligner import ForcedAligner, read_config
from tests.parity.tiny_checkpoints import tensor_value, vocabulary_files

SALT = 11
TIMES = 40.0  # the head's scale: far enough apart that rounding never changes the best
TOWER = {
    "num_mel_bins": 128,
    "encoder_layers": 2,
    "encoder_attention_heads": 2,
    "encoder_ffn_dim": 72,
    "d_model": 32,
    "output_dim": 40,
    "downsample_hidden_size": 12,
    "max_source_positions": 1500,
    "n_window": 50,
    "n_window_infer": 800,
}
THINKER = {
    "vocab_size": 152064,
    "hidden_size": 40,
    "intermediate_size": 112,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "rms_norm_eps": 1e-6,
    "rope_theta": 1_000_000,
    "rope_scaling": {"mrope_interleaved": True, "mrope_section": [3, 3, 2], "type": "default"},
    "tie_word_embeddings": False,
}
CONFIG: dict[str, Any] = {
    "architectures": ["Qwen3ASRForConditionalGeneration"],
    "model_type": "qwen3_asr",
    "support_languages": ["Chinese", "Cantonese", "English", "French", "Japanese", "Korean"],
    "timestamp_segment_time": 80,
    "timestamp_token_id": 151705,
    "thinker_config": {
        "model_type": "qwen3_forced_aligner",
        "audio_config": TOWER,
        "text_config": THINKER,
        "audio_token_id": 151676,
        "audio_start_token_id": 151669,
        "audio_end_token_id": 151670,
        "classify_num": 5000,
    },
}


def build(folder: Path) -> Path:
    """Always the same bytes: about 12 MB of weights, and the real vocabulary."""
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(CONFIG, indent=2), "utf-8")
    vocabulary, merges = vocabulary_files()
    (folder / "vocab.json").write_bytes(vocabulary)
    (folder / "merges.txt").write_bytes(merges)
    with torch.device("meta"):
        net = ForcedAligner(read_config(folder))
    tensors = {
        f"thinker.{name}": _value(f"thinker.{name}", tuple(parameter.shape))
        for name, parameter in sorted(net.named_parameters())
    }
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    return folder


def _value(name: str, shape: tuple[int, ...]) -> torch.Tensor:
    value = tensor_value(name, shape, SALT)
    if name == "thinker.lm_head.weight":
        value = value * np.float32(TIMES)
    return torch.from_numpy(np.ascontiguousarray(value)).bfloat16()


def sound(seconds: float, seed: int = 0) -> NDArray[np.int16]:
    """Gliding tones in bursts over noise, at 24 kHz: as loud and as varied as speech is."""
    count = round(seconds * 24_000)
    rng, time = np.random.RandomState(seed), np.arange(count) / 24_000
    tones = np.zeros(count)
    for _ in range(5):
        base, swing, speed = rng.uniform(90, 2800), rng.uniform(5, 60), rng.uniform(0.5, 4)
        tones += np.sin(2 * np.pi * base * time + swing * np.sin(2 * np.pi * speed * time))
    bursts = np.clip(np.sin(2 * np.pi * 2.3 * time + seed), 0, 1)
    heard = 0.12 * tones * bursts + 0.01 * rng.standard_normal(count)
    return np.round(np.clip(heard, -1, 1) * 32767).astype(np.int16)
