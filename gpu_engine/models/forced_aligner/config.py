"""What a forced aligner's config.json says, in the layout in which it was published."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpu_engine.config import read_json, read_object, read_section, required
from gpu_engine.config_rules import Section

MODEL_TYPE = "qwen3_asr"
# The family's recognisers have the same model type, and a head that spells.
THINKER_TYPE = "qwen3_forced_aligner"


@dataclass(frozen=True, slots=True)
class TowerConfig:
    """The audio tower. `n_window`: half of the log-mel frames that are convolved together;
    `n_window_infer`: of those that look at each other."""

    num_mel_bins: int
    encoder_layers: int
    encoder_attention_heads: int
    encoder_ffn_dim: int
    d_model: int
    output_dim: int
    downsample_hidden_size: int
    n_window: int
    n_window_infer: int

    @property
    def piece(self) -> int:
        return 2 * self.n_window

    @property
    def pieces_in_window(self) -> int:
        return self.n_window_infer // self.piece


@dataclass(frozen=True, slots=True)
class ThinkerConfig:
    """The language model; it has the shape of a Talker's layer."""

    hidden_size: int
    intermediate_size: int
    num_hidden_layers: int
    num_attention_heads: int
    num_key_value_heads: int
    head_dim: int
    vocab_size: int
    rms_norm_eps: float
    rope_theta: float


@dataclass(frozen=True, slots=True)
class _Ids:
    audio_token_id: int
    audio_start_token_id: int
    audio_end_token_id: int
    classify_num: int


@dataclass(frozen=True, slots=True)
class ForcedAlignerConfig:
    """`classes`: how many times its head can tell, `step_ms` apart."""

    tower: TowerConfig
    thinker: ThinkerConfig
    audio_start: int
    audio_pad: int
    audio_end: int
    timestamp: int
    classes: int
    step_ms: float
    languages: tuple[str, ...]


def read_config(folder: Path) -> ForcedAlignerConfig:
    """Raises CheckpointError naming file and key."""
    file = folder / "config.json"
    main = read_json(file)
    name = "thinker_config"
    raw = read_object(main, name, file)
    section, kind = Section(file), raw.get("model_type")
    Section(file, name).equal("model_type", kind, THINKER_TYPE, "a forced aligner, no recogniser")
    tower, thinker = _both(raw, file)
    ids = read_section(_Ids, raw, file, name)
    timestamp = required(main, "timestamp_token_id", file)
    step = required(main, "timestamp_segment_time", file)
    section.number("timestamp_segment_time", step, 0.0, 1000.0)
    config = ForcedAlignerConfig(
        tower=tower,
        thinker=thinker,
        audio_start=ids.audio_start_token_id,
        audio_pad=ids.audio_token_id,
        audio_end=ids.audio_end_token_id,
        timestamp=timestamp,
        classes=ids.classify_num,
        step_ms=float(step),
        languages=_languages(main, section),
    )
    _check(config, file)
    return config


def _both(raw: dict[str, Any], file: Path) -> tuple[TowerConfig, ThinkerConfig]:
    name = "thinker_config"
    tower = read_object(raw, "audio_config", file, name)
    thinker = read_object(raw, "text_config", file, name)
    return (
        read_section(TowerConfig, tower, file, f"{name}.audio_config"),
        read_section(ThinkerConfig, thinker, file, f"{name}.text_config"),
    )


def _languages(main: dict[str, Any], section: Section) -> tuple[str, ...]:
    found = main.get("support_languages")
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise section.refuse("support_languages", found, "expected a list of names")
    return tuple(each.lower() for each in found)


def _check(config: ForcedAlignerConfig, file: Path) -> None:
    tower, thinker = config.tower, config.thinker
    audio = Section(file, "thinker_config.audio_config")
    if tower.d_model % (2 * tower.encoder_attention_heads):
        rule = f"expected an even multiple of the {tower.encoder_attention_heads} heads"
        raise audio.refuse("d_model", tower.d_model, rule)
    if tower.n_window_infer % tower.piece:
        rule = f"expected a multiple of twice n_window, {tower.piece}"
        raise audio.refuse("n_window_infer", tower.n_window_infer, rule)
    audio.equal("output_dim", tower.output_dim, thinker.hidden_size, "text_config.hidden_size")
    text = Section(file, "thinker_config.text_config")
    if thinker.num_attention_heads % thinker.num_key_value_heads:
        rule = f"expected a divisor of num_attention_heads, {thinker.num_attention_heads}"
        raise text.refuse("num_key_value_heads", thinker.num_key_value_heads, rule)
    if thinker.head_dim % 2:
        raise text.refuse("head_dim", thinker.head_dim, "expected an even number")
    last, inner = thinker.vocab_size - 1, Section(file, "thinker_config")
    inner.whole("audio_start_token_id", config.audio_start, 0, last)
    inner.whole("audio_token_id", config.audio_pad, 0, last)
    inner.whole("audio_end_token_id", config.audio_end, 0, last)
    Section(file).whole("timestamp_token_id", config.timestamp, 0, last)
