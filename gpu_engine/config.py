"""What a checkpoint's own config files say, as frozen dataclasses. Unknown keys are ignored: the
official files carry some sixty serialised library defaults that change nothing."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

from gpu_engine import config_rules as rules
from gpu_engine.errors import CheckpointError
from gpu_engine.files import read_bytes

ModelKind = Literal["custom_voice", "base", "voice_design"]
Section = TypeVar("Section")

SAMPLE_RATE = 24_000


@dataclass(frozen=True, slots=True)
class PredictorConfig:
    """The Code Predictor: codes 1..15 of a frame from the Talker's hidden state and code 0."""

    hidden_size: int
    intermediate_size: int
    num_hidden_layers: int
    num_attention_heads: int
    num_key_value_heads: int
    head_dim: int
    vocab_size: int
    num_code_groups: int
    rms_norm_eps: float
    rope_theta: float


@dataclass(frozen=True, slots=True)
class TalkerConfig:
    """The Talker, its two vocabularies and the control ids of the codec side."""

    hidden_size: int
    intermediate_size: int
    num_hidden_layers: int
    num_attention_heads: int
    num_key_value_heads: int
    head_dim: int
    text_hidden_size: int
    text_vocab_size: int
    vocab_size: int
    num_code_groups: int
    rms_norm_eps: float
    rope_theta: float
    max_position_embeddings: int
    codec_bos_id: int
    codec_eos_token_id: int
    codec_pad_id: int
    codec_think_id: int
    codec_nothink_id: int
    codec_think_bos_id: int
    codec_think_eos_id: int
    codec_language_id: dict[str, int]
    spk_id: dict[str, int]
    spk_is_dialect: dict[str, str | bool]
    code_predictor_config: PredictorConfig


@dataclass(frozen=True, slots=True)
class SpeakerEncoderConfig:
    """ECAPA-TDNN; the released files state only the first field."""

    enc_dim: int
    mel_dim: int = 128
    enc_channels: tuple[int, ...] = (512, 512, 512, 512, 1536)
    enc_kernel_sizes: tuple[int, ...] = (5, 3, 3, 3, 1)
    enc_dilations: tuple[int, ...] = (1, 2, 3, 4, 1)
    enc_attention_channels: int = 128
    enc_res2net_scale: int = 8
    enc_se_channels: int = 128


@dataclass(frozen=True, slots=True)
class CodecDecoderConfig:
    """Codes to 24 kHz audio: quantizer, windowed transformer, upsampling, Snake convolutions."""

    codebook_dim: int
    codebook_size: int
    num_quantizers: int
    latent_dim: int
    decoder_dim: int
    hidden_size: int
    intermediate_size: int
    num_hidden_layers: int
    num_attention_heads: int
    head_dim: int
    sliding_window: int
    rms_norm_eps: float
    rope_theta: float
    upsample_rates: tuple[int, ...]
    upsampling_ratios: tuple[int, ...]
    num_semantic_quantizers: int = 1

    @property
    def samples_per_frame(self) -> int:
        product = 1
        for ratio in (*self.upsample_rates, *self.upsampling_ratios):
            product *= ratio
        return product


@dataclass(frozen=True, slots=True)
class CodecEncoderConfig:
    """24 kHz audio to codes (a Mimi model); only for cloning and data preparation."""

    num_filters: int
    hidden_size: int
    intermediate_size: int
    num_hidden_layers: int
    num_attention_heads: int
    head_dim: int
    codebook_dim: int
    codebook_size: int
    num_quantizers: int
    vector_quantization_hidden_dimension: int
    upsampling_ratios: tuple[int, ...]
    norm_eps: float
    rope_theta: float
    kernel_size: int = 7
    last_kernel_size: int = 3
    residual_kernel_size: int = 3
    compress: int = 2
    num_semantic_quantizers: int = 1


@dataclass(frozen=True, slots=True)
class CodecConfig:
    decoder_config: CodecDecoderConfig
    encoder_config: CodecEncoderConfig
    encoder_valid_num_quantizers: int = 16
    output_sample_rate: int = SAMPLE_RATE


@dataclass(frozen=True, slots=True)
class TextIds:
    """Token ids of the text side that prompts are built from."""

    im_start: int
    im_end: int
    assistant: int
    tts_bos: int
    tts_eos: int
    tts_pad: int


@dataclass(frozen=True, slots=True)
class SamplingConfig:
    """generation_config.json: the defaults of a request that states nothing."""

    do_sample: bool = True
    temperature: float = 0.9
    top_k: int = 50
    top_p: float = 1.0
    repetition_penalty: float = 1.05
    subtalker_dosample: bool = True
    subtalker_temperature: float = 0.9
    subtalker_top_k: int = 50
    subtalker_top_p: float = 1.0
    max_new_tokens: int = 8192


