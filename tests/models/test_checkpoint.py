from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from gpu_engine.errors import CheckpointError
from gpu_engine.models.checkpoint import Checkpoint, checkpoint_fingerprint, load_checkpoint

CUSTOM, BASE = "tiny-1b7-custom_voice", "tiny-1b7-base"
WEIGHTS, CODEC = Path("model.safetensors"), Path("speech_tokenizer/model.safetensors")
HEAD = "talker.codec_head.weight"


@pytest.fixture
def copy(checkpoint_folder: Callable[[str], Path], tmp_path: Path) -> Callable[[str], Path]:
    return lambda name: Path(shutil.copytree(checkpoint_folder(name), tmp_path / name))


def edit(file: Path, change: Callable[[dict[str, torch.Tensor]], Any]) -> None:
    tensors = load_file(file)
    change(tensors)
    save_file(tensors, file)


def edit_json(file: Path, **changes: object) -> None:
    file.write_text(json.dumps({**json.loads(file.read_text()), **changes}))


def refused(folder: Path) -> str:
    with pytest.raises(CheckpointError) as caught:
        load_checkpoint(folder)
    assert caught.value.code == "bad_checkpoint"
    return caught.value.message.removeprefix(f"{folder}/")


def test_it_works(checkpoint: Callable[[str], Checkpoint]) -> None:
    loaded = checkpoint(BASE)
    assert (loaded.config.kind, loaded.config.size) == ("base", "1b7")
    assert loaded.speaker_encoder is not None
    assert loaded.codec_encoder is not None
    assert loaded.talker.dtype == torch.float32
    assert not loaded.talker.training


def test_only_base_models_encode_speakers(checkpoint: Callable[[str], Checkpoint]) -> None:
    assert checkpoint(CUSTOM).speaker_encoder is None


def test_the_codec_stays_float32(checkpoint_folder: Callable[[str], Path]) -> None:
    loaded = load_checkpoint(checkpoint_folder(CUSTOM), dtype=torch.bfloat16)
    assert loaded.talker.dtype == torch.bfloat16
    assert {p.dtype for p in loaded.codec_decoder.parameters()} == {torch.float32}


def test_the_codec_encoder_may_be_left_out(copy: Callable[[str], Path]) -> None:
    folder = copy(CUSTOM)
    edit(folder / CODEC, lambda t: [t.pop(name) for name in list(t) if name[:8] == "encoder."])
    assert load_checkpoint(folder).codec_encoder is None


def test_a_speaker_encoder_left_in_a_fine_tune_is_ignored(copy: Callable[[str], Path]) -> None:
    folder = copy(CUSTOM)
    edit(folder / WEIGHTS, lambda t: t.update({"speaker_encoder.fc.bias": torch.zeros(3)}))
    assert load_checkpoint(folder).speaker_encoder is None


def test_the_fingerprint_changes_with_a_weight(copy: Callable[[str], Path]) -> None:
    folder = copy(CUSTOM)
    before = checkpoint_fingerprint(folder)
    assert checkpoint_fingerprint(folder) == before
    edit(folder / WEIGHTS, lambda t: t["talker.model.text_embedding.weight"].mul_(0.5))
    assert checkpoint_fingerprint(folder) != before


def test_the_fingerprint_changes_with_a_speaker_row(copy: Callable[[str], Path]) -> None:
    folder = copy(CUSTOM)
    before = checkpoint_fingerprint(folder)
    edit(folder / WEIGHTS, lambda t: t["talker.model.codec_embedding.weight"][3000].mul_(0.5))
    assert checkpoint_fingerprint(folder) != before


def test_an_empty_weight_file_is_named(copy: Callable[[str], Path]) -> None:
    folder = copy(CUSTOM)
    (folder / WEIGHTS).write_bytes(b"")
    assert refused(folder).startswith(f"{WEIGHTS}: not a whole safetensors file")


def test_the_fingerprint_changes_with_the_configuration(copy: Callable[[str], Path]) -> None:
    folder = copy(CUSTOM)
    before = checkpoint_fingerprint(folder)
    edit_json(folder / "generation_config.json", temperature=0.7)
    assert checkpoint_fingerprint(folder) != before


@pytest.mark.parametrize(
    "name",
    ["config.json", "generation_config.json", "speech_tokenizer/config.json", WEIGHTS, CODEC],
    ids=str,
)
def test_a_missing_file_is_named(name: str | Path, copy: Callable[[str], Path]) -> None:
    folder = copy(CUSTOM)
    (folder / name).unlink()
    remedy = "--checkpoint, PARLANCE_CHECKPOINT or --aligner names a folder in the official layout"
    assert refused(folder) == f"{name}: missing: {remedy}"


def test_a_missing_tensor_is_named(copy: Callable[[str], Path]) -> None:
    folder = copy(CUSTOM)
    edit(folder / WEIGHTS, lambda t: t.pop(HEAD))
    why = "renamed, or weights of another model"
    assert refused(folder) == f"{WEIGHTS}: has no tensor {HEAD!r}: {why}"


