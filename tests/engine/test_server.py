"""A real engine process over gRPC: what tenants' streams see, in health and in trouble."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import grpc
import pytest
import pytest_asyncio
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from gpu_engine.proto import engine_pb2 as pb
from tests.engine.bench import TEXT, distance, start
from tests.engine.conftest import CUSTOM
from tests.engine.process import (
    CANCEL,
    END,
    NOT_SERVING,
    SERVING,
    Answer,
    EngineProcess,
    append,
    ended,
    go_on,
    kill,
    opening,
    stop,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")
STREAMING = pb.TEXT_LAYOUT_STREAMING
SERVICE = "parlance.engine.v1.Engine"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def engine(
    checkpoint_folder: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[EngineProcess]:
    folder = tmp_path_factory.mktemp("engine")
    flags = ("--max-streams", "4", "--waiting", "0", "--text-timeout", "5")
    async with EngineProcess(folder, checkpoint_folder(CUSTOM), *flags) as process:
        yield process


async def open_stream(engine: EngineProcess) -> tuple[grpc.aio.StreamStreamCall, Answer]:
    """A stream in mid-speech that waits for more text, its first audio read."""
    call, answer = engine.open(), Answer()
    await call.write(opening(start("The quick brown fox", layout=STREAMING)))
    while answer.take(await call.read()) != "audio":
        pass
    return call, answer


async def read_on(call: grpc.aio.StreamStreamCall, answer: Answer) -> Answer:
    while (event := await call.read()) is not grpc.aio.EOF:
        answer.take(event)
    return answer


async def test_it_works(engine: EngineProcess) -> None:
    answer = await engine.say(start())
    assert answer.kinds[0] == "accepted"
    assert answer.kinds[1:-1] == ["audio"] * (len(answer.kinds) - 2)
    assert answer.accepted is not None
    assert (answer.accepted.text_tokens, answer.accepted.sample_rate) == (10, 24_000)
    assert answer.finished is not None
    assert answer.finished.reason in (pb.FINISH_REASON_STOP, pb.FINISH_REASON_LENGTH)
    assert answer.finished.samples == len(answer.pcm) // 2 > 0
    assert answer.finished.gpu.predictor_ms > 0
    assert answer.finished.first_audible_ms >= answer.finished.first_audio_ms


async def test_closing_the_sending_side_is_an_end(engine: EngineProcess) -> None:
    closed, told = await engine.ask([opening(start())]), await engine.say(start())
    assert distance(closed.samples, told.samples) <= 1


async def test_four_streams_at_once_each_say_what_they_say_alone(engine: EngineProcess) -> None:
    openings = [start(seed=seed) for seed in range(4)]
    alone = [await engine.say(each) for each in openings]
    together = await asyncio.gather(*map(engine.say, openings))
    for one, other in zip(alone, together, strict=True):
        assert distance(one.samples, other.samples) <= 1


async def test_appended_text_is_spoken(engine: EngineProcess) -> None:
    whole = await engine.say(start(layout=STREAMING))
    pieces = [append(piece) for piece in ("k brown fox jumps over", " the lazy dog", ".")]
    grown = await engine.ask([opening(start("The quic", layout=STREAMING)), *pieces, END])
    assert grown.finished is not None
    assert whole.finished is not None
    assert grown.finished.text_tokens == whole.finished.text_tokens == 10
    assert distance(grown.samples, whole.samples) <= 1


async def test_full_layout_waits_for_the_end_of_the_text(engine: EngineProcess) -> None:
    half = len(TEXT) // 2
    grown = await engine.ask([opening(start(TEXT[:half])), append(TEXT[half:]), END])
    assert distance(grown.samples, (await engine.say(start())).samples) <= 1


async def test_speech_begins_before_the_text_ends(engine: EngineProcess) -> None:
    call, answer = await open_stream(engine)
    await call.write(append(" jumps."))
    await call.write(END)
    assert (await read_on(call, answer)).finished is not None


async def test_cancel_is_answered_and_frees_the_slot(engine: EngineProcess) -> None:
    call, answer = await open_stream(engine)
    await call.write(CANCEL)
    answer = await read_on(call, answer)
    assert answer.finished is not None
    assert answer.finished.reason == pb.FINISH_REASON_CANCELLED
    assert answer.finished.samples == len(answer.pcm) // 2
    await engine.status_when(streams=0)


async def test_cancel_before_any_text_is_answered(engine: EngineProcess) -> None:
    answer = await engine.ask([opening(start("")), CANCEL])
    assert answer.kinds == ["finished"]
    assert answer.finished is not None
    assert answer.finished.reason == pb.FINISH_REASON_CANCELLED


async def test_a_client_that_goes_away_frees_its_slot(engine: EngineProcess) -> None:
    call, _ = await open_stream(engine)
    await engine.status_when(streams=1)
    call.cancel()
    await engine.status_when(streams=0)


async def test_a_connection_that_breaks_frees_its_slot(engine: EngineProcess) -> None:
    other = EngineProcess.__new__(EngineProcess)
    other.__dict__ |= engine.__dict__
    other.channel = grpc.aio.insecure_channel(
        engine.address, options=[("grpc.use_local_subchannel_pool", 1)]
    )
    other.stub = type(engine.stub)(other.channel)
    await open_stream(other)
    await engine.status_when(streams=1)
    await other.channel.close()
    await engine.status_when(streams=0)


async def test_text_that_never_ends_times_out(engine: EngineProcess) -> None:
    call, answer = await open_stream(engine)
    answer = await read_on(call, answer)
    assert answer.error is not None
    assert answer.error.code == "text_timeout"
    await engine.status_when(streams=0)


async def test_a_full_engine_refuses_with_a_wait(engine: EngineProcess) -> None:
    held = [await open_stream(engine) for _ in range(4)]
    refused = await engine.say(start())
    assert refused.kinds == ["error"]
    assert refused.error is not None
    assert (refused.error.code, refused.error.retryable) == ("engine_full", True)
    assert refused.error.retry_after_ms > 0
    for call, _ in held:
        call.cancel()
    await engine.status_when(streams=0)


async def test_models_names_voices_and_languages(engine: EngineProcess) -> None:
    [model] = (await engine.stub.Models(pb.ModelsRequest())).models
    assert (model.id, model.kind, model.size) == (CUSTOM, "custom_voice", "1b7")
    assert [preset.name for preset in model.presets][:3] == ["aiden", "dylan", "eric"]
    assert model.presets[0].native_language == "english"
    assert len(model.languages) == 10
    assert (model.sample_rate, model.max_text_tokens) == (24_000, 128)
    assert len(model.fingerprint) == 16
    assert not model.can_encode_voice


async def test_status_counts_what_was_done(engine: EngineProcess) -> None:
    before = await engine.status_when(streams=0)
    answer = await engine.say(start())
    assert answer.finished is not None
    after = await engine.status_when(streams=0)
    while after.streams_total == before.streams_total:
        after = await engine.status_when(streams=0)
    assert after.streams_total == before.streams_total + 1
    assert after.frames_total == before.frames_total + answer.finished.frames
    assert (after.capacity, after.device) == (4, "cpu")
    assert after.modules["predictor"].rows >= answer.finished.frames


async def test_status_tells_waits_and_what_memory_is_for(engine: EngineProcess) -> None:
    assert (await engine.say(start())).finished is not None
    status = await engine.status_when(streams=0)
    assert set(status.waits) == {"place", "prefill", "talker", "predictor", "codec", "sent"}
    assert all(status.waits[name].rows > 0 for name in ("place", "prefill", "sent"))
    assert all(wait.median_ms <= wait.p95_ms for wait in status.waits.values())
    parts = status.memory.parts
    assert set(parts) == {"weights", "kv", "state", "graphs", "voices", "rest"}
    assert all(parts[name] > 0 for name in ("weights", "kv", "state", "voices", "rest"))
    assert parts["graphs"] == 0
    # The system counts a process's pages in batches, and says a little more or less.
    assert sum(parts.values()) <= status.memory_bytes + parts["voices"] + (1 << 20)
    assert 0 < status.memory.free_bytes <= status.memory.total_bytes
    assert (status.device, status.silent) == ("cpu", False)


async def test_health_and_reflection_name_the_service(engine: EngineProcess) -> None:
    for service in ("", SERVICE):
        check = await engine.checks.Check(health_pb2.HealthCheckRequest(service=service))
        assert check.status == SERVING
    asking = reflection_pb2.ServerReflectionRequest(list_services="")
    stub = reflection_pb2_grpc.ServerReflectionStub(engine.channel)
    async for listed in stub.ServerReflectionInfo(iter([asking])):
        names = [service.name for service in listed.list_services_response.service]
        assert SERVICE in names


async def test_a_voice_is_not_encoded_without_an_encoder(engine: EngineProcess) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as refusal:
        await engine.stub.EncodeVoice(pb.EncodeVoiceRequest(pcm=b"\0" * 96_000))
    assert refusal.value.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert dict(refusal.value.trailing_metadata() or ())["parlance-field"] == "model"


async def test_clients_that_come_and_go_leave_a_sound_engine(engine: EngineProcess) -> None:
    async def visit(number: int) -> str:
        opened = start("Hello there.", seed=number, max_frames=6)
        if number % 3:
            return (await engine.say(opened)).kinds[-1]
        call = engine.open()
        await call.write(opening(opened))
        call.cancel()
        return "gone"

    ends = await asyncio.gather(*map(visit, range(24)))
    assert set(ends) <= {"finished", "error", "gone"}
    assert "finished" in ends
    status = await engine.status_when(streams=0)
    assert status.core_restarts == 0
    assert (await engine.say(start())).finished is not None


async def test_a_killed_core_ends_its_streams_and_comes_back(engine: EngineProcess) -> None:
    call, answer = await open_stream(engine)
    before = await engine.status_when(streams=1)
    kill(engine.core())
    answer = await read_on(call, answer)
    assert answer.error is not None
    assert (answer.error.code, answer.error.retryable) == ("engine_restarted", True)
    await engine.wait_for(NOT_SERVING)
    meanwhile = await engine.say(start())
    assert meanwhile.error is not None
    assert (meanwhile.error.code, meanwhile.error.retryable) == ("engine_down", True)
    await engine.wait_for(SERVING)
    assert (await engine.say(start())).finished is not None
    after = await engine.status_when(streams=0)
    assert after.core_restarts == before.core_restarts + 1


async def test_a_core_that_hangs_is_told_by_health_and_replaced(engine: EngineProcess) -> None:
    call, answer = await open_stream(engine)
    before = await engine.status_when(streams=1)
    hung = engine.core()
    stop(hung)
    await engine.wait_for(NOT_SERVING)
    assert (await engine.stub.Status(pb.StatusRequest())).silent
    meanwhile = await engine.say(start())
    assert meanwhile.error is not None
    assert (meanwhile.error.code, meanwhile.error.retryable) == ("engine_down", True)
    answer = await read_on(call, answer)
    assert answer.error is not None
    assert answer.error.code in ("engine_restarted", "text_timeout")
    await ended(hung)
    await engine.wait_for(SERVING)
    assert (await engine.say(start())).finished is not None
    after = await engine.status_when(streams=0)
    assert after.core_restarts == before.core_restarts + 1


async def test_a_core_that_only_paused_goes_on(engine: EngineProcess) -> None:
    before = await engine.status_when(streams=0)
    stop(engine.core())
    await engine.wait_for(NOT_SERVING)
    go_on(engine.core())
    await engine.wait_for(SERVING)
    assert (await engine.say(start())).finished is not None
    assert (await engine.status_when(streams=0)).core_restarts == before.core_restarts


async def test_a_second_engine_on_the_same_address_leaves_the_first_alone(
    engine: EngineProcess,
) -> None:
    second = EngineProcess.__new__(EngineProcess)
    second.__dict__ |= engine.__dict__
    process = await second.launch()
    _, said = await process.communicate()
    assert process.returncode == 2
    assert said.decode().splitlines()[-1] == (
        f"parlance engine: cannot listen on {engine.address}: "
        "another engine listens there: stop it or give another --listen"
    )
    async with grpc.aio.insecure_channel(
        engine.address, options=[("grpc.use_local_subchannel_pool", 1)]
    ) as fresh:
        answer = await health_pb2_grpc.HealthStub(fresh).Check(health_pb2.HealthCheckRequest())
    assert answer.status == SERVING
    assert (await engine.say(start())).finished is not None


async def test_a_stopped_engine_leaves_nothing_behind(
    checkpoint_folder: Callable[[str], Path], tmp_path: Path
) -> None:
    async with EngineProcess(tmp_path, checkpoint_folder(CUSTOM), "--grace", "0") as engine:
        core = engine.core()
        call, _ = await open_stream(engine)
        engine.process.terminate()
        assert await engine.process.wait() == 0
        call.cancel()
    await ended(core)


async def test_a_killed_front_takes_its_core_with_it(
    checkpoint_folder: Callable[[str], Path], tmp_path: Path
) -> None:
    async with EngineProcess(tmp_path, checkpoint_folder(CUSTOM)) as engine:
        core = engine.core()
        engine.process.kill()
        await engine.process.wait()
    await ended(core)
