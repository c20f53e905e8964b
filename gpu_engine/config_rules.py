"""What a checkpoint's configuration may say. A value that cannot work is refused by file and key,
before it becomes a shape that nothing fits."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

from gpu_engine.errors import CheckpointError

if TYPE_CHECKING:
    from gpu_engine.config import (
        CodecConfig,
        SamplingConfig,
        SpeakerEncoderConfig,
        TalkerConfig,
        TextIds,
        TtsConfig,
    )

SAMPLES_PER_FRAME, SAMPLE_RATE = 1920, 24_000
# More is no model that anybody has, and would only exhaust the memory.
LARGEST = 1 << 24
MODEL_TYPE = "qwen3_tts"
TOKENIZER_TYPE = "qwen3_tts_tokenizer_12hz"


class Section:
    """One object in one file: `refuse` names the key as a reader finds it there."""

    def __init__(self, file: Path, name: str = "") -> None:
        self.file, self._prefix = file, f"{name}." if name else ""

    def refuse(self, key: str, value: object, rule: str) -> CheckpointError:
        return CheckpointError(self.file, f"{self._prefix}{key} is {value!r}, {rule}")

    def whole(self, key: str, value: object, least: int, most: int = LARGEST) -> None:
        if type(value) is not int or not least <= value <= most:
            raise self.refuse(key, value, f"expected a whole number from {least} to {most}")

    def number(self, key: str, value: object, above: float, most: float = math.inf) -> None:
        number = type(value) in (int, float) and math.isfinite(value)  # type: ignore[arg-type]
        if not number or not above < value <= most:  # type: ignore[operator]
            raise self.refuse(key, value, f"expected a number above {above:g}" + _up_to(most))

    def ids(self, table: Mapping[str, int], key: str, below: int) -> None:
        for name, value in table.items():
            self.whole(f"{key}.{name}", value, 0, below - 1)

    def equal(self, key: str, value: object, wanted: object, of: str) -> None:
        if value != wanted:
            raise self.refuse(key, value, f"expected {wanted!r} ({of})")


def _up_to(most: float) -> str:
    return f" and up to {most:g}" if math.isfinite(most) else ""


# Whole numbers that are ids or may be nothing at all; every other whole number is a size.
FROM_ZERO = ("top_k", "subtalker_top_k")


def check_types(kind: type, values: Mapping[str, Any], section: Section) -> None:
    """Each value is of its field's type; sizes are at least 1 and factors above 0."""
    hints = get_type_hints(kind)
    for key, value in values.items():
        _RULES.get(hints[key], _anything)(section, key, value)


def _size(section: Section, key: str, value: object) -> None:
    section.whole(key, value, 0 if key.endswith("_id") or key in FROM_ZERO else 1)


def _factor(section: Section, key: str, value: object) -> None:
    if key.endswith("temperature") and value == 0:
        return
    section.number(key, value, 0.0)


def _flag(section: Section, key: str, value: object) -> None:
    if type(value) is not bool:
        raise section.refuse(key, value, "expected true or false")


def _sizes(section: Section, key: str, value: object) -> None:
    if not isinstance(value, list) or not value:
        raise section.refuse(key, value, "expected a list of sizes")
    for index, size in enumerate(value):
        section.whole(f"{key}[{index}]", size, 1)


def _table(section: Section, key: str, value: object) -> None:
    if not isinstance(value, dict):
        raise section.refuse(key, value, "expected an object of names and ids")


def _anything(section: Section, key: str, value: object) -> None:
    """Checked where its meaning is known."""


_RULES: dict[Any, Callable[[Section, str, object], None]] = {
    int: _size,
    float: _factor,
    bool: _flag,
    tuple[int, ...]: _sizes,
    dict[str, int]: _table,
}


def check_main(raw: Mapping[str, Any], file: Path) -> None:
    """The names by which a config file says what it describes, where it gives them."""
    section = Section(file)
    for key, wanted in (("model_type", MODEL_TYPE), ("tokenizer_type", TOKENIZER_TYPE)):
        if key in raw:
            section.equal(key, raw[key], wanted, "no other is known")


def check(config: TtsConfig, folder: Path) -> None:
    """What the parts ask of each other. Raises CheckpointError."""
    file = folder / "config.json"
    decoder, sizes = config.codec.decoder_config, config.talker.code_predictor_config
    predictor = Section(file, "talker_config.code_predictor_config")
    groups = decoder.num_quantizers
    predictor.equal("num_code_groups", sizes.num_code_groups, groups, "the codec's quantizers")
    predictor.whole("vocab_size", sizes.vocab_size, 1, decoder.codebook_size)
    _check_talker(config.talker, Section(file, "talker_config"))
    _check_text_ids(config.text_ids, config.talker.text_vocab_size, Section(file))
    _check_sampling(config.sampling, Section(folder / "generation_config.json"))
    if config.kind == "base" and config.speaker_encoder is not None:
        width = config.talker.hidden_size
        _check_speaker(config.speaker_encoder, width, Section(file, "speaker_encoder_config"))