def test_a_wrong_shape_is_named(copy: Callable[[str], Path]) -> None:
    folder = copy(CUSTOM)
    edit(folder / WEIGHTS, lambda t: t.update({HEAD: torch.zeros(5, 6)}))
    assert refused(folder) == f"{WEIGHTS}: {HEAD!r} is [5, 6], expected [3072, 64] by config.json"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_weights_that_are_no_numbers_are_named(value: float, copy: Callable[[str], Path]) -> None:
    folder = copy(CUSTOM)
    edit(folder / WEIGHTS, lambda t: t[HEAD].__setitem__((3, 5), value))
    problem = "holds NaN or infinity: the file is damaged, copy it again"
    assert refused(folder) == f"{WEIGHTS}: {HEAD!r} {problem}"


def test_a_codec_that_is_no_numbers_is_named(copy: Callable[[str], Path]) -> None:
    folder, name = copy(CUSTOM), "decoder.pre_conv.conv.bias"
    edit(folder / CODEC, lambda t: t[name].fill_(float("nan")))
    assert refused(folder).startswith(f"{CODEC}: {name!r} holds NaN or infinity")


@pytest.mark.parametrize(("dtype", "name"), [(torch.int64, "I64"), (torch.float64, "F64")])
def test_weights_of_another_type_are_named(
    dtype: torch.dtype, name: str, copy: Callable[[str], Path]
) -> None:
    folder = copy(CUSTOM)
    edit(folder / WEIGHTS, lambda t: t.update({HEAD: t[HEAD].to(dtype)}))
    assert refused(folder) == f"{WEIGHTS}: {HEAD!r} is {name}, expected one of F32, BF16, F16"


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"{",
        b"[]",
        b"\xff\xfe{}",
        b'{"talker.model.codec_embedding.weight": 5}',
        b'{"talker.model.codec_embedding.weight": {"data_offsets": [-4, 8]}}',
        b'{"talker.model.codec_embedding.weight": {"data_offsets": [8, 4]}}',
        b'{"talker.model.codec_embedding.weight": {"data_offsets": [0, 1e300]}}',
        b'{"talker.model.codec_embedding.weight": {"data_offsets": [0, 99999999]}}',
    ],
    ids=str,
)
@pytest.mark.parametrize("read", [load_checkpoint, checkpoint_fingerprint])
def test_a_malformed_header_is_named(
    read: Callable[[Path], object], header: bytes, copy: Callable[[str], Path]
) -> None:
    folder = copy(CUSTOM)
    (folder / WEIGHTS).write_bytes(len(header).to_bytes(8, "little") + header)
    with pytest.raises(CheckpointError) as caught:
        read(folder)
    assert caught.value.message.startswith(f"{folder / WEIGHTS}: not a whole safetensors file")


def test_a_length_beyond_the_file_is_named(copy: Callable[[str], Path]) -> None:
    folder = copy(CUSTOM)
    (folder / WEIGHTS).write_bytes(b"\xff" * 64)
    assert refused(folder).startswith(f"{WEIGHTS}: not a whole safetensors file")


def test_weights_that_are_a_folder_are_named(copy: Callable[[str], Path]) -> None:
    folder = copy(CUSTOM)
    (folder / WEIGHTS).unlink()
    (folder / WEIGHTS).mkdir()
    assert refused(folder) == f"{WEIGHTS}: is a folder, expected a file"


def test_an_unknown_tensor_is_named(copy: Callable[[str], Path]) -> None:
    folder = copy(CUSTOM)
    edit(folder / WEIGHTS, lambda t: t.update({"talker.extra": torch.zeros(1)}))
    assert refused(folder) == f"{WEIGHTS}: unknown tensor 'talker.extra' of 1"


@pytest.mark.parametrize("name", [WEIGHTS, CODEC], ids=str)
def test_a_truncated_file_is_named(name: Path, copy: Callable[[str], Path]) -> None:
    folder = copy(CUSTOM)
    with (folder / name).open("r+b") as file:
        file.truncate(1_000_000)
    assert refused(folder).startswith(f"{name}: not a whole safetensors file")


def test_weights_of_another_kind_are_refused(copy: Callable[[str], Path]) -> None:
    folder = copy(CUSTOM)
    edit_json(folder / "config.json", tts_model_type="base", speaker_encoder_config={"enc_dim": 64})
    message = refused(folder)
    assert message.startswith(f"{WEIGHTS}: has no tensor 'speaker_encoder.")


def test_an_unknown_kind_is_refused(copy: Callable[[str], Path]) -> None:
    folder = copy(CUSTOM)
    edit_json(folder / "config.json", tts_model_type="singer")
    assert refused(folder) == (
        "config.json: unknown tts_model_type 'singer', expected custom_voice, base or voice_design"
    )


def test_a_configuration_that_is_no_json_is_refused(copy: Callable[[str], Path]) -> None:
    folder = copy(CUSTOM)
    (folder / "config.json").write_text("{")
    assert refused(folder).startswith("config.json: not valid JSON")
