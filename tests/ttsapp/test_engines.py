"""Several engines behind one client: what they serve together, and who takes a stream."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import grpc
import pytest

from gpu_engine.proto import engine_pb2 as pb
from tests.ttsapp.scripted_engine import EngineThread, Script, custom_voice_model
from ttsapp.engine.client import EngineClient
from ttsapp.errors import ApiError

BASE = pb.Model(id="scripted-clones", kind="base", fingerprint="b-1", can_encode_voice=True)


@pytest.fixture(scope="module")
def threads(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[EngineThread, ...]]:
    """Two replicas with presets, and one that clones."""
    folder = tmp_path_factory.mktemp("engines")
    started = tuple(EngineThread(f"unix:{folder}/{name}.sock") for name in ("one", "two", "clones"))
    yield started
    for thread in started:
        thread.close()


@pytest.fixture
def engines(threads: tuple[EngineThread, ...]) -> tuple[EngineThread, ...]:
    for thread in threads:
        thread.engine.reset()
        thread.start()
    threads[2].engine.models = [BASE]
    return threads


@asynccontextmanager
async def all_of(threads: tuple[EngineThread, ...]) -> AsyncIterator[EngineClient]:
    client = EngineClient(thread.target for thread in threads)
    await client.models()
    yield client
    await client.close()


async def spoken(client: EngineClient, model: str) -> None:
    """One stream, read to its first audio and left."""
    stream = client.synthesize(model)
    await stream.start(pb.Start(model=model, text="Hello.", complete=True))
    while not (await stream.next("input")).HasField("audio"):
        pass
    stream.abort()


def heard(threads: tuple[EngineThread, ...]) -> list[int]:
    return [len(thread.engine.heard) for thread in threads]


async def test_models_of_all_engines_are_served_each_once(
    engines: tuple[EngineThread, ...],
) -> None:
    async with all_of(engines) as client:
        assert [model.id for model in await client.models()] == [
            "scripted-voices",
            "scripted-clones",
        ]


async def test_a_stream_goes_to_an_engine_that_serves_its_model(
    engines: tuple[EngineThread, ...],
) -> None:
    async with all_of(engines) as client:
        await spoken(client, "scripted-clones")
    assert heard(engines) == [0, 0, 1]


async def test_replicas_share_streams(engines: tuple[EngineThread, ...]) -> None:
    async with all_of(engines) as client:
        held = client.synthesize("scripted-voices")
        await held.start(pb.Start(text="Hello.", complete=True))
        await spoken(client, "scripted-voices")
        held.abort()
        engines[0].engine.wait_for_stream()
    assert heard(engines) == [1, 1, 0]


async def test_a_replica_that_went_away_gets_no_streams_for_a_moment(
    engines: tuple[EngineThread, ...],
) -> None:
    engines[0].engine.script = Script(hang_up_after=0)
    async with all_of(engines) as client:
        with pytest.raises(ApiError) as refusal:
            await spoken(client, "scripted-voices")
        assert refusal.value.status == 503
        await spoken(client, "scripted-voices")
        await spoken(client, "scripted-voices")
    assert heard(engines) == [1, 2, 0]


async def test_a_replica_with_other_weights_waits_for_its_turn(
    engines: tuple[EngineThread, ...],
) -> None:
    engines[1].engine.models = [custom_voice_model("scripted-2")]
    async with all_of(engines) as client:
        held = client.synthesize("scripted-voices")
        await spoken(client, "scripted-voices")
        held.abort()
    assert heard(engines)[1] == 0


async def test_an_engine_that_is_away_is_still_known(engines: tuple[EngineThread, ...]) -> None:
    async with all_of(engines) as client:
        engines[2].stop()
        served = [model.id for model in await client.models()]
    assert served == ["scripted-voices", "scripted-clones"]


async def test_an_engine_that_never_answered_hides_no_other(
    engines: tuple[EngineThread, ...],
) -> None:
    engines[0].stop()
    engines[1].stop()
    async with all_of(engines) as client:
        assert [model.id for model in await client.models()] == ["scripted-clones"]
        assert (await client.status()).engine_id == "scripted"


async def test_all_engines_away_is_a_503(engines: tuple[EngineThread, ...]) -> None:
    for engine in engines:
        engine.stop()
    client = EngineClient(engine.target for engine in engines)
    for question in (client.models, client.status):
        with pytest.raises(ApiError) as refusal:
            await question()
        assert (refusal.value.status, refusal.value.code) == (503, "engine_unavailable")
    await client.close()


async def test_one_that_is_ready_is_enough(engines: tuple[EngineThread, ...]) -> None:
    engines[0].engine.state = pb.EngineStatus.STATE_STARTING
    engines[1].stop()
    async with all_of(engines) as client:
        assert (await client.status()).state == pb.EngineStatus.STATE_READY


async def test_a_voice_is_made_by_an_engine_that_can(engines: tuple[EngineThread, ...]) -> None:
    async with all_of(engines) as client:
        request = pb.EncodeVoiceRequest(model="scripted-clones", pcm=b"\0" * 96_000)
        assert (await client.encode_voice(request, 5.0)).id
    assert [len(thread.engine.encoded) for thread in engines] == [0, 0, 1]


async def test_a_voice_cannot_be_made_while_its_engine_is_away(
    engines: tuple[EngineThread, ...],
) -> None:
    async with all_of(engines) as client:
        engines[2].stop()
        with pytest.raises(grpc.aio.AioRpcError) as refusal:
            await client.encode_voice(pb.EncodeVoiceRequest(model="scripted-clones"), 5.0)
    assert refusal.value.code() is grpc.StatusCode.UNAVAILABLE
