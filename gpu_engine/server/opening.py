"""From a client's Start to what the core is told. What a client can get wrong is refused here, by
the name of its field; nothing past this point checks a client again."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

import numpy as np
import torch

from gpu_engine.config import TtsConfig
from gpu_engine.errors import InvalidRequest
from gpu_engine.messages import Extend, PromptIds, SamplingChoice, Submit
from gpu_engine.models.prompt import (
    Layout,
    PromptPlan,
    PromptRequest,
    Reference,
    default_layout,
    plan_prompt,
    takes_instructions,
)
from gpu_engine.models.tokenizer import TextTokenizer
from gpu_engine.proto import engine_pb2 as pb
from gpu_engine.scheduler import RAMPS
from gpu_engine.server.limits import frame_cap, is_speakable
from gpu_engine.server.settings import EngineSettings
from gpu_engine.server.voices import Voices

PROFILES = {
    pb.CHUNK_PROFILE_UNSPECIFIED: "balanced",
    pb.CHUNK_PROFILE_LATENCY: "latency",
    pb.CHUNK_PROFILE_BALANCED: "balanced",
    pb.CHUNK_PROFILE_THROUGHPUT: "throughput",
}
CHARACTERS_PER_TOKEN = 16
LONGEST_NAME = 256
MOST_SHARE = 1000


@dataclass(frozen=True, slots=True)
class Desk:
    """Turns Starts into Submits for one checkpoint. Needs its configs and tokenizer, no weights.
    `word_languages`: what its aligner can tell words in, empty without one."""

    model: str
    config: TtsConfig
    tokenizer: TextTokenizer
    settings: EngineSettings
    voices: Voices
    word_languages: tuple[str, ...] = ()

    def admit(self, start: pb.Start) -> pb.Start:
        """Checks everything but the text, and opens an artifact. Raises EngineError."""
        self.check(start)
        if start.voice.WhichOneof("kind") != "artifact":
            return start
        opened = pb.Start()
        opened.CopyFrom(start)
        opened.voice.CopyFrom(self.voices.opened(start.voice.artifact))
        is_in_context = opened.voice.WhichOneof("kind") == "reference"
        if is_in_context and self.settings.in_context == "reference-first":
            opened.layout = pb.TEXT_LAYOUT_REFERENCE_FIRST
        self._check_voice(opened)
        return opened

    def check(self, start: pb.Start) -> None:
        """Everything but the text and what is in an artifact. Raises InvalidRequest."""
        self.check_model(start.model)
        if max(len(start.request_id), len(start.tenant)) > LONGEST_NAME:
            raise InvalidRequest(f"longer than {LONGEST_NAME} characters", "request_id")
        if start.layout not in pb.TextLayout.values():
            raise InvalidRequest("unknown text layout", "layout")
        if start.profile not in PROFILES:
            raise InvalidRequest("unknown chunk profile", "profile")
        if start.priority not in pb.Priority.values():
            raise InvalidRequest("unknown priority", "priority")
        if not 0 <= start.share <= MOST_SHARE:
            raise InvalidRequest(f"no share from 0 to {MOST_SHARE}", "share")
        if start.max_frames > self.settings.max_positions:
            limit = self.settings.max_positions
            raise InvalidRequest(f"more than {limit} frames", "max_frames")
        self.check_length(start.instructions, "instructions")
        if start.word_times:
            self._check_words(start.language)
        self._check_voice(start)
        self.sampling(start)

    def check_model(self, name: str) -> None:
        if name not in ("", self.model):
            raise InvalidRequest(f"unknown model {name!r}", "model")

    def _check_words(self, language: str) -> None:
        if not self.word_languages:
            problem = "this engine has no aligner: start it with --aligner, or leave word_times out"
            raise InvalidRequest(problem, "word_times")
        if language not in ("", "auto", *self.word_languages):
            told = ", ".join(self.word_languages)
            raise InvalidRequest(f"words can be told in {told}, not in {language}", "word_times")

    def streams_text(self, start: pb.Start) -> bool:
        """True when speech may begin before all text is there. With a reference it waits, unless
        that comes first: the transcript and the text share one alignment to its frames."""
        if start.layout == pb.TEXT_LAYOUT_REFERENCE_FIRST:
            return True
        if start.voice.WhichOneof("kind") == "reference":
            return False
        if start.layout == pb.TEXT_LAYOUT_UNSPECIFIED:
            return default_layout(self.config) == "streaming"
        return start.layout == pb.TEXT_LAYOUT_STREAMING

    def check_length(self, text: str, field: str) -> None:
        """Refuses by characters what is sure to have too many tokens, before it costs time."""
        most = self.settings.max_text_tokens * CHARACTERS_PER_TOKEN
        if len(text) > most:
            raise InvalidRequest(f"longer than {most} characters", field)

    def submit(self, stream: int, start: pb.Start, text: str, done: bool) -> Submit:
        """Raises InvalidRequest naming the field. `text` is all of it, or its safe beginning."""
        self.check_length(text, "text")
        if not is_speakable(text):
            raise InvalidRequest("the text has nothing that can be spoken", "text")
        plan = plan_prompt(self.config, self.tokenizer, self._request(start, text))
        self._check_tokens(plan.text_tokens, "text")
        if start.instructions:
            self._check_tokens(plan.prefix_length, "instructions")
        embedding, codes = _voice_bytes(start.voice)
        return Submit(
            stream=stream,
            prompt=_prompt_ids(plan, done),
            text_done=done,
            embedding=embedding,
            reference_codes=codes,
            sampling=self.sampling(start),
            seed=start.seed if start.HasField("seed") else secrets.randbits(63),
            frame_cap=self._cap(start, text, plan),
            ramp=RAMPS[PROFILES[start.profile]],
            paced=start.profile != pb.CHUNK_PROFILE_THROUGHPUT,
            trim_silence=not start.keep_silence,
            tenant=start.tenant,
            background=start.priority == pb.PRIORITY_BACKGROUND,
            word_times=start.word_times,
            text=text if start.word_times else "",
            share=start.share or 1.0,
            artifact=self.voices.artifact_of(start.voice),
        )

    def extend(
        self, submit: Submit, start: pb.Start, text: str, piece: str, done: bool, tokens: int = 0
    ) -> Extend:
        """The next `piece` of a growing text, of which `text` is all so far, piece included, and
        `tokens` were sent before. Raises InvalidRequest when there are too many."""
        ids = self.tokenizer.encode(piece)
        self._check_tokens(tokens + len(ids), "text")
        end = (self.config.text_ids.tts_eos,) if done else ()
        room = self.settings.max_positions - len(submit.prompt.text_ids) - 1
        cap = min(start.max_frames or frame_cap(text), room)
        heard = piece if start.word_times else ""
        return Extend(submit.stream, (*ids, *end), len(ids), done, cap, heard)

    def sampling(self, start: pb.Start) -> SamplingChoice:
        """The request's sampling over the checkpoint's defaults. Raises InvalidRequest."""
        asked, usual = start.sampling, self.config.sampling
        default_heat = usual.temperature if usual.do_sample else 0.0
        choice = SamplingChoice(
            asked.temperature if asked.HasField("temperature") else default_heat,
            asked.top_k if asked.HasField("top_k") else usual.top_k,
            asked.top_p if asked.HasField("top_p") else usual.top_p,
            asked.repetition_penalty
            if asked.HasField("repetition_penalty")
            else usual.repetition_penalty,
        )
        _in_range("temperature", choice.temperature, 0.0, 2.0)
        _in_range("top_k", choice.top_k, 0, self.config.talker.vocab_size)
        _in_range("top_p", choice.top_p, 1e-3, 1.0)
        _in_range("repetition_penalty", choice.repetition_penalty, 0.5, 2.0)
        return choice

    def _check_voice(self, start: pb.Start) -> None:
        self.voices.check(start.voice)
        if start.instructions and not takes_instructions(self.config):
            message = "this model follows no instructions: leave them out"
            raise InvalidRequest(message, "instructions")
        if start.voice.WhichOneof("kind") == "reference":
            self.check_length(start.voice.reference.text, "voice")

    def _request(self, start: pb.Start, text: str) -> PromptRequest:
        voice = start.voice
        kind = voice.WhichOneof("kind")
        cloned = kind in ("embedding", "reference")
        return PromptRequest(
            text=text,
            language=start.language or "auto",
            speaker=voice.preset,
            embedding=torch.tensor(list(_embedding(voice).values)) if cloned else None,
            reference=self._reference(voice.reference) if kind == "reference" else None,
            instructions=start.instructions,
            layout=_LAYOUTS[start.layout],
        )

    def _reference(self, reference: pb.Reference) -> Reference:
        groups = self.config.talker.num_code_groups
        codes = np.frombuffer(reference.codes, "<u2").astype(np.int64).reshape(-1, groups)
        return Reference(reference.text, torch.from_numpy(codes))

    def _check_tokens(self, tokens: int, field: str) -> None:
        most = self.settings.max_text_tokens
        if tokens > most:
            raise InvalidRequest(f"{tokens} tokens, at most {most} are taken", field)

    def _cap(self, start: pb.Start, text: str, plan: PromptPlan) -> int:
        room = self.settings.max_positions - len(plan.text_ids) - 1
        if room < 1:
            raise InvalidRequest("the text and its voice are too long together", "text")
        return min(start.max_frames or frame_cap(text), room)


_LAYOUTS: dict[pb.TextLayout, Layout | None] = {
    pb.TEXT_LAYOUT_UNSPECIFIED: None,
    pb.TEXT_LAYOUT_FULL: "full",
    pb.TEXT_LAYOUT_STREAMING: "streaming",
    pb.TEXT_LAYOUT_REFERENCE_FIRST: "reference_first",
}


def _in_range(field: str, value: float, low: float, high: float) -> None:
    if not low <= value <= high:
        raise InvalidRequest(f"{field} must lie between {low} and {high}", f"sampling.{field}")


def _embedding(voice: pb.Voice) -> pb.SpeakerEmbedding:
    if voice.WhichOneof("kind") == "reference":
        return voice.reference.embedding
    return voice.embedding


def _voice_bytes(voice: pb.Voice) -> tuple[bytes, bytes]:
    values = np.array(_embedding(voice).values, "<f4")
    return values.tobytes(), voice.reference.codes


def _prompt_ids(plan: PromptPlan, done: bool) -> PromptIds:
    """An open text's trailing ids end before the end-of-text id: that comes with the last piece."""
    return PromptIds(
        text_ids=plan.text_ids,
        codec_ids=plan.codec_ids,
        trailing=plan.trailing if done else plan.trailing[:-1],
        pad_id=plan.pad_id,
        text_tokens=plan.text_tokens,
        prefix_length=plan.prefix_length,
        vector_at=plan.vector_at,
        frames_at=plan.frames_at,
        reference_frames=plan.reference_frames,
    )
