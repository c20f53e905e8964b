"""Tiny random checkpoints in the official layout, identical to those the goldens were made with.

Ids, vocabularies, code groups and sampling rates are those of the released models; widths are small
and all different, so a swapped projection cannot load by accident. Names and shapes come from the
engine's own modules: equal SHA-256 sums prove that they are the reference's.
"""

from __future__ import annotations

import base64
import json
import shutil
import zlib
from functools import lru_cache
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import save_file
from torch import nn

from gpu_engine.config import read_config
from gpu_engine.models.codec import CodecDecoder, CodecEncoder
from gpu_engine.models.speaker import SpeakerEncoder
from gpu_engine.models.talker import Talker

CONFIGS = Path(__file__).parent / "configs"
# Each checkpoint's salt keeps its weights apart from the others'; all share one codec, salt 0.
SALTS = {
    "tiny-1b7-custom_voice": 1,
    "tiny-1b7-base": 2,
    "tiny-1b7-voice_design": 3,
    "tiny-0b6-custom_voice": 4,
}
SMALL_FILES = {
    "generation_config.json": "generation_config.json",
    "preprocessor_config.json": "preprocessor_config.json",
    "tokenizer_config.json": "tokenizer_config.json",
    "codec.json": "speech_tokenizer/config.json",
    "codec_configuration.json": "speech_tokenizer/configuration.json",
    "codec_preprocessor.json": "speech_tokenizer/preprocessor_config.json",
}
END_OF_SPEECH = 2150
DEAD_ROW = 7  # a codebook entry nobody used: exercises the floor of its usage
Values = NDArray[np.float32]


def build(name: str, folder: Path) -> Path:
    """Writes one checkpoint into `folder`, about 30 MB, always the same bytes."""
    (folder / "speech_tokenizer").mkdir(parents=True)
    shutil.copy(CONFIGS / f"{name}.json", folder / "config.json")
    for source, target in SMALL_FILES.items():
        shutil.copy(CONFIGS / source, folder / target)
    vocabulary, merges = vocabulary_files()
    (folder / "vocab.json").write_bytes(vocabulary)
    (folder / "merges.txt").write_bytes(merges)
    main, codec = shapes(folder)
    _save(folder / "model.safetensors", main, torch.bfloat16, SALTS[name])
    _save(folder / "speech_tokenizer" / "model.safetensors", codec, torch.float32, 0)
    return folder


def shapes(folder: Path) -> tuple[dict[str, torch.Size], dict[str, torch.Size]]:
    """Tensor names and shapes of the two weight files, from the engine's modules."""
    config = read_config(folder)
    with torch.device("meta"):
        main: dict[str, nn.Module] = {"talker": Talker(config.talker)}
        if config.speaker_encoder is not None:
            main["speaker_encoder"] = SpeakerEncoder(config.speaker_encoder)
        codec = {
            "decoder": CodecDecoder(config.codec.decoder_config),
            "encoder": CodecEncoder(config.codec.encoder_config),
        }
    return _named(main), _named(codec)


def _named(modules: dict[str, nn.Module]) -> dict[str, torch.Size]:
    return {
        f"{prefix}.{name}": parameter.shape
        for prefix, module in modules.items()
        for name, parameter in module.named_parameters()
    }


def _save(file: Path, names: dict[str, torch.Size], dtype: torch.dtype, salt: int) -> None:
    tensors = {
        name: torch.from_numpy(np.ascontiguousarray(tensor_value(name, tuple(shape), salt))).to(
            dtype
        )
        for name, shape in sorted(names.items())
    }
    save_file(tensors, file, metadata={"format": "pt"})


