"""The `Device` of a GPU: every job a replayed graph over slot numbers, answers collected later."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import structlog
import torch
from torch import Tensor

from gpu_engine.config import SamplingConfig
from gpu_engine.kernels.ops import Ops, make_ops
from gpu_engine.kernels.slots import arena_for, opening
from gpu_engine.kernels.weights import StackWeights
from gpu_engine.models.checkpoint import Checkpoint
from gpu_engine.runner.cache import Kept, beginning_key
from gpu_engine.runner.device.decoding import Decoding
from gpu_engine.runner.device.frame import FrameStep, FrameWeights
from gpu_engine.runner.device.lanes import Lane, Pending, Reader, Replay, outcome
from gpu_engine.runner.device.plan import Plan
from gpu_engine.runner.device.prefill import LENGTHS, PrefillStep
from gpu_engine.runner.device.prompts import PromptGraphs
from gpu_engine.runner.device.talker import TalkerStep
from gpu_engine.runner.memory import Footprint, distinct, held_for_tensors, nbytes, tensors_of
from gpu_engine.runner.protocol import Outcome, Shapes, Slots
from gpu_engine.runner.session import Session
from gpu_engine.runner.voice import VoiceEncoding

log = structlog.get_logger()

# Of a clip: layers take it whole, convolutions over samples ten seconds at once.
PIECE_S = 10.0
NOBODY, BROKEN = np.zeros(0, np.int64), np.ones(1, np.bool_)


@dataclass(slots=True)
class Unheard:
    """Of a reference that is new: its voice, and the frames [n, groups] of each hearing to come."""

    voice: bytes
    parts: deque[Tensor]


class GraphDevice:
    """Talker and predictor on one lane, the codec on another beside it. Graphs are captured when it
    is made; a batch is padded with the scratch slot to the next captured size."""

    @torch.inference_mode()
    def __init__(self, checkpoint: Checkpoint, plan: Plan) -> None:
        talker = checkpoint.talker
        self.checkpoint, self.plan, self.device = checkpoint, plan, talker.device
        before = held_for_tensors(self.device)
        self.arena = arena_for(
            talker.config, plan.slots, plan.positions, plan.texts, talker.codec_head.weight
        )
        most = max(*plan.step_rows, *plan.codec_rows)
        self.main = Lane(self.device, most, self.arena.scratch)
        self.decoding = Decoding(checkpoint.codec_decoder, self.arena, plan, most)
        self.kept = Kept(plan.cache_bytes)
        self._unheard: dict[int, Unheard] = {}
        self._prompts: dict[int, Tensor] = {}
        self._texts: dict[int, int] = {}
        self._told = self.main.ring((2, most), torch.bool)
        self._answer = torch.zeros(2, most, dtype=torch.bool, device=self.device)
        self._embed = PromptGraphs(talker, self.main)
        self._opening = [
            part.to(self.device) for part in opening(self.arena.scratch, 0, SamplingConfig())
        ]
        self._open_slot = self.main.capture(lambda: self.arena.begin(*self._opening))
        self._weights = FrameWeights(talker, plan.fp8)
        self._stack: StackWeights | None = None
        self._talk = {rows: self._talker_graph(rows) for rows in plan.step_rows}
        self._predict = {rows: self._frame_graph(rows) for rows in plan.step_rows}
        steps = self._talker_step(LENGTHS[-1])
        lengths = [n for n in LENGTHS if n < plan.positions] + [plan.positions]
        self._prefill = [self._prefill_graph(steps, length) for length in lengths]
        self._footprint = self._measure(held_for_tensors(self.device) - before)

    def _measure(self, grown: int) -> Footprint:
        """`grown`: bytes since the checkpoint was there. What no tensor of ours accounts for is of
        graphs and their workspaces."""
        arena, decoding = self.arena, self.decoding
        kv = arena.keys, arena.values
        own = [each for each in tensors_of(arena) if not any(each is other for other in kv)]
        state = distinct([*own, *decoding.state])
        weights = tensors_of(self.checkpoint, self._stack, self._weights, decoding.weights)
        made = nbytes(weights) - nbytes(tensors_of(self.checkpoint)) + nbytes([*kv, *state])
        return Footprint(weights, kv, state, max(0, grown - made))

    def _ops(self, rows: int) -> Ops:
        return make_ops(self.plan.variant_of(rows))

    def _talker_step(self, rows: int) -> TalkerStep:
        talker, fp8 = self.checkpoint.talker, self.plan.fp8
        step = TalkerStep(talker, self.arena, self._ops(rows), fp8, self._stack)
        self._stack = step.stack
        return step

    def _talker_graph(self, rows: int) -> Replay:
        step = self._talker_step(rows)

        def run() -> None:
            self._answer[:, :rows] = step(self.main.slots[:rows])

        return self.main.capture(run)

    def _frame_graph(self, rows: int) -> Replay:
        form: type[FrameStep] = FrameStep
        if self.plan.folds(rows):
            from gpu_engine.runner.device.folded import FoldedFrame

            form = FoldedFrame
        frame = form(self._weights, self.arena, self._ops(rows), rows)
        return self.main.capture(lambda: frame(self.main.slots[:rows]))

    def _prefill_graph(self, talk: TalkerStep, length: int) -> tuple[PrefillStep, Replay]:
        step = PrefillStep(talk, length)

        def run() -> None:
            self._answer[:, :1] = step()

        return step, self.main.capture(run)

    # ---- the protocol

    @property
    def shapes(self) -> Shapes:
        plan, gpu = self.plan, self.device.type == "cuda"
        return Shapes(
            slots=plan.slots,
            positions=plan.slots * plan.positions,
            longest=plan.positions,
            page=plan.positions,
            step_rows=plan.step_rows,
            codec_rows=plan.codec_rows,
            codec_frames=plan.codec_frames,
            overlapped=gpu,
            lanes=2 if gpu else 1,
        )

    @property
    def footprint(self) -> Footprint:
        return self._footprint

    @torch.inference_mode()
    def open(self, slot: int, session: Session) -> int:
        plan = session.plan
        with self.main.here():
            prompt = self.kept.embed(self.checkpoint.talker, session, self._embed)
            self._open(slot, session)
            self._write_text(slot, 0, prompt.trailing, prompt.tts_pad)
            begun = plan.prefix_length == len(prompt.inputs) - 1
            if begun:
                self._recall(slot, session, prompt.inputs)
            else:
                self._prompts[slot] = prompt.inputs
        hearings = self._open_codec(slot, session)
        # What draws the first code comes last.
        return hearings + 1 if hearings or not begun else 0

    def _open(self, slot: int, session: Session) -> None:
        """Two copies and a graph: one by one, its writes take the host a millisecond."""
        for kept, new in zip(
            self._opening, opening(slot, session.seed, session.sampling), strict=True
        ):
            self.main.put(kept, new)
        self._open_slot()

    def _open_codec(self, slot: int, session: Session) -> int:
        """How often it has to hear of the reference."""
        codes, heard = session.codes, None
        if codes is not None:
            heard = self.kept.references.find(session.voice)
        self.decoding.open(slot, heard)
        if codes is None or heard is not None:
            return 0
        parts = deque(torch.split(codes, self.decoding.most_heard))
        self._unheard[slot] = Unheard(session.voice, parts)
        return len(parts)

    def _write_text(self, slot: int, at: int, vectors: Tensor, pad: Tensor) -> None:
        """Vectors from place `at` on, and what comes after all of them."""
        room = self.arena.text.shape[1]
        end = at + len(vectors)
        assert end < room, f"the front bounds a text to {room - 1} tokens"
        self.arena.text[slot, at:end] = vectors
        self.arena.text[slot, end] = pad
        self.arena.texts[slot] = end + 1
        self._texts[slot] = end

    def _recall(self, slot: int, session: Session, inputs: Tensor) -> None:
        """The prompt but for its last position, which the first Talker step reads."""
        length = len(inputs) - 1
        kept, key = self.kept.beginnings, beginning_key(session)
        read = kept.find(key) or kept.put(key, self._read_prefix(slot, inputs[:-1]))
        self.arena.keys[:, slot, :, :length], self.arena.values[:, slot, :, :length] = read
        self.arena.position[slot] = length
        self.arena.next_input[slot] = inputs[-1]

    def _read_prefix(self, slot: int, inputs: Tensor) -> tuple[Tensor, Tensor]:
        """By a prefill whose draw is undone: the slot is opened for it."""
        step, replay = self._prefill_of(len(inputs))
        step.fill(inputs, slot)
        replay()
        self.arena.seen[slot] = False
        self.arena.tokens[slot] = 0
        cut = slice(None), slot, slice(None), slice(len(inputs))
        return self.arena.keys[cut].clone(), self.arena.values[cut].clone()

    def _prefill_of(self, length: int) -> tuple[PrefillStep, Replay]:
        return next(pair for pair in self._prefill if pair[0].length >= length)

    @torch.inference_mode()
    def extend(self, slot: int, text_ids: Sequence[int]) -> None:
        with self.main.here():
            ids = torch.tensor([*text_ids, self._pad], device=self.device)
            vectors = self.checkpoint.talker.embed_text(ids)
            self._write_text(slot, self._texts[slot], vectors[:-1], vectors[-1])

    @property
    def _pad(self) -> int:
        return self.checkpoint.config.text_ids.tts_pad

    def close(self, slot: int) -> None:
        self._prompts.pop(slot, None)
        self._unheard.pop(slot, None)

    @torch.inference_mode()
    def prefill(self, slots: Slots) -> Pending:
        """One row: `Shapes.prefill_rows` names no more."""
        (slot,) = slots.tolist()
        if slot in self._unheard:
            return self._hear(slot)
        if slot not in self._prompts:
            return self.talk(slots)
        inputs = self._prompts[slot]
        step, replay = self._prefill_of(len(inputs))
        with self.main.here():
            step.fill(inputs, slot)
        return self.main.launch(slots, 1, replay, partial(self._read_told, 1))

    def _hear(self, slot: int) -> Pending:
        unheard = self._unheard[slot]
        hearing = self.decoding.hear(slot, unheard.parts.popleft(), self.main)
        if not unheard.parts:
            self.kept.references.put(unheard.voice, self.decoding.heard(slot))
            del self._unheard[slot]
        return hearing

    @torch.inference_mode()
    def talk(self, slots: Slots) -> Pending:
        padded = _next(self.plan.step_rows, len(slots))
        read = partial(self._read_told, len(slots))
        return self.main.launch(slots, padded, self._talk[padded], read)

    @torch.inference_mode()
    def predict(self, slots: Slots) -> Pending:
        padded, rows = _next(self.plan.step_rows, len(slots)), len(slots)
        job = self.main.launch(
            slots, padded, self._predict[padded], lambda _: partial(outcome, rows)
        )
        self.decoding.framed(slots, job)
        return job

    @torch.inference_mode()
    def decode(self, slots: Slots, frames: int) -> Pending:
        return self.decoding.launch(slots, frames)

    def begin_voice(self, pcm: bytes, with_codes: bool) -> VoiceEncoding:
        return VoiceEncoding(self.checkpoint, pcm, with_codes, PIECE_S)

    @torch.inference_mode()
    def encode(self, encoding: VoiceEncoding) -> Pending:
        try:
            return self.main.launch(NOBODY, 0, encoding.advance, lambda _: partial(_made, encoding))
        except (RuntimeError, ValueError):
            log.exception("voice encoding failed")
            return Pending(lambda seconds: Outcome(seconds, BROKEN, BROKEN))

    def spoken_codes(self, slot: int, frames: int) -> Tensor:
        with self.main.here():
            return self.arena.codes[slot, :frames].clone()

    def _read_told(self, rows: int, turn: int) -> Reader:
        told = self._told[turn]
        told.copy_(self._answer, non_blocking=True)
        return lambda seconds: outcome(rows, seconds, told)


def _made(encoding: VoiceEncoding, seconds: float) -> Outcome:
    voice = encoding.voice() if encoding.finished else None
    return Outcome(seconds, ~BROKEN, ~BROKEN, voice=voice)


def _next(sizes: tuple[int, ...], rows: int) -> int:
    return next(size for size in sizes if size >= rows)
