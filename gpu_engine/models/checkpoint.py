"""Checkpoint directories in the official layout, read from safetensors one tensor at a time."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec
import torch
from safetensors import SafetensorError, safe_open
from torch import nn

from gpu_engine.config import TtsConfig, read_config
from gpu_engine.errors import CheckpointError
from gpu_engine.files import read_bytes, unreadable
from gpu_engine.models.codec import CodecDecoder, CodecEncoder
from gpu_engine.models.layers import fuse_layers
from gpu_engine.models.speaker import SpeakerEncoder
from gpu_engine.models.talker import Talker
from gpu_engine.models.tokenizer import TextTokenizer, Words

Module = TypeVar("Module", bound=nn.Module)
NonNegative = Annotated[int, msgspec.Meta(ge=0)]

WEIGHTS = Path("model.safetensors")
CODEC = Path("speech_tokenizer")
CONFIGS = (Path("config.json"), Path("generation_config.json"), CODEC / "config.json")
# Hashed whole: a voice may be baked in by changing one row of it.
SPEAKER_TABLE = "talker.model.codec_embedding.weight"
_SAMPLES, _SAMPLE_BYTES = 64, 4096
FLOATS = ("F32", "BF16", "F16")
_FLOAT_NAMES = ", ".join(FLOATS)
DAMAGED = "the file is damaged, copy it again"


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """One loaded model directory. The fingerprint changes when weights or configuration do."""

    folder: Path
    config: TtsConfig
    talker: Talker
    codec_decoder: CodecDecoder
    codec_encoder: CodecEncoder | None
    speaker_encoder: SpeakerEncoder | None
    tokenizer: TextTokenizer
    fingerprint: str


def load_checkpoint(
    folder: Path | str,
    device: torch.device | str = "cpu",
    dtype: torch.dtype = torch.float32,
    words: Words = "qwen",
) -> Checkpoint:
    """Talker and predictor in `dtype`; codec and speaker encoder in float32, where bf16 is audible.

    Raises CheckpointError naming the file and what is wrong with it. The codec encoder may be
    absent: only in-context cloning and data preparation need it.
    """
    folder = Path(folder)
    config = read_config(folder)
    fingerprint = checkpoint_fingerprint(folder)
    with _opened(folder / WEIGHTS, device) as weights:
        talker = weights.load(lambda: Talker(config.talker), "talker.", dtype)
        speaker = _load_speaker(weights, config)
        weights.refuse_unread("speaker_encoder.")
    with _opened(folder / CODEC / WEIGHTS, device) as codec:
        decoder = codec.load(lambda: CodecDecoder(config.codec.decoder_config), "decoder.")
        encoder = _load_encoder(codec, config)
        codec.refuse_unread("encoder.")
    fuse_layers(talker)
    tokenizer = TextTokenizer(folder, config.text_ids, words)
    return Checkpoint(folder, config, talker, decoder, encoder, speaker, tokenizer, fingerprint)


def load_alone(
    file: Path,
    device: torch.device | str,
    build: Callable[[], Module],
    prefix: str = "",
    dtype: torch.dtype = torch.float32,
) -> Module:
    """A module that a file holds and nothing else. Raises CheckpointError."""
    with _opened(file, device) as weights:
        module = weights.load(build, prefix, dtype)
        weights.refuse_unread()
    return module


def _load_speaker(weights: _Weights, config: TtsConfig) -> SpeakerEncoder | None:
    speaker = config.speaker_encoder
    if config.kind != "base":
        return None
    if speaker is None:
        raise CheckpointError(weights.file.with_name("config.json"), "no speaker_encoder_config")
    return weights.load(lambda: SpeakerEncoder(speaker), "speaker_encoder.")


def _load_encoder(codec: _Weights, config: TtsConfig) -> CodecEncoder | None:
    if not codec.has("encoder."):
        return None
    groups = config.codec.encoder_valid_num_quantizers
    return codec.load(lambda: CodecEncoder(config.codec.encoder_config, groups), "encoder.")


def has_codec_encoder(folder: Path) -> bool:
    """Whether clones in context can be made with this checkpoint: its header says."""
    with _opened(folder / CODEC / WEIGHTS, "cpu") as codec:
        return codec.has("encoder.")


class _Weights:
    """An open safetensors file that knows which of its tensors were read."""

    def __init__(self, file: Path, tensors: Any) -> None:
        self.file = file
        self._tensors = tensors
        self._unread = set(tensors.keys())

    def has(self, prefix: str) -> bool:
        return any(name.startswith(prefix) for name in self._unread)

    def load(
        self, build: Callable[[], Module], prefix: str, dtype: torch.dtype = torch.float32
    ) -> Module:
        """Builds the module without memory and gives each parameter its stored tensor."""
        with torch.device("meta"):
            module = build()
        for path, parameter in list(module.named_parameters()):
            owner, _, leaf = path.rpartition(".")
            tensor = self._read(prefix + path, parameter.shape).to(dtype)
            ready = nn.Parameter(tensor, requires_grad=parameter.requires_grad)
            setattr(module.get_submodule(owner), leaf, ready)
        return module.eval()

    def _read(self, name: str, shape: torch.Size) -> torch.Tensor:
        if name not in self._unread:
            problem = f"has no tensor {name!r}: renamed, or weights of another model"
            raise CheckpointError(self.file, problem)
        view = self._tensors.get_slice(name)
        stored, kind = view.get_shape(), view.get_dtype()
        if list(shape) != stored:
            expected = f"expected {list(shape)} by config.json"
            raise CheckpointError(self.file, f"{name!r} is {stored}, {expected}")
        if kind not in FLOATS:
            raise CheckpointError(self.file, f"{name!r} is {kind}, expected one of {_FLOAT_NAMES}")
        self._unread.discard(name)
        tensor: torch.Tensor = self._tensors.get_tensor(name)
        # One sum finds any: nothing that is no number ever adds up to one.
        if not tensor.sum(dtype=torch.float32).isfinite():
            problem = f"{name!r} holds NaN or infinity: {DAMAGED}"
            raise CheckpointError(self.file, problem)
        return tensor

    def refuse_unread(self, *except_for: str) -> None:
        unknown = sorted(name for name in self._unread if not name.startswith(except_for))
        if unknown:
            raise CheckpointError(self.file, f"unknown tensor {unknown[0]!r} of {len(unknown)}")


@contextmanager
def _opened(file: Path, device: torch.device | str) -> Iterator[_Weights]:
    try:
        # The library's own words for a file that may not be read are the bare system's.
        file.open("rb").close()
        with safe_open(file, framework="pt", device=str(device)) as tensors:
            yield _Weights(file, tensors)
    except OSError as error:
        raise unreadable(file, error) from None
    except SafetensorError as error:
        raise _not_whole(file, str(error)) from None


def _not_whole(file: Path, why: str) -> CheckpointError:
    return CheckpointError(file, f"not a whole safetensors file ({why}): copy it again")


def checkpoint_fingerprint(folder: Path) -> str:
    """Sixteen hex digits over configs, headers, the speakers' table and samples of all weights."""
    digest = hashlib.sha256()
    for name in CONFIGS:
        digest.update(read_bytes(folder / name))
    for name in (WEIGHTS, CODEC / WEIGHTS):
        _digest_weights(digest, folder / name)
    return digest.hexdigest()[:16]


