"""Voices by a real engine: a clip becomes an artifact, and the artifact speaks."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import grpc
import msgspec
import numpy as np
import pytest
import pytest_asyncio

from gpu_engine.models.checkpoint import Checkpoint
from gpu_engine.proto import engine_pb2 as pb
from gpu_engine.server.artifact import Seal, Voice
from tests.engine.bench import Bench, distance, start
from tests.engine.conftest import BASE
from tests.engine.process import EngineProcess

pytestmark = pytest.mark.asyncio(loop_scope="module")
KEY = "a key that all engines of a test share"
TRANSCRIPT = "Once upon a time."


def clip(seconds: float = 2.0, pitch: int = 20) -> bytes:
    """A tone that swells."""
    at = np.arange(int(seconds * 24_000))
    return (np.sin(at / pitch) * np.linspace(0.1, 0.8, len(at))).astype("<f4").tobytes()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def engine(
    checkpoint_folder: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[EngineProcess]:
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("PARLANCE_VOICE_KEY", KEY)
        folder = tmp_path_factory.mktemp("engine")
        async with EngineProcess(folder, checkpoint_folder(BASE), "--max-streams", "4") as process:
            yield process


async def encoded(engine: EngineProcess, **fields: Any) -> pb.EncodeVoiceResponse:
    return await engine.stub.EncodeVoice(pb.EncodeVoiceRequest(**fields))


def speaking(artifact: bytes, **fields: Any) -> pb.Start:
    kept = pb.Artifact(data=artifact, embedding_only=fields.pop("embedding_only", False))
    return start(voice=pb.Voice(artifact=kept), **fields)


async def test_it_works(engine: EngineProcess, checkpoint: Callable[[str], Checkpoint]) -> None:
    voice = await encoded(engine, pcm=clip(), text=TRANSCRIPT)
    assert len(voice.embedding.values) == 64
    assert len(voice.codes) == 2 * 16 * 32
    assert voice.fingerprint == checkpoint(BASE).fingerprint
    answer = await engine.say(speaking(voice.artifact))
    assert answer.finished is not None
    parts = pb.Reference(embedding=voice.embedding, codes=voice.codes, text=TRANSCRIPT)
    plain = Bench(checkpoint(BASE)).say(start(voice=pb.Voice(reference=parts)))
    assert distance(answer.samples, plain.samples) <= 1


async def test_the_same_clip_is_the_same_voice(engine: EngineProcess) -> None:
    voices = [await encoded(engine, pcm=clip(), text=TRANSCRIPT) for _ in range(2)]
    assert voices[0].id == voices[1].id
    assert voices[0].artifact == voices[1].artifact
    assert (await encoded(engine, pcm=clip(pitch=25), text=TRANSCRIPT)).id != voices[0].id


async def test_a_clip_without_a_text_is_a_voice_by_x_vector(engine: EngineProcess) -> None:
    voice = await encoded(engine, pcm=clip())
    assert voice.codes == b""
    full = await encoded(engine, pcm=clip(), text=TRANSCRIPT)
    short = await engine.say(speaking(voice.artifact))
    chosen = await engine.say(speaking(full.artifact, embedding_only=True))
    assert short.pcm == chosen.pcm != b""


async def test_a_ready_embedding_is_a_voice(engine: EngineProcess) -> None:
    made = await encoded(engine, pcm=clip())
    ready = await encoded(engine, embedding=made.embedding)
    assert (ready.id, ready.artifact) == (made.id, made.artifact)


async def test_a_known_voice_is_found_on_the_device(engine: EngineProcess) -> None:
    voice = await encoded(engine, pcm=clip(pitch=31), text=TRANSCRIPT)
    first = speaking(voice.artifact, layout=pb.TEXT_LAYOUT_REFERENCE_FIRST)
    cold, before = await engine.say(first), await engine.status_when(streams=0)
    warm, after = await engine.say(first), await engine.status_when(streams=0)
    while after.streams_total == before.streams_total:
        after = await engine.status_when(streams=0)
    assert warm.pcm == cold.pcm != b""
    for name in ("speakers", "references", "beginnings"):
        assert after.caches[name].hits == before.caches[name].hits + 1
        assert after.caches[name].misses == before.caches[name].misses
        assert 0 < after.caches[name].bytes <= after.caches[name].most_bytes
    assert after.modules["prefill"].steps == before.modules["prefill"].steps


async def test_models_says_what_can_be_cloned(engine: EngineProcess) -> None:
    [model] = (await engine.stub.Models(pb.ModelsRequest())).models
    assert (model.kind, model.embedding_size) == ("base", 64)
    assert (model.can_encode_voice, model.can_encode_reference) == (True, True)


NAN = np.full(48_000, np.nan, "<f4").tobytes()
BAD_CLIPS: dict[str, tuple[dict[str, Any], str, str]] = {
    "no clip": ({}, "pcm", "a clip is 1 to 30 s long"),
    "torn": ({"pcm": clip()[:-1]}, "pcm", "the clip is not float32 samples"),
    "short": ({"pcm": clip(0.9)}, "pcm", "a clip is 1 to 30 s long"),
    "long": ({"pcm": clip(30.1)}, "pcm", "a clip is 1 to 30 s long"),
    "silent": (
        {"pcm": b"\0" * 192_000},
        "pcm",
        "the clip is silent or has samples that are not numbers",
    ),
    "not numbers": (
        {"pcm": NAN},
        "pcm",
        "the clip is silent or has samples that are not numbers",
    ),
    "a text of nothing": (
        {"pcm": clip(), "text": "..."},
        "text",
        "the text has nothing that can be spoken",
    ),
    "another model": ({"pcm": clip(), "model": "gpt"}, "model", "unknown model 'gpt'"),
    "a short embedding": (
        {"embedding": pb.SpeakerEmbedding(values=[1.0] * 63)},
        "embedding",
        "a speaker embedding has 64 values, not 63",
    ),
    "an embedding of no numbers": (
        {"embedding": pb.SpeakerEmbedding(values=[float("nan")] * 64)},
        "embedding",
        "a speaker embedding has values from -1e+12 to 1e+12",
    ),
    "an embedding of extremes": (
        {"embedding": pb.SpeakerEmbedding(values=[-3.4e38] + [1.0] * 63)},
        "embedding",
        "a speaker embedding has values from -1e+12 to 1e+12",
    ),
    "an embedding and a clip": (
        {"embedding": pb.SpeakerEmbedding(values=[1.0] * 64), "pcm": clip()},
        "embedding",
        "an embedding comes without a clip and a text",
    ),
}


@pytest.mark.parametrize("case", BAD_CLIPS)
async def test_a_bad_clip_is_refused_by_field(engine: EngineProcess, case: str) -> None:
    fields, field, message = BAD_CLIPS[case]
    with pytest.raises(grpc.aio.AioRpcError) as refusal:
        await encoded(engine, **fields)
    told = dict(refusal.value.trailing_metadata() or ())
    assert refusal.value.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert refusal.value.details() == message
    assert (told["parlance-code"], told["parlance-field"]) == ("invalid_request", field)


def forged(checkpoint: Checkpoint, key: str = KEY, **changes: Any) -> bytes:
    """An artifact by somebody who has a key."""
    vector = np.ones(64, "<f4").tobytes()
    voice = msgspec.structs.replace(Voice(checkpoint.fingerprint, vector), **changes)
    return Seal(key.encode()).close(voice)[0]


BAD_VOICES: dict[str, tuple[Callable[[Checkpoint], bytes], str]] = {
    "changed": (lambda c: forged(c)[:-1] + b"\1", "voice_damaged"),
    "cut off": (lambda c: forged(c)[:-4], "voice_damaged"),
    "nothing": (lambda c: b"", "voice_damaged"),
    "of another installation": (lambda c: forged(c, "their key"), "voice_damaged"),
    "of another model": (lambda c: forged(c, fingerprint="0" * 16), "voice_outdated"),
    "of another size": (
        lambda c: forged(c, embedding=np.ones(63, "<f4").tobytes()),
        "invalid_request",
    ),
    "of no numbers": (
        lambda c: forged(c, embedding=np.full(64, np.inf, "<f4").tobytes()),
        "invalid_request",
    ),
    "with torn codes": (lambda c: forged(c, codes=b"\1", text="Hi."), "invalid_request"),
}


@pytest.mark.parametrize("case", BAD_VOICES)
async def test_a_bad_artifact_is_refused(
    engine: EngineProcess, checkpoint: Callable[[str], Checkpoint], case: str
) -> None:
    make, code = BAD_VOICES[case]
    answer = await engine.say(speaking(make(checkpoint(BASE))))
    assert answer.kinds == ["error"]
    assert answer.error is not None
    assert (answer.error.code, answer.error.field) == (code, "voice")
    assert not answer.error.retryable
