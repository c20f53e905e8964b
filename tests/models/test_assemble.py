"""The package's Base and VoiceDesign checkpoints, put together from their parts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file

from gpu_engine.assemble import CLONING, PRESETS, assemble
from gpu_engine.config import read_config
from gpu_engine.models.checkpoint import load_checkpoint


def test_base_is_the_shipped_talker_and_codec_with_encoders(tmp_path: Path) -> None:
    assemble(tmp_path / "base")
    made = load_checkpoint(tmp_path / "base", "cpu")
    presets, ears = (
        load_file(PRESETS / "model.safetensors"),
        load_file(CLONING / "model.safetensors"),
    )
    # then it says that it clones, and holds what it is made of
    config = read_config(tmp_path / "base")
    assert (config.kind, config.talker.spk_id) == ("base", {})
    held = load_file(tmp_path / "base" / "model.safetensors")
    assert held.keys() == presets.keys() | {k for k in ears if k.startswith("speaker_encoder.")}
    assert all(torch.equal(held[name], tensor) for name, tensor in presets.items())
    # and hears: a second of sound is so many codes of every book
    sound = torch.from_numpy(np.sin(np.arange(24_000) / 20).astype(np.float32))[None]
    assert made.codec_encoder is not None
    assert made.codec_encoder.encode(sound).shape == (1, 16, 13)


def test_voice_design_is_the_shipped_talker_under_another_name(tmp_path: Path) -> None:
    assemble(tmp_path / "design", "voice_design")
    config = read_config(tmp_path / "design")
    assert (config.kind, config.talker.spk_id, config.speaker_encoder) == ("voice_design", {}, None)
    made = load_file(tmp_path / "design" / "model.safetensors")
    shipped = load_file(PRESETS / "model.safetensors")
    assert made.keys() == shipped.keys()
    assert all(torch.equal(made[name], tensor) for name, tensor in shipped.items())
    assert load_checkpoint(tmp_path / "design", "cpu").codec_encoder is None
