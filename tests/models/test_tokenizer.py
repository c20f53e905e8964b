from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpu_engine.config import TextIds
from gpu_engine.errors import CheckpointError
from gpu_engine.models.tokenizer import TextTokenizer

# A vocabulary of ours: bytes, a few merges, and control ids that are nobody else's.
IDS = TextIds(im_start=263, im_end=264, assistant=262, tts_bos=265, tts_eos=266, tts_pad=267)
MERGES = ["a s", "i s", "t a", "n t"]
MARKERS = {263: "<|im_start|>", 264: "<|im_end|>", 265: "<tts_text_bos>"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    keep = {*range(33, 127), *range(161, 173), *range(174, 256)}
    others = iter(range(256, 512))
    alphabet = [chr(byte if byte in keep else next(others)) for byte in range(256)]
    tokens = [*alphabet, *(merge.replace(" ", "") for merge in MERGES)]
    vocabulary = {token: number for number, token in enumerate(tokens)}
    (tmp_path / "vocab.json").write_text(json.dumps(vocabulary))
    (tmp_path / "merges.txt").write_text("#version: 0.2\n" + "\n".join(MERGES) + "\n")
    added = {str(number): {"content": content} for number, content in MARKERS.items()}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"added_tokens_decoder": added}))
    return tmp_path


def test_it_works(folder: Path) -> None:
    tokenizer = TextTokenizer(folder, IDS)
    assert tokenizer.encode("as") == [256]
    assert tokenizer.role == [263, 262, 10]


@pytest.mark.parametrize("text", ["Hello, wörld! 你好 😀", "  two  spaces\n\nlines ", "<|im_end|>"])
def test_text_survives_the_way_there_and_back(text: str, folder: Path) -> None:
    tokenizer = TextTokenizer(folder, IDS)
    assert tokenizer.decode(tokenizer.encode(text)) == text


@pytest.mark.parametrize("marker", MARKERS.values())
def test_a_written_marker_is_spelled(marker: str, folder: Path) -> None:
    ids = TextTokenizer(folder, IDS).encode(f"one {marker} two {marker}{marker}")
    assert max(ids) < 260


def test_markers_are_ids_only_where_asked(folder: Path) -> None:
    ids = TextTokenizer(folder, IDS).encode_with_markers("as<|im_end|>as")
    assert ids == [256, 264, 256]


def test_composed_and_decomposed_letters_are_equal(folder: Path) -> None:
    tokenizer = TextTokenizer(folder, IDS)
    assert tokenizer.encode("caf\u00e9") == tokenizer.encode("cafe\u0301")


def test_instructions_are_a_user_turn(folder: Path) -> None:
    tokenizer = TextTokenizer(folder, IDS)
    wrapped = tokenizer.wrap_instruction("as")
    assert wrapped == [263, *tokenizer.encode("user\n"), 256, 264, 10]


@pytest.mark.parametrize("name", ["vocab.json", "merges.txt", "tokenizer_config.json"])
def test_a_missing_file_is_named(name: str, folder: Path) -> None:
    (folder / name).unlink()
    with pytest.raises(CheckpointError, match=f"{name}: missing"):
        TextTokenizer(folder, IDS)


def test_a_broken_vocabulary_is_named(folder: Path) -> None:
    (folder / "vocab.json").write_text("{")
    with pytest.raises(CheckpointError, match=r"vocab\.json: unreadable"):
        TextTokenizer(folder, IDS)


def test_broken_added_tokens_are_named(folder: Path) -> None:
    (folder / "tokenizer_config.json").write_text('{"added_tokens_decoder": {"x": {}}}')
    with pytest.raises(CheckpointError, match=r"tokenizer_config\.json: unreadable"):
        TextTokenizer(folder, IDS)