def _check_talker(talker: TalkerConfig, section: Section) -> None:
    predictor = talker.code_predictor_config
    _check_heads(talker, section)
    inner = Section(section.file, "talker_config.code_predictor_config")
    _check_heads(predictor, inner)
    section.whole("num_code_groups", talker.num_code_groups, 2)
    groups = predictor.num_code_groups
    section.equal("num_code_groups", talker.num_code_groups, groups, "the Code Predictor's")
    section.whole("vocab_size", talker.vocab_size, predictor.vocab_size)
    for key in ("bos", "pad", "think", "nothink", "think_bos", "think_eos"):
        name = f"codec_{key}_id"
        section.whole(name, getattr(talker, name), 0, talker.vocab_size - 1)
    end, last = talker.codec_eos_token_id, talker.vocab_size - 1
    section.whole("codec_eos_token_id", end, predictor.vocab_size, last)
    section.ids(talker.codec_language_id, "codec_language_id", talker.vocab_size)
    section.ids(talker.spk_id, "spk_id", talker.vocab_size)
    _check_dialects(talker, section)


def _check_heads(shape: Any, section: Section) -> None:
    heads, groups = shape.num_attention_heads, shape.num_key_value_heads
    if heads % groups:
        rule = f"expected a divisor of num_attention_heads, {heads}"
        raise section.refuse("num_key_value_heads", groups, rule)
    if shape.head_dim % 2:
        raise section.refuse("head_dim", shape.head_dim, "expected an even number")


def _check_dialects(talker: TalkerConfig, section: Section) -> None:
    dialects = talker.spk_is_dialect
    if not isinstance(dialects, Mapping):
        raise section.refuse("spk_is_dialect", dialects, "expected an object of names")
    for name, dialect in dialects.items():
        known = isinstance(dialect, str) and dialect in talker.codec_language_id
        if dialect is not False and not known:
            key = f"spk_is_dialect.{name}"
            raise section.refuse(key, dialect, "expected false or a key of codec_language_id")


def _check_text_ids(ids: TextIds, vocabulary: int, section: Section) -> None:
    for name in ("im_start", "im_end", "assistant", "tts_bos", "tts_eos", "tts_pad"):
        section.whole(f"{name}_token_id", getattr(ids, name), 0, vocabulary - 1)


def check_codec(codec: CodecConfig, file: Path) -> None:
    """Raises CheckpointError where the codec is not the one that the engine's clock counts on."""
    decoder, encoder = codec.decoder_config, codec.encoder_config
    section = Section(file, "decoder_config")
    section.equal("samples of a frame", decoder.samples_per_frame, SAMPLES_PER_FRAME, "80 ms")
    if decoder.head_dim % 2:
        raise section.refuse("head_dim", decoder.head_dim, "expected an even number")
    if decoder.codebook_dim % 2:
        raise section.refuse("codebook_dim", decoder.codebook_dim, "expected an even number")
    halvings = 1 << len(decoder.upsample_rates)
    if decoder.decoder_dim % halvings:
        rule = f"expected a multiple of {halvings}: every upsampling halves it"
        raise section.refuse("decoder_dim", decoder.decoder_dim, rule)
    semantic, all_of_them = decoder.num_semantic_quantizers, decoder.num_quantizers
    section.whole("num_semantic_quantizers", semantic, 1, all_of_them - 1)
    main = Section(file)
    main.equal("output_sample_rate", codec.output_sample_rate, SAMPLE_RATE, "all audio is 24 kHz")
    most = encoder.num_quantizers
    main.whole("encoder_valid_num_quantizers", codec.encoder_valid_num_quantizers, 1, most)


def _check_sampling(sampling: SamplingConfig, section: Section) -> None:
    for prefix in ("", "subtalker_"):
        section.number(f"{prefix}top_p", getattr(sampling, f"{prefix}top_p"), 0.0, 1.0)


def _check_speaker(speaker: SpeakerEncoderConfig, width: int, section: Section) -> None:
    section.equal("enc_dim", speaker.enc_dim, width, "the Talker's hidden_size")
    layers = len(speaker.enc_channels)
    for key in ("enc_kernel_sizes", "enc_dilations"):
        section.equal(f"length of {key}", len(getattr(speaker, key)), layers, "as enc_channels")
