"""Voices made by the engine: a recording, or a ready embedding, as one artifact to keep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import grpc

from gpu_engine.proto import engine_pb2
from ttsapp.engine import errors
from ttsapp.engine.client import client
from ttsapp.errors import ApiError

# Background work: behind every stream, and behind the clips that came before.
ENCODE_SECONDS = 60.0
_BYTES_OF_A_FRAME = 16 * 2


@dataclass(frozen=True, slots=True)
class EncodedVoice:
    """`artifact` is kept as it is under `id`, for the model of that `fingerprint`. `frames` of its
    reference: 0 for a clone by x-vector."""

    artifact: bytes
    id: str
    model: str
    fingerprint: str
    embedding: tuple[float, ...]
    frames: int


async def encode(model: str, pcm: bytes, text: str = "") -> EncodedVoice:
    """`pcm`: float32, mono, 24 kHz, 1 to 30 s; `text`: what is said in it, for a clone in context.
    Raises ApiError."""
    return await _asked(engine_pb2.EncodeVoiceRequest(model=model, pcm=pcm, text=text))


async def embed(model: str, values: Sequence[float]) -> EncodedVoice:
    """From a ready speaker embedding. Raises ApiError."""
    embedding = engine_pb2.SpeakerEmbedding(values=values)
    return await _asked(engine_pb2.EncodeVoiceRequest(model=model, embedding=embedding))


async def _asked(request: engine_pb2.EncodeVoiceRequest) -> EncodedVoice:
    try:
        answer = await client().encode_voice(request, ENCODE_SECONDS)
    except grpc.aio.AioRpcError as error:
        raise _refusal(error) from error
    return EncodedVoice(
        artifact=answer.artifact,
        id=answer.id,
        model=request.model,
        fingerprint=answer.fingerprint,
        embedding=tuple(answer.embedding.values),
        frames=len(answer.codes) // _BYTES_OF_A_FRAME,
    )


def _refusal(error: grpc.aio.AioRpcError) -> ApiError:
    code = errors.code_of(error)
    if code == "engine_full":
        message = "The engine has as many voices to make as it takes: try again in a moment."
        return ApiError(503, code, message, retry_after_ms=errors.RETRY_AFTER_MS)
    refusal = errors.from_refusal(error)
    if refusal.status == 400 and refusal.field == "model":
        # Chosen here, by what the engines said they serve: the one that did is away by now.
        return errors.unavailable()
    return refusal
