"""What an aligner's folder may be, and what is said of one that is none."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file, save_file

from gpu_engine.align.folder import SHIPPED
from gpu_engine.align.load import languages, load_aligner
from gpu_engine.errors import CheckpointError

Change = Callable[[dict[str, Any]], object]


@pytest.fixture
def copied(folder: Path, tmp_path: Path) -> Path:
    for file in folder.iterdir():
        (tmp_path / file.name).symlink_to(file)
    return tmp_path


def refusal(folder: Path) -> str:
    with pytest.raises(CheckpointError) as caught:
        load_aligner(folder)
    return str(caught.value)


def rewrite(folder: Path, change: Change) -> None:
    config = json.loads((folder / "config.json").read_text("utf-8"))
    change(config)
    (folder / "config.json").unlink()
    (folder / "config.json").write_text(json.dumps(config), "utf-8")


def test_it_works(folder: Path) -> None:
    """Its own languages, less those whose words take a dictionary."""
    assert languages(folder) == ("chinese", "cantonese", "english", "french")
    assert load_aligner(folder).languages == languages(folder)


def test_the_shipped_one_is_the_other_kind() -> None:
    assert languages(SHIPPED) == ("english",)


@pytest.mark.parametrize("file", ["config.json", "model.safetensors", "vocab.json", "merges.txt"])
def test_a_missing_file_is_named(copied: Path, file: str) -> None:
    (copied / file).unlink()
    found = refusal(copied)
    assert file in found
    assert "missing" in found


def test_a_recogniser_is_refused(copied: Path) -> None:
    rewrite(copied, lambda config: config["thinker_config"].update(model_type="qwen3_asr_thinker"))
    assert "thinker_config.model_type is 'qwen3_asr_thinker'" in refusal(copied)


def test_another_model_is_refused(copied: Path) -> None:
    rewrite(copied, lambda config: config.update(model_type="qwen3_tts"))
    assert "model_type is 'qwen3_tts', expected 'parlance_ctc_aligner' or 'qwen3_asr'" in refusal(
        copied
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            lambda config: config["thinker_config"]["audio_config"].update(output_dim=41),
            "thinker_config.audio_config.output_dim is 41",
        ),
        (
            lambda config: config["thinker_config"]["audio_config"].update(d_model=33),
            "thinker_config.audio_config.d_model is 33",
        ),
        (
            lambda config: config["thinker_config"]["audio_config"].update(n_window_infer=850),
            "thinker_config.audio_config.n_window_infer is 850",
        ),
        (
            lambda config: config["thinker_config"]["text_config"].update(num_key_value_heads=3),
            "thinker_config.text_config.num_key_value_heads is 3",
        ),
        (
            lambda config: config["thinker_config"]["text_config"].update(head_dim=15),
            "thinker_config.text_config.head_dim is 15",
        ),
        (
            lambda config: config["thinker_config"].pop("classify_num"),
            "has no 'classify_num' in thinker_config",
        ),
        (lambda config: config.update(timestamp_token_id=152064), "timestamp_token_id is 152064"),
        (lambda config: config.update(timestamp_segment_time=0), "timestamp_segment_time is 0"),
        (lambda config: config.pop("support_languages"), "support_languages is None"),
    ],
)
def test_a_configuration_that_cannot_work_is_refused_by_its_key(
    copied: Path, change: Change, said: str
) -> None:
    rewrite(copied, change)
    assert said in refusal(copied)


def change_weights(folder: Path, change: Change) -> None:
    tensors: dict[str, Any] = load_file(folder / "model.safetensors")
    change(tensors)
    (folder / "model.safetensors").unlink()
    save_file(tensors, folder / "model.safetensors")


def test_a_wrong_shape_is_refused_by_its_name(copied: Path) -> None:
    name = "thinker.lm_head.weight"
    change_weights(copied, lambda tensors: tensors.update({name: tensors[name][:, :39].clone()}))
    assert f"{name!r} is [5000, 39], expected [5000, 40] by config.json" in refusal(copied)


def test_a_missing_tensor_is_named(copied: Path) -> None:
    change_weights(copied, lambda tensors: tensors.pop("thinker.audio_tower.conv_out.weight"))
    assert "has no tensor 'thinker.audio_tower.conv_out.weight'" in refusal(copied)


def test_an_unknown_tensor_is_named(copied: Path) -> None:
    extra = "thinker.audio_tower.other.weight"
    change_weights(
        copied, lambda t: t.update({extra: t["thinker.audio_tower.conv_out.weight"].clone()})
    )
    assert f"unknown tensor {extra!r}" in refusal(copied)
