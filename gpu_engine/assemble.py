"""`assemble`: the package's Base and VoiceDesign checkpoints, put together from parts.

One Talker has learned for all three kinds, and one codec decoder serves them. Base has two
encoders of its own, which hear a reference: only they are shipped beside the presets' checkpoint.
"""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path
from typing import Any

from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file

ASSETS = Path(__file__).parent / "assets"
PRESETS, CLONING = ASSETS / "tiny", ASSETS / "cloning"
Weights = dict[str, NDArray[Any]]
WEIGHTS, CODEC = "model.safetensors", "speech_tokenizer"
COPIED = (
    "vocab.json",
    "merges.txt",
    "tokenizer_config.json",
    "generation_config.json",
    "preprocessor_config.json",
    f"{CODEC}/config.json",
)


KINDS = ("base", "voice_design")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("out", type=Path, help="folder for the checkpoint")
    parser.add_argument("--kind", choices=KINDS, default="base")


def run(arguments: argparse.Namespace) -> int:
    assemble(arguments.out, arguments.kind)
    print(arguments.out)
    return 0


def assemble(out: Path, kind: str = "base") -> None:
    """A checkpoint in the official layout; the one that was in `out` is replaced."""
    (out / CODEC).mkdir(parents=True, exist_ok=True)
    for name in COPIED:
        shutil.copyfile(PRESETS / name, out / name)
    config = json.loads((PRESETS / "config.json").read_text("utf-8"))
    config["tts_model_type"] = kind
    config["talker_config"] |= {"spk_id": {}, "spk_is_dialect": {}}
    speaker, encoder = _ears() if kind == "base" else ({}, {})
    if kind != "base":
        del config["speaker_encoder_config"]
    (out / "config.json").write_text(json.dumps(config, indent=2) + "\n", "utf-8")
    save_file(load_file(PRESETS / WEIGHTS) | speaker, out / WEIGHTS)
    save_file(load_file(PRESETS / CODEC / WEIGHTS) | encoder, out / CODEC / WEIGHTS)


def _ears() -> tuple[Weights, Weights]:
    """The speaker encoder's weights and the codec encoder's."""
    ears, prefix = load_file(CLONING / WEIGHTS), f"{CODEC}."
    encoder = {k.removeprefix(prefix): t for k, t in ears.items() if k.startswith(prefix)}
    return {k: t for k, t in ears.items() if not k.startswith(prefix)}, encoder
