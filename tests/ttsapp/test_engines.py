"""Several engines behind one client: what they serve together, and who takes a stream."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import grpc
import pytest
from django.conf import settings

from gpu_engine.proto import engine_pb2 as pb
from tests.ttsapp.scripted_engine import EngineThread, Script, custom_voice_model
from ttsapp.engine import connection, voices
from ttsapp.engine.client import EngineClient, Standing, client, close
from ttsapp.engine.connection import Engine
from ttsapp.errors import ApiError
from ttsapp.speech.segment import Segment

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
    fleet = EngineClient(thread.target for thread in threads)
    await fleet.models()
    yield fleet
    await fleet.close()


async def spoken(fleet: EngineClient, model: str) -> None:
    """One stream, read to its first audio and left."""
    stream = fleet.synthesize(model)
    await stream.start(pb.Start(model=model, text="Hello.", complete=True))
    while not (await stream.next("input")).HasField("audio"):
        pass
    stream.abort()


def heard(threads: tuple[EngineThread, ...]) -> list[int]:
    return [len(thread.engine.heard) for thread in threads]


async def test_models_of_all_engines_are_served_each_once(
    engines: tuple[EngineThread, ...],
) -> None:
    async with all_of(engines) as fleet:
        assert [model.id for model in await fleet.models()] == [
            "scripted-voices",
            "scripted-clones",
        ]


async def test_a_stream_goes_to_an_engine_that_serves_its_model(
    engines: tuple[EngineThread, ...],
) -> None:
    async with all_of(engines) as fleet:
        await spoken(fleet, "scripted-clones")
    assert heard(engines) == [0, 0, 1]


@pytest.mark.parametrize(("code", "status"), [("voice_outdated", 409), ("voice_damaged", 500)])
async def test_a_voice_that_must_be_made_again_is_told(
    engines: tuple[EngineThread, ...], code: str, status: int
) -> None:
    engines[2].engine.script = Script(error=pb.Error(code=code, message="inner", field="voice"))
    async with all_of(engines) as fleet:
        with pytest.raises(ApiError) as refusal:
            await spoken(fleet, "scripted-clones")
    assert (refusal.value.status, refusal.value.code, refusal.value.field) == (
        status,
        code,
        "voice",
    )
    assert "make the voice again" in refusal.value.message
    assert "inner" not in refusal.value.message


async def test_a_refusal_is_told_to_who_still_wrote(engines: tuple[EngineThread, ...]) -> None:
    too_long = pb.Error(code="invalid_request", field="text", message="Too many tokens.")
    engines[0].engine.script = Script(error=too_long, error_after=1)
    engine = Engine(engines[0].target)
    stream = engine.synthesize()
    await stream.start(pb.Start(text="Hello"))
    async with asyncio.timeout(10):
        while engine.streams:  # until a write has failed
            await stream.append(" again")

    assert (await stream.next("input")).HasField("accepted")
    assert (await stream.next("input")).HasField("audio")
    with pytest.raises(ApiError, match="Too many tokens") as refusal:
        await stream.next("input")

    assert (refusal.value.status, refusal.value.field) == (400, "input")
    await engine.close()


async def test_replicas_share_streams(engines: tuple[EngineThread, ...]) -> None:
    async with all_of(engines) as fleet:
        held = fleet.synthesize("scripted-voices")
        await held.start(pb.Start(text="Hello.", complete=True))
        await spoken(fleet, "scripted-voices")
        held.abort()
        engines[0].engine.wait_for_stream()
    assert heard(engines) == [1, 1, 0]


async def test_a_replica_that_went_away_gets_no_streams_for_a_moment(
    engines: tuple[EngineThread, ...],
) -> None:
    engines[0].engine.script = Script(hang_up_after=0)
    async with all_of(engines) as fleet:
        with pytest.raises(ApiError) as refusal:
            await spoken(fleet, "scripted-voices")
        assert refusal.value.status == 503
        await spoken(fleet, "scripted-voices")
        await spoken(fleet, "scripted-voices")
    assert heard(engines) == [1, 2, 0]


@dataclass
class Asked:
    """As much of an order as a segment needs."""

    model: pb.Model
    text_field: str = "input"
    speed: float = 1.0

    def start(self, text: str, *, is_complete: bool, max_frames: int = 0) -> pb.Start:
        return pb.Start(model=self.model.id, text=text, complete=is_complete)


FULL = Script(error=pb.Error(code="engine_full", retryable=True, retry_after_ms=500))


@pytest.fixture
def configured(
    engines: tuple[EngineThread, ...], monkeypatch: pytest.MonkeyPatch
) -> tuple[EngineThread, ...]:
    monkeypatch.setattr(settings, "ENGINES", tuple(engine.target for engine in engines))
    return engines


async def heard_of(segment: Segment) -> int:
    """Bytes."""
    await client().models()
    segment.open()
    try:
        return sum([len(pcm) async for pcm in segment.sound()])
    finally:
        await close()


async def test_a_refusal_before_audio_is_taken_to_another_replica(
    configured: tuple[EngineThread, ...],
) -> None:
    configured[0].engine.script = FULL
    assert await heard_of(Segment(Asked(custom_voice_model()), "Hello there.")) == 5 * 3840
    assert heard(configured) == [1, 1, 0]
    assert configured[1].engine.heard[0].text == "Hello there."


async def test_a_drained_replica_is_left_alone_for_longer(
    engines: tuple[EngineThread, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "REST_SECONDS", 0.0)
    engines[0].engine.script = Script(error=pb.Error(code="engine_draining", retryable=True))
    async with all_of(engines) as fleet:
        with pytest.raises(ApiError) as refusal:
            await spoken(fleet, "scripted-voices")
        assert refusal.value.code == "engine_draining"
        await spoken(fleet, "scripted-voices")
        await spoken(fleet, "scripted-voices")
    assert heard(engines) == [1, 2, 0]


async def test_a_voice_is_made_by_another_replica_where_one_takes_no_work(
    engines: tuple[EngineThread, ...],
) -> None:
    for replica in engines[:2]:
        replica.engine.models = [BASE]
    async with all_of(engines[:2]) as fleet:
        engines[0].stop()
        request = pb.EncodeVoiceRequest(model=BASE.id)
        assert (await fleet.encode_voice(request, 5)).fingerprint == "b-1"
    assert len(engines[1].engine.encoded) == 1


async def test_a_refusal_by_all_replicas_is_told(configured: tuple[EngineThread, ...]) -> None:
    for replica in configured[:2]:
        replica.engine.script = FULL
    with pytest.raises(ApiError) as refusal:
        await heard_of(Segment(Asked(custom_voice_model()), "Hello there."))
    assert (refusal.value.code, refusal.value.retry_after_ms) == ("engine_full", 500)
    assert heard(configured) == [1, 1, 0]


async def test_what_has_begun_to_sound_is_not_begun_again(
    configured: tuple[EngineThread, ...],
) -> None:
    configured[0].engine.script = Script(hang_up_after=2)
    with pytest.raises(ApiError) as refusal:
        await heard_of(Segment(Asked(custom_voice_model()), "Hello there."))
    assert refusal.value.status == 503
    assert heard(configured) == [1, 0, 0]


async def test_a_replica_with_other_weights_waits_for_its_turn(
    engines: tuple[EngineThread, ...],
) -> None:
    engines[1].engine.models = [custom_voice_model("scripted-2")]
    async with all_of(engines) as fleet:
        held = fleet.synthesize("scripted-voices")
        await spoken(fleet, "scripted-voices")
        held.abort()
    assert heard(engines)[1] == 0


async def test_an_engine_that_is_away_is_still_known(engines: tuple[EngineThread, ...]) -> None:
    async with all_of(engines) as fleet:
        engines[2].stop()
        served = [model.id for model in await fleet.models()]
    assert served == ["scripted-voices", "scripted-clones"]


async def test_an_engine_that_never_answered_hides_no_other(
    engines: tuple[EngineThread, ...],
) -> None:
    engines[0].stop()
    engines[1].stop()
    async with all_of(engines) as fleet:
        assert [model.id for model in await fleet.models()] == ["scripted-clones"]
        assert (await fleet.standing()).takes_streams


async def test_all_engines_away_is_a_503(engines: tuple[EngineThread, ...]) -> None:
    for engine in engines:
        engine.stop()
    fleet = EngineClient(engine.target for engine in engines)
    with pytest.raises(ApiError) as refusal:
        await fleet.models()
    assert (refusal.value.status, refusal.value.code) == (503, "engine_unavailable")
    assert await fleet.standing() == Standing("away", takes_streams=False)
    await fleet.close()


async def test_one_that_is_ready_is_enough_to_take_streams(
    engines: tuple[EngineThread, ...],
) -> None:
    engines[0].engine.state = pb.EngineStatus.STATE_STARTING
    engines[1].stop()
    async with all_of(engines) as fleet:
        assert await fleet.standing() == Standing("starting", takes_streams=True)


async def test_one_that_alone_serves_a_model_says_what_it_waits_for(
    engines: tuple[EngineThread, ...],
) -> None:
    engines[2].engine.state = pb.EngineStatus.STATE_DRAINING
    async with all_of(engines) as fleet:
        assert await fleet.standing() == Standing("draining", takes_streams=True)


async def test_a_drained_one_whose_models_another_serves_is_not_missed(
    engines: tuple[EngineThread, ...],
) -> None:
    engines[0].engine.state = pb.EngineStatus.STATE_DRAINING
    async with all_of(engines) as fleet:
        assert await fleet.standing() == Standing("ready", takes_streams=True)


async def test_the_first_that_is_known_is_told_where_none_is_ready(
    engines: tuple[EngineThread, ...],
) -> None:
    engines[0].stop()
    engines[1].engine.state = engines[2].engine.state = pb.EngineStatus.STATE_DRAINING
    async with all_of(engines) as fleet:
        assert await fleet.standing() == Standing("draining", takes_streams=False)


async def test_a_voice_that_only_a_drained_engine_could_make_is_told_so(
    configured: tuple[EngineThread, ...],
) -> None:
    configured[2].engine.encode_refusal = "engine_draining"
    await client().models()
    try:
        with pytest.raises(ApiError) as refusal:
            await voices.encode("scripted-clones", b"\0" * 96_000)
        assert client().engines[2].is_resting
    finally:
        await close()
    assert (refusal.value.status, refusal.value.code) == (503, "engine_draining")
    assert refusal.value.retry_after_ms == 1000


async def test_a_voice_is_made_by_an_engine_that_can(engines: tuple[EngineThread, ...]) -> None:
    async with all_of(engines) as fleet:
        request = pb.EncodeVoiceRequest(model="scripted-clones", pcm=b"\0" * 96_000)
        assert (await fleet.encode_voice(request, 5.0)).id
    assert [len(thread.engine.encoded) for thread in engines] == [0, 0, 1]


async def test_a_voice_cannot_be_made_while_its_engine_is_away(
    engines: tuple[EngineThread, ...],
) -> None:
    async with all_of(engines) as fleet:
        engines[2].stop()
        with pytest.raises(grpc.aio.AioRpcError) as refusal:
            await fleet.encode_voice(pb.EncodeVoiceRequest(model="scripted-clones"), 5.0)
    assert refusal.value.code() is grpc.StatusCode.UNAVAILABLE


@pytest.mark.parametrize("turns", range(6))
async def test_what_was_to_be_written_ends_with_its_stream(
    engines: tuple[EngineThread, ...], turns: int
) -> None:
    """Given a client that leaves so many turns of the loop after its stream was asked for."""
    async with all_of(engines) as fleet:
        stream = fleet.synthesize("scripted-custom")
        writing = asyncio.create_task(stream.start(pb.Start(text="Hello.")))
        for _ in range(turns):
            await asyncio.sleep(0)
        stream.abort()
        await asyncio.wait({writing}, timeout=5)
        assert writing.done()
