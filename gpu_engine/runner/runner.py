"""What touches the device: each scheduler job as one batched call over the streams' slots."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor

from gpu_engine.audio.level import Samples
from gpu_engine.config import SamplingConfig
from gpu_engine.models.checkpoint import Checkpoint
from gpu_engine.models.codec.state import CodecState
from gpu_engine.models.sampling import RowSampling, SpeechRules, choose_seeded, talker_scores
from gpu_engine.runner.cache import Kept, beginning_key
from gpu_engine.runner.kv_cache import KvCache, PrefillAttend, StepAttend
from gpu_engine.runner.memory import Footprint, tensors_of
from gpu_engine.runner.parts import Part, Reading, cut, packed
from gpu_engine.runner.session import Session

# Each of three caches.
CACHE_BYTES = 256 << 20
# A part of a new reference takes a few milliseconds of a small model on one core: no more than a
# playing stream can spare.
HEAR_FRAMES, READ_POSITIONS = 2, 128


@dataclass(frozen=True, slots=True)
class Sampled:
    """The outcome of a Talker job a row: the Talker said stop, or its numbers are not finite."""

    stopped: list[bool]
    broken: list[bool]


NOTHING_DRAWN = Sampled([False], [False])


class Runner:
    """Owns the device state of `slots` streams: KV, codec state, sampling state, codes."""

    def __init__(
        self,
        checkpoint: Checkpoint,
        slots: int,
        max_positions: int,
        cache_bytes: int = CACHE_BYTES,
    ) -> None:
        talker = checkpoint.talker
        config, device = talker.config, talker.device
        like = talker.codec_head.weight
        self.checkpoint, self.device, self.slots = checkpoint, device, slots
        self.groups = config.num_code_groups
        self.kv = KvCache(config, slots, max_positions, like)
        self.codec_state = checkpoint.codec_decoder.initial_state(slots, device)
        self.rules = SpeechRules.of(config, device)
        self.kept = Kept(cache_bytes)
        self.hidden = like.new_zeros(slots, config.hidden_size)
        self.next_input = like.new_zeros(slots, config.hidden_size)
        self.code0 = torch.zeros(slots, dtype=torch.int64, device=device)
        self.tokens = torch.zeros(slots, dtype=torch.int64, device=device)
        self.seen = torch.zeros(slots, config.vocab_size, dtype=torch.bool, device=device)
        shape = (slots, max_positions, self.groups)
        self.codes = torch.zeros(shape, dtype=torch.int64, device=device)
        # One row takes the matrix-vector kernels, whose sums round differently. Two rows cost no
        # more, take the kernels that larger batches take, and so keep a stream's codes its own.
        self.least_rows = 2 if device.type == "cpu" else 1

    @property
    def footprint(self) -> Footprint:
        own = self.hidden, self.next_input, self.code0, self.tokens, self.seen, self.codes
        return Footprint(
            weights=tensors_of(self.checkpoint, *self._packed()),
            kv=(self.kv.keys, self.kv.values),
            state=tensors_of(self.codec_state, own),
        )

    def _packed(self) -> tuple[object, ...]:
        """Copies of weights beside the checkpoint's own."""
        return ()

    @torch.inference_mode()
    def open(self, session: Session, slot: int) -> int:
        """Places the prompt in a slot and recalls what is kept of it. How often `read` is to be
        called; with nothing left to read the first step is `talk`."""
        row = torch.tensor([slot], device=self.device)
        prompt = self.kept.embed(self.checkpoint.talker, session)
        session.slot, session.inputs = slot, prompt.inputs
        session.trailing, session.pad = prompt.trailing, prompt.tts_pad
        self.codec_state.reset(row)
        self.tokens[row], self.seen[row] = 0, False
        session.parts = deque(packed(self._parts(session)))
        if self._unread(session) == 1:
            self.next_input[slot] = prompt.inputs[-1]
            session.position = session.plan.prefix_length
        return len(session.parts)

    @torch.inference_mode()
    def read(self, session: Session) -> Sampled:
        """The next parts of the prompt; the last ones draw the first code 0."""
        done = NOTHING_DRAWN
        for part in session.parts.popleft() if session.parts else ():
            if part.reading is Reading.HEAR:
                self._hear(session, part)
            else:
                done = self._read_part(session, part)
        if not session.parts and self._unread(session) == 1:
            done = self.talk([session])
        return done

    def prefill(self, session: Session, slot: int) -> Sampled:
        """Reads the whole prompt into `slot` and draws the first code 0."""
        if not self.open(session, slot):
            return self.talk([session])
        while len(session.parts) > 1:
            self.read(session)
        return self.read(session)

    def _parts(self, session: Session) -> Iterator[Part]:
        """What is kept is recalled here, and needs no part."""
        plan = session.plan
        if session.codes is not None and not self._recall_reference(session):
            yield from cut(Reading.HEAR, 0, len(session.codes), HEAR_FRAMES)
        if not self._recall_beginning(session):
            yield from cut(Reading.BEGIN, 0, plan.prefix_length, READ_POSITIONS)
        if self._unread(session) > 1:
            end = len(plan.text_ids)
            yield from cut(Reading.REST, plan.prefix_length, end, READ_POSITIONS)

    def _hear(self, session: Session, part: Part) -> None:
        """A clone in context goes on where its reference's audio ends."""
        assert session.codes is not None, "only a reference is heard"
        row = torch.tensor([session.slot], device=self.device)
        self._hear_codes(row, session.codes[part.start : part.end])
        if part.last:
            state = self.codec_state.select(row)
            self.kept.references.put(session.voice, (state.position, *state.memory))

    def _read_part(self, session: Session, part: Part) -> Sampled:
        """A beginning is read by itself, kept or not: a stream's numbers are the same to the last
        bit. What is drawn behind any part but the prompt's last counts for nothing."""
        row = torch.tensor([session.slot], device=self.device)
        session.position, inputs = part.end, session.prompt_inputs()
        drawn = self._read(session, row, inputs[part.start : part.end], part.start)
        if part.end < len(inputs):
            self.tokens[row], self.seen[row] = 0, False
        if part.reading is Reading.BEGIN and part.last:
            self._keep_beginning(session)
        return drawn

    def _keep_beginning(self, session: Session) -> None:
        slot, end = session.slot, session.plan.prefix_length
        read = self.kv.keys[:, slot, :, :end], self.kv.values[:, slot, :, :end]
        self.kept.beginnings.put(beginning_key(session), [each.clone() for each in read])

    def _recall_reference(self, session: Session) -> bool:
        heard = self.kept.references.find(session.voice)
        if heard is not None:
            row = torch.tensor([session.slot], device=self.device)
            self.codec_state.store(row, CodecState(heard[0], heard[1:]))
        return heard is not None

    def _recall_beginning(self, session: Session) -> bool:
        read = self.kept.beginnings.find(beginning_key(session))
        if read is not None:
            slot, end = session.slot, session.plan.prefix_length
            self.kv.keys[:, slot, :, :end], self.kv.values[:, slot, :, :end] = read
        return read is not None

    def _read(self, session: Session, row: Tensor, inputs: Tensor, start: int) -> Sampled:
        """Positions [n, H] of a prompt into its slot, behind the `start` that are there."""
        positions = torch.arange(start, start + len(inputs), device=self.device)[None]
        attend = PrefillAttend(self.kv, session.slot, start)
        hidden = self.checkpoint.talker(inputs[None], positions, attend)[:, -1]
        return self._sample([session], row, hidden)

    @torch.inference_mode()
    def talk(self, sessions: Sequence[Session]) -> Sampled:
        """One Talker step a row: the newest frame and its text in, the next code 0 out."""
        rows, slots = self._rows(sessions)
        texts = torch.stack([self._text(session) for session in rows])
        positions = [session.position for session in rows]
        attend = StepAttend(self.kv, [session.slot for session in rows], positions)
        inputs = (self.next_input[slots] + texts)[:, None]
        places = torch.tensor(positions, device=self.device)[:, None]
        hidden = self.checkpoint.talker(inputs, places, attend)[:, 0]
        for session in sessions:
            session.position += 1
        return self._sample(rows, slots, hidden)

    @torch.inference_mode()
    def predict(self, sessions: Sequence[Session]) -> None:
        """The other codes of each row's frame, and the next Talker input they add up to."""
        talker = self.checkpoint.talker
        rows, slots = self._rows(sessions)
        noise, settings = self._noise(rows), _predictor_settings(_settings(rows), self.device)

        def choose(group: int, logits: Tensor) -> Tensor:
            return choose_seeded(logits, settings, noise[:, group])

        first = self.code0[slots]
        embedded = talker.codec_embedding(first)
        rest = talker.code_predictor.frame(self.hidden[slots], embedded, choose)
        frames = torch.tensor([session.frames for session in rows], device=self.device)
        self.codes[slots, frames] = torch.cat([first[:, None], rest], 1)
        self.next_input[slots] = embedded + talker.code_predictor.embed_codes(rest)
        for session in sessions:
            session.frames += 1

    @torch.inference_mode()
    def decode(self, sessions: Sequence[Session], frames: int) -> list[Samples]:
        """The next `frames` frames of each row as audio, silence included."""
        slots = torch.tensor([session.slot for session in sessions], device=self.device)
        codes = torch.stack([self._undecoded(session, frames) for session in sessions])
        state = self.codec_state.select(slots)
        audio, state = self.checkpoint.codec_decoder.step(codes.transpose(1, 2), state)
        self.codec_state.store(slots, state)
        for session in sessions:
            session.decoded += frames
        return list(audio.cpu().numpy())

    def settle(self) -> None:
        """Waits for the device, so that the time around a job is the job's own."""
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)

    def spoken_codes(self, session: Session) -> Tensor:
        """A copy of all codes so far, [frames, groups]; valid while the session has its slot."""
        return self.codes[session.slot, : session.frames].clone()

    @staticmethod
    def _unread(session: Session) -> int:
        """Positions of the prompt behind its cacheable beginning."""
        return len(session.plan.text_ids) - session.plan.prefix_length

    def _hear_codes(self, row: Tensor, codes: Tensor) -> None:
        """Decodes frames of a reference into a slot's codec state."""
        state = self.codec_state.select(row)
        heard = codes.to(self.device).T[None]
        self.codec_state.store(row, self.checkpoint.codec_decoder.step(heard, state)[1])

    def _rows(self, sessions: Sequence[Session]) -> tuple[list[Session], Tensor]:
        """The batch, padded with its last row where the device asks for it, and its slots."""
        rows = list(sessions)
        rows += rows[-1:] * (self.least_rows - len(rows))
        return rows, torch.tensor([session.slot for session in rows], device=self.device)

    def _text(self, session: Session) -> Tensor:
        if session.unembedded:
            ids = torch.tensor(session.unembedded, device=self.device)
            grown = [session.trailing, self.checkpoint.talker.embed_text(ids)]
            session.trailing = torch.cat([part for part in grown if part is not None])
            session.unembedded = []
        return session.text_vector()

    def _sample(self, rows: Sequence[Session], slots: Tensor, hidden: Tensor) -> Sampled:
        settings = _talker_settings(_settings(rows), self.device)
        scores = talker_scores(
            self.checkpoint.talker.logits(hidden),
            self.seen[slots],
            self.tokens[slots],
            settings.repetition_penalty,
            self.rules,
        )
        code0 = choose_seeded(scores, settings, self._noise(rows)[:, 0])
        self.hidden[slots], self.code0[slots] = hidden, code0
        self.seen[slots, code0] = True
        self.tokens[slots] += 1
        # One transfer for both answers.
        finite = hidden.isfinite().all(-1)
        answers = torch.stack([code0 == self.rules.end, ~finite]).tolist()
        return Sampled(*answers)

    def _noise(self, rows: Sequence[Session]) -> Tensor:
        return torch.stack([session.noise(self.groups, self.device) for session in rows])

    def _undecoded(self, session: Session, frames: int) -> Tensor:
        return self.codes[session.slot, session.decoded : session.decoded + frames]


def _settings(rows: Sequence[Session]) -> tuple[SamplingConfig, ...]:
    return tuple(session.sampling for session in rows)


# Batches of one mix of settings come again every few milliseconds; their tensors are kept.
@lru_cache(maxsize=256)
def _talker_settings(rows: tuple[SamplingConfig, ...], device: torch.device) -> RowSampling:
    return RowSampling.of(list(rows), device)


@lru_cache(maxsize=256)
def _predictor_settings(rows: tuple[SamplingConfig, ...], device: torch.device) -> RowSampling:
    return RowSampling.of_predictor(list(rows), device)
