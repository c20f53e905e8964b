"""Trained parts to a checkpoint directory in the official layout."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from gpu_engine.config import ModelKind, read_codec_config
from gpu_engine.models.codec import CodecDecoder, CodecEncoder
from gpu_engine.train.codec_model import TINY_CODEC
from gpu_engine.train.codec_model import export as finish_codec
from gpu_engine.train.runtime import load_shards
from gpu_engine.train.talker_state import HELPER, WEIGHTS
from gpu_engine.train.tiny import INSTRUCTED

TEXT_FILES = (
    "vocab.json",
    "merges.txt",
    "tokenizer_config.json",
    "generation_config.json",
    "preprocessor_config.json",
    "speech_tokenizer/config.json",
)


def is_run(folder: Path) -> bool:
    """Whether a codec training left the folder; else it is a checkpoint's speech_tokenizer."""
    return (folder / "codec-00.safetensors").exists()


def load_codec(folder: Path) -> tuple[CodecEncoder, CodecDecoder]:
    """From a codec training's folder, or from a checkpoint's speech_tokenizer folder."""
    if is_run(folder):
        return finish_codec(load_shards(folder, "codec"), TINY_CODEC)
    config = read_codec_config(folder)
    tensors = load_file(folder / "model.safetensors")
    encoder = CodecEncoder(config.encoder_config, config.encoder_valid_num_quantizers)
    decoder = CodecDecoder(config.decoder_config)
    for module, prefix in ((encoder, "encoder."), (decoder, "decoder.")):
        mine = {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}
        module.load_state_dict(mine)
    return encoder.eval(), decoder.eval()


def export_checkpoint(
    recipe: Path,
    talker: Path,
    codec: Path,
    out: Path,
    kind: ModelKind = "custom_voice",
    instructed: bool = False,
) -> None:
    """`recipe`: the folder with tokenizer and configuration; `talker`: a Talker training's folder.

    CustomVoice has the presets; Base has the speaker encoder instead, for voices from recordings;
    VoiceDesign has neither. Only Base carries the codec's encoder. `instructed`: CustomVoice was
    trained to do what it is told.
    """
    (out / "speech_tokenizer").mkdir(parents=True, exist_ok=True)
    for name in TEXT_FILES:
        if (recipe / name).resolve() != (out / name).resolve():
            shutil.copyfile(recipe / name, out / name)
    config = json.loads((recipe / "config.json").read_text("utf-8"))
    config = _as_kind(config, kind, instructed)
    (out / "config.json").write_text(json.dumps(config, indent=2) + "\n", "utf-8")
    left_out = (HELPER,) if kind == "base" else (HELPER, "speaker_encoder.")
    trained = load_shards(talker, WEIGHTS)
    weights = {name: w for name, w in trained.items() if not name.startswith(left_out)}
    save_file(halved(weights), out / "model.safetensors")
    encoder, decoder = load_codec(codec)
    tensors = {f"decoder.{name}": tensor for name, tensor in decoder.state_dict().items()}
    if kind == "base":
        tensors |= {f"encoder.{name}": tensor for name, tensor in encoder.state_dict().items()}
    save_file(halved(tensors), out / "speech_tokenizer" / "model.safetensors")


def _as_kind(config: dict[str, Any], kind: ModelKind, instructed: bool) -> dict[str, Any]:
    config = {**config, "tts_model_type": kind}
    if instructed and kind == "custom_voice":
        config["tts_model_size"] = INSTRUCTED
    if kind != "custom_voice":
        config["talker_config"] = {**config["talker_config"], "spk_id": {}, "spk_is_dialect": {}}
    if kind != "base":
        config.pop("speaker_encoder_config", None)
    return config


def halved(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """All in float16, codebooks too. Raises ValueError for what half precision cannot hold."""
    halves = {name: tensor.contiguous().to(torch.float16) for name, tensor in tensors.items()}
    if lost := [name for name, half in halves.items() if not half.isfinite().all()]:
        raise ValueError(f"too large for float16: {', '.join(lost)}")
    return halves
