"""EncodeVoice: what a client can get wrong about a clip, and the artifact that is made of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpu_engine.config import SAMPLE_RATE
from gpu_engine.errors import EngineError, InvalidRequest
from gpu_engine.proto import engine_pb2 as pb
from gpu_engine.server.artifact import Voice
from gpu_engine.server.limits import is_speakable
from gpu_engine.server.link import Link
from gpu_engine.server.opening import Desk

SHORTEST_CLIP_S, LONGEST_CLIP_S = 1, 30


@dataclass(frozen=True, slots=True)
class VoiceMaker:
    """For one checkpoint. `can_encode_reference`: it has the codec's encoder."""

    desk: Desk
    can_encode_reference: bool

    async def make(self, request: pb.EncodeVoiceRequest, link: Link) -> pb.EncodeVoiceResponse:
        """Raises EngineError; the clip waits for moments that no stream needs."""
        self._check(request)
        fingerprint = self.desk.voices.fingerprint
        if request.HasField("embedding"):
            values = np.array(request.embedding.values, "<f4")
            return self._answer(Voice(fingerprint, values.tobytes()))
        made = await link.encode(request.pcm, with_codes=bool(request.text))
        if not np.isfinite(np.frombuffer(made.embedding, "<f4")).all():
            raise EngineError("internal", "the voice could not be encoded")
        return self._answer(Voice(fingerprint, made.embedding, made.codes, request.text))

    def _answer(self, voice: Voice) -> pb.EncodeVoiceResponse:
        artifact, number = self.desk.voices.seal.close(voice)
        values = np.frombuffer(voice.embedding, "<f4").tolist()
        return pb.EncodeVoiceResponse(
            embedding=pb.SpeakerEmbedding(values=values),
            codes=voice.codes,
            artifact=artifact,
            id=number,
            fingerprint=voice.fingerprint,
        )

    def _check(self, request: pb.EncodeVoiceRequest) -> None:
        desk = self.desk
        desk.check_model(request.model)
        desk.voices.check_kind("embedding", "model")
        if request.HasField("embedding"):
            if request.pcm or request.text:
                raise InvalidRequest("an embedding comes without a clip and a text", "embedding")
            desk.voices.check_embedding(request.embedding, "embedding")
            return
        _check_clip(request.pcm)
        if request.text:
            self._check_text(request.text)

    def _check_text(self, text: str) -> None:
        if not self.can_encode_reference:
            problem = "the checkpoint has no codec encoder: leave the text out, clone by x-vector"
            raise InvalidRequest(problem, "text")
        self.desk.check_length(text, "text")
        if not is_speakable(text):
            raise InvalidRequest("the text has nothing that can be spoken", "text")


def _check_clip(pcm: bytes) -> None:
    if len(pcm) % 4:
        raise InvalidRequest("the clip is not float32 samples", "pcm")
    samples = np.frombuffer(pcm, "<f4")
    if not SHORTEST_CLIP_S <= len(samples) / SAMPLE_RATE <= LONGEST_CLIP_S:
        limits = f"{SHORTEST_CLIP_S} to {LONGEST_CLIP_S} s"
        raise InvalidRequest(f"a clip is {limits} long", "pcm")
    if not np.isfinite(samples).all() or not samples.any():
        raise InvalidRequest("the clip is silent or has samples that are not numbers", "pcm")
