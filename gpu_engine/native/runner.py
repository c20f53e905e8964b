"""The runner of a small model on a CPU: each job one call into C."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from ctypes import CDLL
from functools import partial

import torch
from torch import Tensor

from gpu_engine.audio.level import Samples
from gpu_engine.models.checkpoint import Checkpoint
from gpu_engine.native.codec import NativeCodec
from gpu_engine.native.frames import Draws, NativePredictor, NativeTalker
from gpu_engine.native.layout import Draw
from gpu_engine.runner.runner import CACHE_BYTES, Runner, Sampled
from gpu_engine.runner.session import Session

# Larger models are worth a matrix library and its threads.
LARGEST_HIDDEN = 512
HEAD_UNIT, LONGEST_HEAD = 16, 256


def runs_natively(checkpoint: Checkpoint) -> bool:
    """True for a small float32 model on a CPU whose heads the C files can take."""
    talker, codec = checkpoint.config.talker, checkpoint.config.codec.decoder_config
    dims = (talker.head_dim, talker.code_predictor_config.head_dim, codec.head_dim)
    fits = all(dim % HEAD_UNIT == 0 and dim <= LONGEST_HEAD for dim in dims)
    plain = checkpoint.talker.device.type == "cpu" and checkpoint.talker.dtype == torch.float32
    return plain and fits and talker.hidden_size < LARGEST_HIDDEN


class NativeRunner(Runner):
    """As its base, but for the arithmetic. Rows never share a sum, so none needs company."""

    def __init__(
        self,
        checkpoint: Checkpoint,
        slots: int,
        max_positions: int,
        library: CDLL,
        threads: int = 1,
        cache_bytes: int = CACHE_BYTES,
    ) -> None:
        """`threads` share a decode by streams: calls into C hold no interpreter lock."""
        super().__init__(checkpoint, slots, max_positions, cache_bytes)
        self.least_rows = 1
        talker = checkpoint.talker
        self._talker = NativeTalker(talker, self.rules, self.kv, library)
        self._predictor = NativePredictor(talker, library)
        self._codec = NativeCodec(checkpoint.codec_decoder, library, max_positions)
        self.codec_state = self._codec.state(slots)
        self._crew = ThreadPoolExecutor(threads, "codec") if threads > 1 else None

    def _packed(self) -> tuple[object, ...]:
        return self._talker.pack, self._predictor.pack, self._codec.pack

    def _read(self, session: Session, row: Tensor, inputs: Tensor, start: int) -> Sampled:
        count, slot = len(inputs), session.slot
        return self._step([session], inputs, [slot] * count, range(start, start + count))

    @torch.inference_mode()
    def talk(self, sessions: Sequence[Session]) -> Sampled:
        slots = [session.slot for session in sessions]
        texts = torch.stack([self._text(session) for session in sessions])
        positions = [session.position for session in sessions]
        sampled = self._step(sessions, self.next_input[slots] + texts, slots, positions)
        for session in sessions:
            session.position += 1
        return sampled

    @torch.inference_mode()
    def predict(self, sessions: Sequence[Session]) -> None:
        slots = [session.slot for session in sessions]
        first = self.code0[slots]
        embedded = self.checkpoint.talker.codec_embedding(first)
        draws = _draws([_predictor_draw(session) for session in sessions])
        codes, total = self._predictor(self.hidden[slots], embedded, draws, self._noise(sessions))
        frames = [session.frames for session in sessions]
        self.codes[slots, frames, 0], self.codes[slots, frames, 1:] = first, codes
        self.next_input[slots] = total
        for session in sessions:
            session.frames += 1

    @torch.inference_mode()
    def decode(self, sessions: Sequence[Session], frames: int) -> list[Samples]:
        each = map if self._crew is None or len(sessions) == 1 else self._crew.map
        codes = [self._undecoded(session, frames) for session in sessions]
        slots = [session.slot for session in sessions]
        heard = list(each(partial(self._codec.decode, self.codec_state), slots, codes))
        for session in sessions:
            session.decoded += frames
        return heard

    def _hear_codes(self, row: Tensor, codes: Tensor) -> None:
        self._codec.decode(self.codec_state, int(row), codes.contiguous())

    def _step(
        self,
        sessions: Sequence[Session],
        inputs: Tensor,
        slots: Sequence[int],
        positions: Sequence[int],
    ) -> Sampled:
        noise = self._noise(sessions)[:, 0].tolist()
        draws = _draws([_talker_draw(*pair) for pair in zip(sessions, noise, strict=True)])
        hidden, code0 = self._talker(inputs, slots, positions, self.seen, self.tokens, draws)
        own = [session.slot for session in sessions]
        self.hidden[own], self.code0[own] = hidden, code0
        finite = hidden.isfinite().all(-1).tolist()
        end = self.rules.end
        return Sampled([code == end for code in code0.tolist()], [not each for each in finite])


def _draws(rows: list[Draw]) -> Draws:
    return (Draw * len(rows))(*rows)


def _talker_draw(session: Session, noise: float) -> Draw:
    how = session.sampling
    heat = how.temperature if how.do_sample else 0.0
    return Draw(heat, how.top_p, how.repetition_penalty, noise, how.top_k)


def _predictor_draw(session: Session) -> Draw:
    how = session.sampling
    heat = how.subtalker_temperature if how.subtalker_dosample else 0.0
    return Draw(heat, how.subtalker_top_p, 1.0, 0.0, how.subtalker_top_k)
