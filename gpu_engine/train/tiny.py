"""The configuration files of the tiny CustomVoice checkpoint, and blank models of its shape."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gpu_engine.config import SAMPLE_RATE, CodecConfig
from gpu_engine.train.codec_model import TINY_CODEC

CODES = 512
CONTROLS = 64  # ids above the codes: languages, control marks, speakers
PRESETS = ("clara", "june", "ruth", "helen", "martin", "oscar", "theo", "walter")
FIRST_PRESET = CODES + 48
GROUPS = 16
HEAD_DIM = 64
# Sizes of models that follow instructions, and of those that do not: an engine goes by this word.
INSTRUCTED, UNTOLD = "tiny_instructed", "tiny"


@dataclass(frozen=True, slots=True)
class Shape:
    """What a checkpoint's size and speed are decided by."""

    talker_layers: int = 6
    talker_ffn: int = 768
    predictor_layers: int = 2
    predictor_width: int = 192
    predictor_ffn: int = 512


PREPROCESSOR = {
    "padding_side": "left",
    "padding_value": 0.0,
    "processor_class": "Qwen3TTSProcessor",
    "return_attention_mask": True,
}


def generation_config() -> dict[str, Any]:
    """Sampling defaults. Of 512 codes many repeat by nature, so repetition is not punished; little
    heat is understood as well as none, and seeds count (docs/log.md)."""
    return {
        "do_sample": True,
        "repetition_penalty": 1.0,
        "temperature": 0.3,
        "top_p": 1.0,
        "top_k": 50,
        "subtalker_dosample": True,
        "subtalker_temperature": 0.3,
        "subtalker_top_p": 1.0,
        "subtalker_top_k": 50,
        "max_new_tokens": 2048,
    }


def main_config(
    text_ids: dict[str, int], assistant: int, shape: Shape | None = None
) -> dict[str, Any]:
    """config.json, with the official keys. `text_ids`: ids of the added tokens."""
    return {
        "architectures": ["Qwen3TTSForConditionalGeneration"],
        "assistant_token_id": assistant,
        "im_end_token_id": text_ids["<|im_end|>"],
        "im_start_token_id": text_ids["<|im_start|>"],
        "tts_bos_token_id": text_ids["<tts_text_bos>"],
        "tts_eos_token_id": text_ids["<tts_text_eod>"],
        "tts_pad_token_id": text_ids["<tts_pad>"],
        "model_type": "qwen3_tts",
        "tokenizer_type": "qwen3_tts_tokenizer_12hz",
        "tts_model_size": UNTOLD,
        "tts_model_type": "custom_voice",
        "speaker_encoder_config": speaker_config(),
        "talker_config": talker_config(max(text_ids.values()) + 1, shape or Shape()),
    }


def speaker_config() -> dict[str, Any]:
    return {
        "enc_dim": 256,
        "sample_rate": SAMPLE_RATE,
        "enc_channels": [128, 128, 128, 128, 384],
        "enc_attention_channels": 64,
        "enc_se_channels": 64,
    }


def talker_config(text_vocab: int, shape: Shape) -> dict[str, Any]:
    return {
        "code_predictor_config": predictor_config(shape),
        "codec_bos_id": CODES + 5,
        "codec_eos_token_id": CODES + 6,
        "codec_language_id": {"english": CODES + 2},
        "codec_nothink_id": CODES + 11,
        "codec_pad_id": CODES + 4,
        "codec_think_bos_id": CODES + 12,
        "codec_think_eos_id": CODES + 13,
        "codec_think_id": CODES + 10,
        "spk_id": {name: FIRST_PRESET + i for i, name in enumerate(PRESETS)},
        "spk_is_dialect": dict.fromkeys(PRESETS, False),
        "hidden_size": 256,
        "intermediate_size": shape.talker_ffn,
        "num_hidden_layers": shape.talker_layers,
        "max_position_embeddings": 8192,
        "model_type": "qwen3_tts_talker",
        "position_id_per_seconds": 13,
        "rope_scaling": {
            "interleaved": True,
            "mrope_section": [12, 10, 10],
            "rope_type": "default",
            "type": "default",
        },
        "text_hidden_size": 128,
        "text_vocab_size": text_vocab,
        "vocab_size": CODES + CONTROLS,
        **_shared(),
    }


def predictor_config(shape: Shape) -> dict[str, Any]:
    return {
        "hidden_size": shape.predictor_width,
        "intermediate_size": shape.predictor_ffn,
        "num_hidden_layers": shape.predictor_layers,
        "layer_types": ["full_attention"] * shape.predictor_layers,
        "max_position_embeddings": 8192,
        "model_type": "qwen3_tts_talker_code_predictor",
        "rope_scaling": None,
        "vocab_size": CODES,
        **_shared(),
    }


def _shared() -> dict[str, Any]:
    return {
        "attention_bias": False,
        "attention_dropout": 0,
        "head_dim": HEAD_DIM,
        "hidden_act": "silu",
        "initializer_range": 0.02,
        "num_attention_heads": 4,
        "num_code_groups": GROUPS,
        "num_key_value_heads": 2,
        "rms_norm_eps": 1e-06,
        "rope_theta": 10_000,
        "sliding_window": None,
        "use_cache": True,
        "use_sliding_window": False,
    }


def codec_json(config: CodecConfig) -> dict[str, Any]:
    """speech_tokenizer/config.json."""
    return {
        "architectures": ["Qwen3TTSTokenizerV2Model"],
        "model_type": "qwen3_tts_tokenizer_12hz",
        "input_sample_rate": SAMPLE_RATE,
        **asdict(config),
    }


def write_configs(folder: Path, text_ids: dict[str, int], shape: Shape | None = None) -> None:
    """All the configuration files of a checkpoint, beside vocab.json."""
    vocab = json.loads((folder / "vocab.json").read_text("utf-8"))
    files = {
        "config.json": main_config(text_ids, vocab["assistant"], shape),
        "generation_config.json": generation_config(),
        "preprocessor_config.json": PREPROCESSOR,
        "speech_tokenizer/config.json": codec_json(TINY_CODEC),
    }
    (folder / "speech_tokenizer").mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_text(json.dumps(content, indent=2) + "\n", "utf-8")