@dataclass(frozen=True, slots=True)
class TtsConfig:
    """One checkpoint directory's configuration."""

    kind: ModelKind
    size: str
    text_ids: TextIds
    talker: TalkerConfig
    codec: CodecConfig
    speaker_encoder: SpeakerEncoderConfig | None
    sampling: SamplingConfig = field(default_factory=SamplingConfig)


def read_config(folder: Path) -> TtsConfig:
    """A checkpoint directory's three JSON files. Raises CheckpointError naming file and key."""
    main_file = folder / "config.json"
    main = read_json(main_file)
    rules.check_main(main, main_file)
    ids = {
        name: required(main, f"{name}_token_id", main_file)
        for name in ("im_start", "im_end", "assistant", "tts_bos", "tts_eos", "tts_pad")
    }
    kind = required(main, "tts_model_type", main_file)
    if kind not in ("custom_voice", "base", "voice_design"):
        known = "expected custom_voice, base or voice_design"
        raise CheckpointError(main_file, f"unknown tts_model_type {kind!r}, {known}")
    generation_file = folder / "generation_config.json"
    config = TtsConfig(
        kind=cast(ModelKind, kind),
        size=str(main.get("tts_model_size", "")),
        text_ids=TextIds(**ids),
        talker=_talker(main, main_file),
        codec=read_codec_config(folder / "speech_tokenizer"),
        speaker_encoder=_speaker(main, main_file),
        sampling=read_section(SamplingConfig, read_json(generation_file), generation_file),
    )
    rules.check(config, folder)
    return config


def _talker(main: dict[str, Any], file: Path) -> TalkerConfig:
    raw, name = dict(read_object(main, "talker_config", file)), "code_predictor_config"
    inner = read_object(raw, name, file, "talker_config")
    raw[name] = read_section(PredictorConfig, inner, file, f"talker_config.{name}")
    return read_section(TalkerConfig, raw, file, "talker_config")


def _speaker(main: dict[str, Any], file: Path) -> SpeakerEncoderConfig | None:
    name = "speaker_encoder_config"
    if not main.get(name):
        return None
    return read_section(SpeakerEncoderConfig, read_object(main, name, file), file, name)


def read_codec_config(folder: Path) -> CodecConfig:
    """The codec's own file. Raises CheckpointError naming file and key."""
    file = folder / "config.json"
    raw = read_json(file)
    decoder, encoder = (read_object(raw, f"{part}_config", file) for part in ("decoder", "encoder"))
    config = CodecConfig(
        decoder_config=read_section(CodecDecoderConfig, decoder, file, "decoder_config"),
        encoder_config=read_section(CodecEncoderConfig, encoder, file, "encoder_config"),
        encoder_valid_num_quantizers=raw.get("encoder_valid_num_quantizers", 16),
        output_sample_rate=raw.get("output_sample_rate", SAMPLE_RATE),
    )
    rules.check_codec(config, file)
    return config


def read_json(file: Path) -> dict[str, Any]:
    """A file's object. Raises CheckpointError."""
    try:
        content = json.loads(read_bytes(file))
    except (ValueError, RecursionError) as error:
        raise CheckpointError(file, f"not valid JSON ({error})") from None
    if not isinstance(content, dict):
        raise CheckpointError(file, "not a JSON object")
    return content


def required(raw: dict[str, Any], key: str, file: Path, section: str = "") -> Any:
    if key not in raw:
        where = f" in {section}" if section else ""
        raise CheckpointError(file, f"has no {key!r}{where}")
    return raw[key]


def read_object(raw: dict[str, Any], key: str, file: Path, section: str = "") -> dict[str, Any]:
    value = required(raw, key, file, section)
    if not isinstance(value, dict):
        raise rules.Section(file, section).refuse(key, value, "expected an object")
    return value


def read_section(kind: type[Section], raw: dict[str, Any], file: Path, name: str = "") -> Section:
    """A dataclass from an object of a file; unknown keys are ignored. Raises CheckpointError."""
    fields = dataclasses.fields(cast(Any, kind))
    known = {f.name for f in fields}
    values = {key: value for key, value in raw.items() if key in known}
    for f in fields:
        needed = f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING
        if needed and f.name not in values:
            raise CheckpointError(file, f"has no {f.name!r} in {name}")
    rules.check_types(kind, values, rules.Section(file, name))
    frozen = {k: tuple(v) if isinstance(v, list) else v for k, v in values.items()}
    return kind(**frozen)