def tensor_value(name: str, shape: tuple[int, ...], salt: int) -> Values:
    """Random, yet a pure function: numpy's legacy generator is frozen across its versions."""
    rng = np.random.RandomState((zlib.crc32(name.encode()) + 7919 * salt) % 2**32)
    noise = rng.standard_normal(shape).astype(np.float32)
    owner, _, leaf = name.rpartition(".")
    if leaf == "initialized":
        return np.ones(shape, np.float32)
    if leaf == "cluster_usage":
        usage = (0.5 + 2.0 * rng.random_sample(shape)).astype(np.float32)
        usage[DEAD_ROW] = 0.0
        return usage
    if leaf in ("embedding_sum", "embed_sum"):
        return _codebook(owner, noise, salt)
    if leaf in ("alpha", "beta"):
        return np.float32(0.3) * noise
    if leaf in ("gamma", "scale"):
        return 0.4 + 0.1 * noise
    if "norm" in owner.rpartition(".")[2]:
        return (1.0 + 0.2 * noise) if leaf == "weight" else 0.1 * noise
    if leaf == "bias":
        return 0.1 * noise
    if "embedding" in name:
        return 0.4 * noise
    return _matrix(name, noise)


def _codebook(owner: str, noise: Values, salt: int) -> Values:
    """Residual codebooks shrink with depth, as trained ones do."""
    usage = tensor_value(f"{owner}.cluster_usage", noise.shape[:1], salt)
    depth = int(owner.split(".layers.")[1].split(".")[0])
    return noise * np.maximum(usage, 1e-5)[:, None] * (0.8**depth)


def _matrix(name: str, noise: Values) -> Values:
    weight: Values = noise / np.sqrt(_fan_in(name, noise.shape))
    if name == "talker.codec_head.weight":
        weight *= 3.0
        weight[END_OF_SPEECH] *= 2.2  # greedy decoding then reaches the end of speech
    elif ".lm_head." in name:
        weight *= 3.0
    elif name == "decoder.decoder.6.conv.weight":
        weight *= 0.02  # keeps the waveform off the clamp
    elif name.startswith("decoder.decoder.") and "conv2.conv" in name:
        weight *= 0.5
    return weight


def _fan_in(name: str, shape: tuple[int, ...]) -> int:
    if name.startswith("decoder.") and ".block.1.conv.weight" in name:
        return shape[0] * 2  # transposed, kernel twice the stride
    if name.startswith("decoder.upsample.") and ".0.conv." in name:
        return shape[0]  # transposed, kernel equal to the stride
    return int(np.prod(shape[1:]))


def _byte_alphabet() -> list[str]:
    """The printable stand-in of each byte in byte-level vocabularies."""
    printable = {*range(33, 127), *range(161, 173), *range(174, 256)}
    others = iter(range(256, 512))
    return [chr(byte if byte in printable else next(others)) for byte in range(256)]


@lru_cache(maxsize=1)
def vocabulary_files() -> tuple[bytes, bytes]:
    """The published vocab.json and merges.txt, byte for byte, from their BPE ranks."""
    ranks = _read_ranks()
    alphabet = _byte_alphabet()
    text = {token: "".join(alphabet[byte] for byte in token) for token in ranks}
    pairs = [(token, _halves(token, ranks)) for token in ranks if len(token) > 1]
    lines = [f"{text[pair[0]]} {text[pair[1]]}" for _, pair in pairs if len(pair) == 2]
    vocabulary = {text[token]: rank for token, rank in ranks.items()}
    as_json = json.dumps(vocabulary, ensure_ascii=False, separators=(",", ":"))
    return as_json.encode(), ("\n".join(lines) + "\n").encode()


def _read_ranks() -> dict[bytes, int]:
    package = find_spec("dashscope")
    if package is None or package.submodule_search_locations is None:
        raise RuntimeError("the BPE ranks come with: pip install --no-deps dashscope")
    file = Path(package.submodule_search_locations[0]) / "resources" / "qwen.tiktoken"
    pairs = (line.split() for line in file.read_bytes().splitlines() if line.strip())
    ranks = {base64.b64decode(token): int(rank) for token, rank in pairs}
    return dict(sorted(ranks.items(), key=lambda entry: entry[1]))


def _halves(token: bytes, ranks: dict[bytes, int]) -> list[bytes]:
    """The merge that makes a token: BPE replayed with the ranks below its own."""
    parts = [token[i : i + 1] for i in range(len(token))]
    while len(parts) > 2:
        joined = [ranks.get(a + b, 1 << 30) for a, b in pairwise(parts)]
        best = joined.index(min(joined))
        parts[best : best + 2] = [parts[best] + parts[best + 1]]
    return parts
