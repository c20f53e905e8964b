"""Whose voice a stream speaks in: what a client can get wrong about it, and what is in an
artifact."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpu_engine.config import ModelKind, TtsConfig
from gpu_engine.errors import EngineError, InvalidRequest
from gpu_engine.proto import engine_pb2 as pb
from gpu_engine.server.artifact import Seal, Voice, identity

MOST_REFERENCE_FRAMES = 750  # a minute
# Norms square values and add them up: in float32 that stays a number, with room for any encoder's.
MOST_VALUE = 1e12
# What each kind of voice is called, and the kind of checkpoint that it needs.
NEEDED: dict[str, tuple[str, ModelKind]] = {
    "preset": ("a preset", "custom_voice"),
    "embedding": ("a clone", "base"),
    "reference": ("a clone", "base"),
    "artifact": ("a clone", "base"),
    "described": ("a described voice", "voice_design"),
}


@dataclass(frozen=True, slots=True)
class Voices:
    """Those of one checkpoint."""

    model: str
    config: TtsConfig
    fingerprint: str
    seal: Seal

    def check(self, voice: pb.Voice) -> None:
        """Raises InvalidRequest on `voice`."""
        kind = voice.WhichOneof("kind")
        if kind is None:
            raise InvalidRequest("no voice is given", "voice")
        self.check_kind(kind, "voice")
        if kind == "embedding":
            self.check_embedding(voice.embedding, "voice")
        if kind == "reference":
            self.check_embedding(voice.reference.embedding, "voice")
            self._check_codes(voice.reference.codes)

    def check_kind(self, kind: str, field: str) -> None:
        """Whether the checkpoint speaks such voices. Raises InvalidRequest on `field`."""
        name, needed = NEEDED[kind]
        if needed != self.config.kind:
            problem = f"{name} needs a {needed} model, and {self.model} is {self.config.kind}"
            raise InvalidRequest(problem, field)

    def opened(self, artifact: pb.Artifact) -> pb.Voice:
        """The clone that is in it. Raises EngineError."""
        content = self.seal.open(artifact.data)
        if content.fingerprint != self.fingerprint:
            message = f"the voice was made for another model than {self.model}: make it again"
            raise EngineError("voice_outdated", message, field="voice")
        embedding = pb.SpeakerEmbedding(values=np.frombuffer(content.embedding, "<f4").tolist())
        if artifact.embedding_only or not content.codes:
            return pb.Voice(embedding=embedding)
        reference = pb.Reference(embedding=embedding, codes=content.codes, text=content.text)
        return pb.Voice(reference=reference)

    def artifact_of(self, voice: pb.Voice) -> bytes:
        """The id of the artifact that holds this clone; empty for what is none."""
        reference = voice.reference
        match voice.WhichOneof("kind"):
            case "embedding":
                values, codes, text = voice.embedding.values, b"", ""
            case "reference":
                values, codes, text = reference.embedding.values, reference.codes, reference.text
            case _:
                return b""
        return identity(Voice(self.fingerprint, np.array(values, "<f4").tobytes(), codes, text))

    def check_embedding(self, embedding: pb.SpeakerEmbedding, field: str) -> None:
        """Raises InvalidRequest on `field`."""
        values, width = embedding.values, self.config.talker.hidden_size
        if len(values) != width:
            raise InvalidRequest(
                f"a speaker embedding has {width} values, not {len(values)}", field
            )
        if not all(abs(value) <= MOST_VALUE for value in values):
            problem = f"a speaker embedding has values from -{MOST_VALUE:g} to {MOST_VALUE:g}"
            raise InvalidRequest(problem, field)

    def _check_codes(self, raw: bytes) -> None:
        groups = self.config.talker.num_code_groups
        if not raw or len(raw) % (2 * groups):
            raise InvalidRequest(f"reference codes are uint16 [frames, {groups}]", "voice")
        if len(raw) > 2 * groups * MOST_REFERENCE_FRAMES:
            raise InvalidRequest("the reference is longer than a minute", "voice")
        limit = self.config.talker.code_predictor_config.vocab_size
        if int(np.frombuffer(raw, "<u2").max()) >= limit:
            raise InvalidRequest(f"reference codes are below {limit}", "voice")
