"""The rebuilt checkpoints are the ones that the reference package loaded without complaint."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from gpu_engine.config import read_config
from gpu_engine.models.codec import CodecDecoder, CodecEncoder
from gpu_engine.models.talker import Talker
from tests.parity.cases import CUSTOM, GOLDEN
from tests.parity.tiny_checkpoints import SALTS, vocabulary_files

PUBLISHED_VOCABULARY = "ca10d7e9fb3ed18575dd1e277a2579c16d108e32f27439684afa0e10b1440910"
PUBLISHED_MERGES = "599bab54075088774b1733fde865d5bd747cbcc7a547c5bc12610e874e26f5e3"


@pytest.mark.parametrize("name", SALTS)
def test_it_works(name: str, checkpoint_folder: Callable[[str], Path]) -> None:
    manifest = json.loads((GOLDEN / "manifest.json").read_text("utf-8"))
    entry = manifest["checkpoints"][name]
    sums = {
        file: value for file, value in entry.items() if file.endswith((".json", ".safetensors"))
    }
    assert len(sums) == 4
    folder = checkpoint_folder(name)
    assert {file: _sha256(folder / file) for file in sums} == sums


def _sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def test_vocabulary_is_the_published_one() -> None:
    vocabulary, merges = vocabulary_files()
    assert hashlib.sha256(vocabulary).hexdigest() == PUBLISHED_VOCABULARY
    assert hashlib.sha256(merges).hexdigest() == PUBLISHED_MERGES


@pytest.mark.parametrize(
    ("hidden", "intermediate", "tensors", "parameters"),
    [(2048, 6144, 404, 1_916_676_352), (1024, 3072, 402, 905_788_672)],
    ids=["1.7B", "0.6B"],
)
def test_released_sizes_have_the_published_tensor_counts(
    hidden: int,
    intermediate: int,
    tensors: int,
    parameters: int,
    checkpoint_folder: Callable[[str], Path],
) -> None:
    tiny = read_config(checkpoint_folder(CUSTOM)).talker
    wide = {"num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 128}
    predictor = replace(
        tiny.code_predictor_config,
        hidden_size=1024,
        intermediate_size=3072,
        num_hidden_layers=5,
        **wide,
    )
    config = replace(
        tiny,
        hidden_size=hidden,
        intermediate_size=intermediate,
        num_hidden_layers=28,
        text_hidden_size=2048,
        code_predictor_config=predictor,
        **wide,
    )
    with torch.device("meta"):
        found = list(Talker(config).parameters())
    assert (len(found), sum(p.numel() for p in found)) == (tensors, parameters)


def test_released_codec_has_the_published_tensor_count(
    checkpoint_folder: Callable[[str], Path],
) -> None:
    tiny = read_config(checkpoint_folder(CUSTOM)).codec
    decoder = replace(
        tiny.decoder_config,
        codebook_dim=512,
        latent_dim=1024,
        decoder_dim=1536,
        hidden_size=512,
        intermediate_size=1024,
        num_hidden_layers=8,
        num_attention_heads=16,
        head_dim=64,
    )
    encoder = replace(
        tiny.encoder_config,
        num_filters=64,
        hidden_size=512,
        intermediate_size=2048,
        num_hidden_layers=8,
        num_attention_heads=8,
        head_dim=64,
        codebook_dim=256,
        num_quantizers=32,
        vector_quantization_hidden_dimension=256,
    )
    with torch.device("meta"):
        found = [*CodecDecoder(decoder).parameters(), *CodecEncoder(encoder).parameters()]
    assert (len(found), sum(p.numel() for p in found)) == (496, 170_557_441)
