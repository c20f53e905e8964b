"""A checkpoint of an official shape whose weights are random: what an engine is measured with where
no checkpoint is at hand. It speaks noise, and never ends by itself."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from gpu_engine.bench.official import CODEC, TALKERS, fill_random, narrow, narrow_codec
from gpu_engine.config import TalkerConfig, read_config
from gpu_engine.models.checkpoint import CODEC as CODEC_FOLDER
from gpu_engine.models.checkpoint import WEIGHTS
from gpu_engine.models.codec import CodecDecoder
from gpu_engine.models.talker import Talker
from gpu_engine.server.settings import ASSETS

# The shipped checkpoint's words stand in for the official ones.
WORDS = ASSETS / "tiny"
COPIED = ("vocab.json", "merges.txt", "tokenizer_config.json")
LOUDNESS = 0.6  # root of the mean square of what the codec says


def write_random(folder: Path, size: str, device: torch.device, *, small: bool = False) -> None:
    """Official layout; `small` narrows the widths as for an interpreter. The Talker in bf16 on a
    GPU. Random weights draw like trained ones but for the end of speech, which is never drawn: who
    asks bounds the frames."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / CODEC_FOLDER).mkdir(exist_ok=True)
    words = read_config(WORDS)
    config, codec = TALKERS[size], CODEC
    if small:
        config, codec = narrow(config), narrow_codec(codec)
        config = replace(config, **_control_ids(config))
    config = replace(config, text_vocab_size=words.talker.text_vocab_size)
    dtype = torch.bfloat16 if device.type == "cuda" else torch.float32
    talker = fill_random(lambda: Talker(config), device, dtype)
    _never_end(talker)
    decoder = fill_random(lambda: CodecDecoder(codec), device, torch.float32)
    _at_loudness(decoder)
    save_file(_named(talker, "talker."), folder / WEIGHTS)
    save_file(_named(decoder, "decoder."), folder / CODEC_FOLDER / WEIGHTS)
    for name in COPIED:
        shutil.copyfile(WORDS / name, folder / name)
    _write_configs(folder, size, config, asdict(codec))


def _control_ids(config: TalkerConfig) -> dict[str, Any]:
    """Behind the narrowed codes."""
    names = ("bos", "eos_token", "pad", "think", "nothink", "think_bos", "think_eos")
    first = config.code_predictor_config.vocab_size
    ids: dict[str, Any] = {f"codec_{name}_id": first + at for at, name in enumerate(names)}
    ids["codec_language_id"] = {"english": first + len(names)}
    return ids | {"spk_id": {"ryan": first + len(names) + 1}}


@torch.no_grad()
def _never_end(talker: Talker) -> None:
    """A score of 0 among 2,048 normal ones is in no top fifty."""
    talker.codec_head.weight[talker.config.codec_eos_token_id] = 0


@torch.no_grad()
def _at_loudness(decoder: CodecDecoder) -> None:
    """Scales the last convolution: what is not audible would be cut as silence."""
    config, device = decoder.config, next(decoder.parameters()).device
    generator = torch.Generator(device).manual_seed(5)
    shape = 1, config.num_quantizers, 4
    codes = torch.randint(0, config.codebook_size, shape, generator=generator, device=device)
    loud = decoder.render(decoder.quantizer.decode(codes)).square().mean().sqrt()
    for parameter in decoder.decoder[-1].parameters():
        parameter.mul_(LOUDNESS / loud)


def _named(module: nn.Module, prefix: str) -> dict[str, Tensor]:
    return {prefix + name: tensor.detach() for name, tensor in module.named_parameters()}


def _write_configs(folder: Path, size: str, talker: TalkerConfig, codec: dict[str, Any]) -> None:
    main = json.loads((WORDS / "config.json").read_text("utf-8"))
    main |= {"tts_model_size": size.lower(), "talker_config": asdict(talker)}
    sound = json.loads((WORDS / CODEC_FOLDER / "config.json").read_text("utf-8"))
    sound["decoder_config"] = codec
    _write(folder / "config.json", main)
    _write(folder / CODEC_FOLDER / "config.json", sound)
    # The official defaults of a draw.
    _write(folder / "generation_config.json", {})


def _write(file: Path, content: dict[str, Any]) -> None:
    file.write_text(json.dumps(content), "utf-8")


if __name__ == "__main__":
    write_random(Path(sys.argv[1]), sys.argv[2], torch.device(sys.argv[3]))
