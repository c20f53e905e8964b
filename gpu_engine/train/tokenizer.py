"""Trains the small byte-level BPE of a tiny checkpoint; writes it in the official layout."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import chain, repeat
from pathlib import Path

from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, trainers

from gpu_engine.models.tokenizer import WORD_PATTERNS

# At the top ids, in the official order.
ADDED = (
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    "<|audio_start|>",
    "<|audio_end|>",
    "<tts_pad>",
    "<tts_text_bos>",
    "<tts_text_eod>",
    "<tts_text_bos_single>",
    "<|audio_pad|>",
)
SINGLE = ("assistant", "user")  # the prompt wrapper counts on one token each
BYTES = 256


def train_bpe(texts: Iterable[str], size: int) -> Tokenizer:
    """A byte-complete BPE whose ids, with the ADDED tokens on top, are 0..size-1."""
    if size < BYTES + len(ADDED) + 64:
        raise ValueError(f"a vocabulary of {size} leaves no room for merges")
    model = models.BPE()
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = splitter()
    trainer = trainers.BpeTrainer(
        vocab_size=size - len(ADDED),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    drill = chain.from_iterable(repeat(word, 3_000) for word in SINGLE)
    tokenizer.train_from_iterator(chain(texts, drill), trainer)
    return tokenizer


def splitter() -> pre_tokenizers.PreTokenizer:
    """Qwen's split into words, then bytes as printable letters."""
    words = pre_tokenizers.Split(Regex(WORD_PATTERNS["qwen"]), behavior="isolated")
    letters = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    return pre_tokenizers.Sequence([words, letters])


def write_tokenizer(tokenizer: Tokenizer, folder: Path) -> dict[str, int]:
    """vocab.json, merges.txt and tokenizer_config.json; returns the ids of the ADDED tokens."""
    folder.mkdir(parents=True, exist_ok=True)
    vocab = sorted(tokenizer.get_vocab(with_added_tokens=False).items(), key=lambda item: item[1])
    tokenizer.model.save(str(folder))
    compact = json.dumps(dict(vocab), ensure_ascii=False, separators=(",", ":"))
    (folder / "vocab.json").write_text(compact, "utf-8")
    ids = {token: len(vocab) + i for i, token in enumerate(ADDED)}
    config = json.dumps(tokenizer_config(ids), indent=2, ensure_ascii=False)
    (folder / "tokenizer_config.json").write_text(config + "\n", "utf-8")
    return ids


def tokenizer_config(ids: dict[str, int]) -> dict[str, object]:
    """The official file's keys, with this vocabulary's ids."""
    flags = {
        "lstrip": False,
        "normalized": False,
        "rstrip": False,
        "single_word": False,
        "special": True,
    }
    return {
        "add_bos_token": False,
        "add_prefix_space": False,
        "added_tokens_decoder": {str(i): {"content": token, **flags} for token, i in ids.items()},
        "additional_special_tokens": [token for token in ids if token != "<|endoftext|>"],
        "bos_token": None,
        "clean_up_tokenization_spaces": False,
        "eos_token": "<|im_end|>",
        "errors": "replace",
        "model_max_length": 131072,
        "pad_token": "<|endoftext|>",
        "split_special_tokens": False,
        "tokenizer_class": "Qwen2Tokenizer",
        "unk_token": None,
    }


def text_encoder(folder: Path, dropout: float | None = None) -> Tokenizer:
    """The text side of the tokenizer in `folder`, for training; dropout skips merges at random."""
    model = models.BPE.from_file(
        str(folder / "vocab.json"), str(folder / "merges.txt"), dropout=dropout
    )
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = splitter()
    return tokenizer
