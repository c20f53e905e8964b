"""`assemble`: the package's Base checkpoint, put together from parts.

It shares Talker and codec decoder with the CustomVoice checkpoint; only the two encoders that hear
a reference are its own, so only they are shipped beside it.
"""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path

from safetensors.numpy import load_file, save_file

ASSETS = Path(__file__).parent / "assets"
PRESETS, CLONING = ASSETS / "tiny", ASSETS / "cloning"
WEIGHTS, CODEC = "model.safetensors", "speech_tokenizer"
COPIED = (
    "vocab.json",
    "merges.txt",
    "tokenizer_config.json",
    "generation_config.json",
    "preprocessor_config.json",
    f"{CODEC}/config.json",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("out", type=Path, help="folder for the Base checkpoint")


def run(arguments: argparse.Namespace) -> int:
    assemble_base(arguments.out)
    print(arguments.out)
    return 0


def assemble_base(out: Path) -> None:
    """A checkpoint in the official layout; the one that was in `out` is replaced."""
    (out / CODEC).mkdir(parents=True, exist_ok=True)
    for name in COPIED:
        shutil.copyfile(PRESETS / name, out / name)
    config = json.loads((PRESETS / "config.json").read_text("utf-8"))
    config["tts_model_type"] = "base"
    config["talker_config"] |= {"spk_id": {}, "spk_is_dialect": {}}
    (out / "config.json").write_text(json.dumps(config, indent=2) + "\n", "utf-8")
    ears = load_file(CLONING / WEIGHTS)
    prefix = f"{CODEC}."
    encoder = {k.removeprefix(prefix): t for k, t in ears.items() if k.startswith(prefix)}
    speaker = {k: t for k, t in ears.items() if not k.startswith(prefix)}
    save_file(load_file(PRESETS / WEIGHTS) | speaker, out / WEIGHTS)
    save_file(load_file(PRESETS / CODEC / WEIGHTS) | encoder, out / CODEC / WEIGHTS)
