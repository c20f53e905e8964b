"""Text to ids: byte-level BPE straight from vocab.json, merges.txt and tokenizer_config.json.

Control markers are known here by their ids alone. A marker that a tenant writes out is ordinary
text: it is spelled, and can never become a control id.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Literal

from tokenizers import Regex, Tokenizer, decoders, normalizers, pre_tokenizers
from tokenizers.models import BPE

from gpu_engine.config import TextIds
from gpu_engine.errors import CheckpointError
from gpu_engine.files import read_bytes

Words = Literal["qwen", "mistral"]

# How text falls into words before BPE. `qwen` is what the models were trained with; `mistral` is
# what the reference package makes of a local directory. They differ on case boundaries inside words
# and on scripts such as Thai.
WORD_PATTERNS: dict[Words, str] = {
    "qwen": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    "mistral": r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
    r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
}


class TextTokenizer:
    """One checkpoint's tokenizer and the wrappers that its prompts are made of."""

    def __init__(self, folder: Path, ids: TextIds, words: Words = "qwen") -> None:
        """Raises CheckpointError for a missing or unreadable file."""
        self._bpe = read_bpe(folder, words)
        self._markers = _read_markers(folder / "tokenizer_config.json")
        longest_first = sorted(self._markers, key=len, reverse=True)
        self._split = re.compile("(" + "|".join(map(re.escape, longest_first)) + ")")
        self._newline = self.encode("\n")
        self._ids = ids

    @property
    def role(self) -> list[int]:
        """What comes before every target text."""
        return [self._ids.im_start, self._ids.assistant, *self._newline]

    def encode(self, text: str) -> list[int]:
        """Ids of user text, markers spelled out."""
        ids: list[int] = self._bpe.encode(text, add_special_tokens=False).ids
        return ids

    def encode_with_markers(self, text: str) -> list[int]:
        """As the reference tokenizes: markers written out become control ids. Never for tenants."""
        ids: list[int] = []
        for part in self._split.split(text) if self._markers else [text]:
            marker = self._markers.get(part)
            ids += self.encode(part) if marker is None else [marker]
        return ids

    def wrap_instruction(self, text: str) -> list[int]:
        """A style instruction or voice description as the user turn before the role."""
        start, end = self._ids.im_start, self._ids.im_end
        return [start, *self.encode("user\n"), *self.encode(text), end, *self._newline]

    def decode(self, ids: list[int]) -> str:
        text: str = self._bpe.decode(ids)
        return text


def read_bpe(folder: Path, words: Words = "qwen") -> Tokenizer:
    """Raises CheckpointError for a missing or unreadable file."""
    vocabulary, merges = folder / "vocab.json", folder / "merges.txt"
    for file in (vocabulary, merges):
        read_bytes(file)
    try:
        model = BPE.from_file(str(vocabulary), str(merges))
    except Exception as error:  # noqa: BLE001  the library raises nothing narrower
        raise CheckpointError(vocabulary, f"unreadable vocabulary or merges ({error})") from None
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(WORD_PATTERNS[words]), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def _read_markers(file: Path) -> dict[str, int]:
    try:
        config: dict[str, Any] = json.loads(read_bytes(file))
        added = config.get("added_tokens_decoder", {})
        return {token["content"]: int(number) for number, token in added.items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CheckpointError(file, f"unreadable added tokens ({error})") from None
