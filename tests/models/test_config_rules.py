"""Each odd value of a configuration is one line that names file and key."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gpu_engine.config import read_config
from gpu_engine.errors import CheckpointError

CUSTOM, BASE = "tiny-1b7-custom_voice", "tiny-1b7-base"
MAIN, CODEC = "config.json", "speech_tokenizer/config.json"
GENERATION = "generation_config.json"
TALKER, PREDICTOR = "talker_config", "talker_config.code_predictor_config"
SIZE = "expected a whole number from 1 to 16777216"
Change = Callable[[dict[str, Any]], Any]


@pytest.fixture
def copy(checkpoint_folder: Callable[[str], Path], tmp_path: Path) -> Callable[[str], Path]:
    """The JSON files of a checkpoint: no rule needs its weights."""

    def made(name: str) -> Path:
        source, folder = checkpoint_folder(name), tmp_path / name
        ignored = shutil.ignore_patterns("*.safetensors")
        return Path(shutil.copytree(source, folder, ignore=ignored))

    return made


def change(file: Path, section: str, key: str, value: object) -> None:
    content = json.loads(file.read_text())
    place = content
    for name in filter(None, section.split(".")):
        place = place[name]
    place[key] = value
    file.write_text(json.dumps(content))


def refused(folder: Path) -> str:
    with pytest.raises(CheckpointError) as caught:
        read_config(folder)
    return caught.value.message.removeprefix(f"{folder}/")


@pytest.mark.parametrize("name", [CUSTOM, BASE, "tiny-0b6-custom_voice", "tiny-1b7-voice_design"])
def test_it_works(name: str, checkpoint_folder: Callable[[str], Path]) -> None:
    assert read_config(checkpoint_folder(name)).talker.num_code_groups == 16


@pytest.mark.parametrize(
    ("file", "section", "key", "value", "rule"),
    [
        (MAIN, "", "model_type", "qwen3", "expected 'qwen3_tts' (no other is known)"),
        (MAIN, "", "tts_pad_token_id", -1, "expected a whole number from 0 to 151935"),
        (MAIN, "", "tts_pad_token_id", "9", "expected a whole number from 0 to 151935"),
        (MAIN, "", "im_start_token_id", 151_936, "expected a whole number from 0 to 151935"),
        (MAIN, "", "talker_config", [1], "expected an object"),
        (MAIN, TALKER, "num_attention_heads", 0, SIZE),
        (MAIN, TALKER, "num_hidden_layers", -2, SIZE),
        (MAIN, TALKER, "hidden_size", 64.0, SIZE),
        (MAIN, TALKER, "hidden_size", True, SIZE),
        (MAIN, TALKER, "hidden_size", None, SIZE),
        (MAIN, TALKER, "intermediate_size", 1 << 40, SIZE),
        (MAIN, TALKER, "rms_norm_eps", 0, "expected a number above 0"),
        (MAIN, TALKER, "rope_theta", "big", "expected a number above 0"),
        (MAIN, TALKER, "rope_theta", float("nan"), "expected a number above 0"),
        (MAIN, TALKER, "codec_pad_id", 3072, "expected a whole number from 0 to 3071"),
        (MAIN, TALKER, "codec_eos_token_id", 5, "expected a whole number from 2048 to 3071"),
        (MAIN, TALKER, "spk_id", ["ryan"], "expected an object of names and ids"),
        (MAIN, TALKER, "code_predictor_config", None, "expected an object"),
        (MAIN, PREDICTOR, "num_code_groups", 8, "expected 16 (the codec's quantizers)"),
        (MAIN, PREDICTOR, "vocab_size", 4096, "expected a whole number from 1 to 2048"),
        (GENERATION, "", "temperature", -0.5, "expected a number above 0"),
        (GENERATION, "", "top_k", -1, "expected a whole number from 0 to 16777216"),
        (GENERATION, "", "top_p", 1.5, "expected a number above 0 and up to 1"),
        (GENERATION, "", "do_sample", "yes", "expected true or false"),
        (CODEC, "", "output_sample_rate", 48_000, "expected 24000 (all audio is 24 kHz)"),
        (CODEC, "", "encoder_valid_num_quantizers", 0, "expected a whole number from 1 to 20"),
        (CODEC, "decoder_config", "sliding_window", 0, SIZE),
        (CODEC, "decoder_config", "upsample_rates", [], "expected a list of sizes"),
        (CODEC, "decoder_config", "upsample_rates", 8, "expected a list of sizes"),
        (CODEC, "decoder_config", "num_semantic_quantizers", 16, "from 1 to 15"),
    ],
)
def test_a_value_that_cannot_work(
    file: str, section: str, key: str, value: object, rule: str, copy: Callable[[str], Path]
) -> None:
    folder = copy(CUSTOM)
    change(folder / file, section, key, value)
    message = refused(folder)
    where = f"{section}.{key}" if section else key
    assert message.startswith(f"{file}: {where} is {value!r}, ")
    assert message.endswith(rule)


def test_heads_that_do_not_share_evenly(copy: Callable[[str], Path]) -> None:
    folder = copy(CUSTOM)
    change(folder / MAIN, TALKER, "num_key_value_heads", 3)
    heads = read_heads(folder)
    rule = f"expected a divisor of num_attention_heads, {heads}"
    assert refused(folder) == f"{MAIN}: {TALKER}.num_key_value_heads is 3, {rule}"


def read_heads(folder: Path) -> int:
    heads: int = json.loads((folder / MAIN).read_text())[TALKER]["num_attention_heads"]
    return heads


def test_a_head_that_cannot_turn(copy: Callable[[str], Path]) -> None:
    folder = copy(CUSTOM)
    change(folder / MAIN, TALKER, "head_dim", 15)
    assert refused(folder) == f"{MAIN}: {TALKER}.head_dim is 15, expected an even number"


def test_a_speaker_outside_the_vocabulary(copy: Callable[[str], Path]) -> None:
    folder = copy(CUSTOM)
    change(folder / MAIN, f"{TALKER}.spk_id", "ryan", 9999)
    rule = "expected a whole number from 0 to 3071"
    assert refused(folder) == f"{MAIN}: {TALKER}.spk_id.ryan is 9999, {rule}"


def test_a_dialect_that_is_no_language(copy: Callable[[str], Path]) -> None:
    folder = copy(CUSTOM)
    change(folder / MAIN, f"{TALKER}.spk_is_dialect", "eric", ["welsh"])
    rule = "expected false or a key of codec_language_id"
    assert refused(folder) == f"{MAIN}: {TALKER}.spk_is_dialect.eric is ['welsh'], {rule}"


def test_frames_of_another_length(copy: Callable[[str], Path]) -> None:
    folder = copy(CUSTOM)
    change(folder / CODEC, "decoder_config", "upsampling_ratios", [2, 4])
    where = "decoder_config.samples of a frame"
    assert refused(folder) == f"{CODEC}: {where} is 3840, expected 1920 (80 ms)"


def test_a_speaker_encoder_of_another_width(copy: Callable[[str], Path]) -> None:
    folder = copy(BASE)
    change(folder / MAIN, "speaker_encoder_config", "enc_dim", 7)
    rule = "expected 64 (the Talker's hidden_size)"
    assert refused(folder) == f"{MAIN}: speaker_encoder_config.enc_dim is 7, {rule}"


def test_a_missing_key_names_its_section(copy: Callable[[str], Path]) -> None:
    folder = copy(CUSTOM)
    content = json.loads((folder / MAIN).read_text())
    del content[TALKER]["code_predictor_config"]["head_dim"]
    (folder / MAIN).write_text(json.dumps(content))
    assert refused(folder) == f"{MAIN}: has no 'head_dim' in {PREDICTOR}"


def test_a_file_that_may_not_be_read(
    copy: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = copy(CUSTOM)

    def forbidden(_: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", forbidden)
    assert refused(folder) == f"{MAIN}: may not be read: give this user the right to (chmod)"


def test_a_folder_in_place_of_a_file(copy: Callable[[str], Path]) -> None:
    folder = copy(CUSTOM)
    (folder / MAIN).unlink()
    (folder / MAIN).mkdir()
    assert refused(folder) == f"{MAIN}: is a folder, expected a file"


def test_bytes_that_are_no_text(copy: Callable[[str], Path]) -> None:
    folder = copy(CUSTOM)
    (folder / MAIN).write_bytes(b"\xff\xfe\x00")
    assert refused(folder).startswith(f"{MAIN}: not valid JSON")