def _digest_weights(digest: hashlib._Hash, file: Path) -> None:
    try:
        size = file.stat().st_size
        with file.open("rb") as raw:
            length = int.from_bytes(raw.read(8), "little")
            header, start = raw.read(min(length, size)), 8 + length
            digest.update(header)
            for offset, count in [*_spread(start, size), *_speaker_table(file, header, start)]:
                raw.seek(offset)
                digest.update(raw.read(count))
    except OSError as error:
        raise unreadable(file, error) from None


def _spread(start: int, size: int) -> list[tuple[int, int]]:
    steps = range(_SAMPLES)
    return [(start + (size - start) * step // _SAMPLES, _SAMPLE_BYTES) for step in steps]


class _Span(msgspec.Struct):
    """Where a tensor lies behind the header."""

    data_offsets: tuple[NonNegative, NonNegative]


def _speaker_table(file: Path, header: bytes, start: int) -> list[tuple[int, int]]:
    try:
        entry = _header.decode(header).get(SPEAKER_TABLE)
        span = None if entry is None else msgspec.json.decode(entry, type=_Span)
    except msgspec.MsgspecError:
        raise _not_whole(file, "no header") from None
    if span is None:
        return []
    first, last = span.data_offsets
    if not first <= last <= file.stat().st_size:
        raise _not_whole(file, "tensors beyond its end")
    return [(start + first, last - first)]


_header = msgspec.json.Decoder(dict[str, msgspec.Raw])
