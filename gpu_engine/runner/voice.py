"""A clip of speech on its way to a voice, piece by piece."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np
import torch
from torch import Tensor

from gpu_engine.audio import with_closing_silence
from gpu_engine.models.checkpoint import Checkpoint
from gpu_engine.models.pieces import code_pieces, embed_pieces


class VoiceEncoding:
    """`advance` until `finished`. The embedding is made of the clip alone, the codes of the clip
    with silence behind it: a reference that ends in mid-sound leaks into speech."""

    def __init__(
        self, checkpoint: Checkpoint, pcm: bytes, with_codes: bool, piece_seconds: float
    ) -> None:
        """`pcm`: float32, mono, 24 kHz. About so many seconds of it a piece."""
        self._checkpoint, self._seconds = checkpoint, piece_seconds
        self._clip = np.frombuffer(pcm, "<f4").astype(np.float32)
        self._with_codes = with_codes
        self._work = self._pieces()
        self._made: tuple[Tensor, Tensor | None] | None = None

    @torch.inference_mode()
    def advance(self) -> None:
        """The next piece."""
        try:
            next(self._work)
        except StopIteration as end:
            self._made = end.value

    @property
    def finished(self) -> bool:
        return self._made is not None

    def voice(self) -> tuple[bytes, bytes]:
        """Float32 embedding and uint16 codes, little-endian, once it is finished."""
        assert self._made is not None, "the last piece comes first"
        embedding, codes = self._made
        values = embedding.float().cpu().numpy().astype("<f4").tobytes()
        if codes is None:
            return values, b""
        return values, codes.T.cpu().numpy().astype("<u2").tobytes()

    def _pieces(self) -> Generator[None, None, tuple[Tensor, Tensor | None]]:
        speaker, codec = self._checkpoint.speaker_encoder, self._checkpoint.codec_encoder
        assert speaker is not None, "the front asks only where a voice can be encoded"
        embedding = yield from embed_pieces(speaker, self._on_device(self._clip), self._seconds)
        if not self._with_codes:
            return embedding, None
        assert codec is not None, "the front asks only where codes can be made"
        closed = self._on_device(with_closing_silence(self._clip))
        yield
        codes = yield from code_pieces(codec, closed, self._seconds)
        return embedding, codes

    def _on_device(self, samples: np.ndarray) -> Tensor:
        return torch.from_numpy(samples).to(self._checkpoint.talker.device)
