"""What an operator may do with a real engine: drain it, have voices stay or go, look into it."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import AsyncIterator, Callable
from itertools import pairwise
from pathlib import Path

import grpc
import numpy as np
import pytest
import pytest_asyncio

from gpu_engine.proto import engine_pb2 as pb
from tests.engine.bench import start
from tests.engine.conftest import BASE, CUSTOM
from tests.engine.process import END, NOT_SERVING, SERVING, Answer, EngineProcess, kill, opening

pytestmark = pytest.mark.asyncio(loop_scope="module")
KEEP = pb.KeepVoiceRequest
RYAN = pb.Voice(preset="ryan")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def engine(
    checkpoint_folder: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[EngineProcess]:
    folder = tmp_path_factory.mktemp("operations")
    flags = ("--max-streams", "4", "--engine-id", "one")
    async with EngineProcess(folder, checkpoint_folder(CUSTOM), *flags) as process:
        yield process


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def cloner(
    checkpoint_folder: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[EngineProcess]:
    folder = tmp_path_factory.mktemp("cloner")
    async with EngineProcess(folder, checkpoint_folder(BASE), "--max-streams", "2") as process:
        yield process


def clone(seed: int = 1) -> pb.Voice:
    values = np.random.default_rng(seed).normal(size=64).tolist()
    return pb.Voice(embedding=pb.SpeakerEmbedding(values=values))


async def refusal(call: grpc.aio.UnaryUnaryCall) -> tuple[grpc.StatusCode, str, str]:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    told = dict(caught.value.trailing_metadata() or ())
    return caught.value.code(), str(told["parlance-code"]), str(told["parlance-field"])


async def test_a_drained_engine_ends_what_runs_and_takes_nothing_new(
    engine: EngineProcess,
) -> None:
    running, answer = engine.open(), Answer()
    await running.write(opening(start("The quick brown fox", layout=pb.TEXT_LAYOUT_STREAMING)))
    while answer.take(await running.read()) != "audio":
        pass

    drained = await engine.stub.Drain(pb.DrainRequest(drained=True))
    refused = await engine.say(start())
    await engine.wait_for(NOT_SERVING)
    state = (await engine.stub.Status(pb.StatusRequest())).state
    await running.write(END)
    while (event := await running.read()) is not grpc.aio.EOF:
        answer.take(event)
    again = await engine.stub.Drain(pb.DrainRequest(drained=False))
    await engine.wait_for(SERVING)

    assert (drained.was_drained, drained.drained) == (False, True)
    assert refused.error is not None
    assert (refused.error.code, refused.error.retryable) == ("engine_draining", True)
    assert refused.error.message == (
        "the engine is drained: it is not ready for new work until it is undrained"
    )
    assert state == pb.EngineStatus.STATE_DRAINING
    assert answer.finished is not None
    assert (again.was_drained, again.drained) == (True, False)
    assert (await engine.say(start())).finished is not None


async def test_a_core_that_dies_leaves_its_engine_drained(engine: EngineProcess) -> None:
    await engine.stub.Drain(pb.DrainRequest(drained=True))
    kill(engine.core())
    async with asyncio.timeout(60):
        async for status in engine.stub.WatchStatus(pb.WatchStatusRequest(interval_ms=100)):
            if status.core_restarts and status.state == pb.EngineStatus.STATE_DRAINING:
                break
    refused = await engine.say(start())
    await engine.stub.Drain(pb.DrainRequest(drained=False))
    await engine.wait_for(SERVING)
    assert refused.error is not None
    assert refused.error.code == "engine_draining"


async def test_a_pinned_voice_is_read_in_and_survives_its_core(cloner: EngineProcess) -> None:
    pinned = await cloner.stub.KeepVoice(
        KEEP(voice=clone(), id="voice_1", name="Ann", act=KEEP.ACT_PIN)
    )
    assert (pinned.before.pinned, pinned.before.entries) == (False, 0)
    assert (pinned.after.name, pinned.after.pinned, pinned.after.entries) == ("Ann", True, 2)
    assert pinned.after.bytes > 0

    kill(cloner.core())
    async with asyncio.timeout(60):
        async for status in cloner.stub.WatchStatus(pb.WatchStatusRequest(interval_ms=100)):
            if status.core_restarts and any(held.entries == 2 for held in status.pinned):
                break
    (held,) = status.pinned
    assert (held.id, held.name, held.pinned) == ("voice_1", "Ann", True)

    gone = await cloner.stub.KeepVoice(KEEP(voice=clone(), act=KEEP.ACT_UNLOAD))
    assert (gone.before.pinned, gone.before.entries) == (True, 2)
    assert (gone.after.pinned, gone.after.entries, gone.after.bytes) == (False, 0, 0)


async def test_unloading_a_voice_leaves_the_others(engine: EngineProcess) -> None:
    await engine.say(start())
    await engine.say(start(voice=pb.Voice(preset="vivian")))
    gone = await engine.stub.KeepVoice(KEEP(voice=RYAN, act=KEEP.ACT_UNLOAD))
    left = await engine.stub.KeepVoice(KEEP(voice=pb.Voice(preset="vivian")))
    assert (gone.before.entries > 0, gone.after.entries) == (True, 0)
    assert left.before.entries > 0
    assert (await engine.say(start())).finished is not None


async def test_a_voice_that_is_unpinned_stays_until_others_need_its_place(
    engine: EngineProcess,
) -> None:
    await engine.stub.KeepVoice(KEEP(voice=RYAN, act=KEEP.ACT_PIN))
    unpinned = await engine.stub.KeepVoice(KEEP(voice=RYAN, act=KEEP.ACT_UNPIN))
    assert (unpinned.before.pinned, unpinned.after.pinned) == (True, False)
    assert unpinned.after.entries == unpinned.before.entries > 0


async def test_a_voice_too_many_is_not_pinned(cloner: EngineProcess) -> None:
    """64 are the most; one of them may be pinned again, others once there is room."""
    *voices, one_more = map(clone, range(100, 165))
    for voice in voices:
        await cloner.stub.KeepVoice(KEEP(voice=voice, act=KEEP.ACT_PIN))
    refused = await refusal(cloner.stub.KeepVoice(KEEP(voice=one_more, act=KEEP.ACT_PIN)))
    again = await cloner.stub.KeepVoice(KEEP(voice=voices[0], act=KEEP.ACT_PIN))
    for voice in voices:
        await cloner.stub.KeepVoice(KEEP(voice=voice, act=KEEP.ACT_UNPIN))
    pinned = await cloner.stub.KeepVoice(KEEP(voice=one_more, act=KEEP.ACT_PIN))

    assert refused == (grpc.StatusCode.INVALID_ARGUMENT, "invalid_request", "voice")
    assert again.after.pinned
    assert pinned.after.pinned


async def test_many_at_once_find_no_more_places_than_there_are(cloner: EngineProcess) -> None:
    """Given that none is pinned, when 70 are at once, then 64 are."""
    for voice in map(clone, range(100, 165)):
        await cloner.stub.KeepVoice(KEEP(voice=voice, act=KEEP.ACT_UNPIN))
    asked = [
        cloner.stub.KeepVoice(KEEP(voice=clone(seed), id="many", act=KEEP.ACT_PIN))
        for seed in range(200, 270)
    ]
    answers = await asyncio.gather(*asked, return_exceptions=True)
    gone = await cloner.stub.KeepVoice(KEEP(id="many", act=KEEP.ACT_UNLOAD))

    pinned = [each for each in answers if isinstance(each, pb.KeepVoiceResponse)]
    assert (len(pinned), len(answers) - len(pinned)) == (64, 6)
    assert gone.before.pinned
    assert (gone.after.pinned, gone.after.entries, gone.after.bytes) == (False, 0, 0)


async def test_a_voice_whose_content_is_gone_is_unpinned_and_unloaded_by_its_id(
    cloner: EngineProcess,
) -> None:
    """Given one that is pinned and one that only spoke, when nobody has their artifacts."""
    made = [
        await cloner.stub.EncodeVoice(pb.EncodeVoiceRequest(embedding=clone(seed).embedding))
        for seed in (301, 302)
    ]
    pinned, spoken = (pb.Voice(artifact=pb.Artifact(data=each.artifact)) for each in made)
    await cloner.stub.KeepVoice(KEEP(voice=pinned, id="voice_1", act=KEEP.ACT_PIN))
    await cloner.say(start(voice=spoken))

    seen = await cloner.stub.KeepVoice(KEEP(id="voice_1", artifacts=[made[1].id]))
    unpinned = await cloner.stub.KeepVoice(KEEP(id="voice_1", act=KEEP.ACT_UNPIN))
    gone = await cloner.stub.KeepVoice(
        KEEP(id="voice_1", artifacts=[each.id for each in made], act=KEEP.ACT_UNLOAD)
    )

    assert (seen.before.pinned, seen.before.entries) == (True, 4)
    assert (unpinned.before.pinned, unpinned.after.pinned) == (True, False)
    assert unpinned.after.entries == 2
    assert (gone.before.entries, gone.after.entries, gone.after.bytes) == (4, 0, 0)


async def test_a_voice_that_was_unloaded_is_not_pinned_again_in_a_new_core(
    cloner: EngineProcess,
) -> None:
    made = await cloner.stub.EncodeVoice(pb.EncodeVoiceRequest(embedding=clone(303).embedding))
    voice = pb.Voice(artifact=pb.Artifact(data=made.artifact))
    await cloner.stub.KeepVoice(KEEP(voice=voice, id="voice_1", act=KEEP.ACT_PIN))
    await cloner.stub.KeepVoice(KEEP(artifacts=[made.id], act=KEEP.ACT_UNLOAD))
    await cloner.stub.KeepVoice(KEEP(voice=clone(304), id="voice_2", act=KEEP.ACT_PIN))
    before = (await cloner.stub.Status(pb.StatusRequest())).core_restarts
    kill(cloner.core())
    async with asyncio.timeout(60):
        async for status in cloner.stub.WatchStatus(pb.WatchStatusRequest(interval_ms=100)):
            if status.core_restarts > before and any(held.entries for held in status.pinned):
                break
    assert [held.id for held in status.pinned] == ["voice_2"]
    await cloner.stub.KeepVoice(KEEP(id="voice_2", act=KEEP.ACT_UNLOAD))


@pytest.mark.parametrize("artifacts", [["nonsense"], ["00" * 31], ["00" * 32] * 1001])
async def test_an_artifacts_id_that_is_none_is_refused(
    cloner: EngineProcess, artifacts: list[str]
) -> None:
    code, _, field = await refusal(
        cloner.stub.KeepVoice(KEEP(artifacts=artifacts, act=KEEP.ACT_UNLOAD))
    )
    assert (code, field) == (grpc.StatusCode.INVALID_ARGUMENT, "artifacts")


async def test_a_voice_is_not_pinned_by_its_id_alone(cloner: EngineProcess) -> None:
    asked = cloner.stub.KeepVoice(KEEP(artifacts=["00" * 32], act=KEEP.ACT_PIN))
    code, _, field = await refusal(asked)
    assert (code, field) == (grpc.StatusCode.INVALID_ARGUMENT, "artifacts")


async def test_an_unknown_voice_is_refused_by_name(engine: EngineProcess) -> None:
    asked = engine.stub.KeepVoice(KEEP(voice=pb.Voice(preset="nobody"), act=KEEP.ACT_PIN))
    assert await refusal(asked) == (
        grpc.StatusCode.INVALID_ARGUMENT,
        "invalid_request",
        "voice",
    )


async def test_a_clone_is_refused_by_an_engine_of_presets(engine: EngineProcess) -> None:
    code, _, field = await refusal(engine.stub.KeepVoice(KEEP(voice=clone(), act=KEEP.ACT_PIN)))
    assert (code, field) == (grpc.StatusCode.INVALID_ARGUMENT, "voice")


async def test_a_trace_has_every_job_and_the_life_of_every_stream(engine: EngineProcess) -> None:
    tracing = asyncio.ensure_future(engine.stub.Trace(pb.TraceRequest(seconds=1.5)))
    await asyncio.sleep(0)
    said = await engine.say(start())
    told = await tracing
    content = json.loads(gzip.decompress(told.json_gz))
    events = content["traceEvents"]
    jobs = [event for event in events if event["ph"] == "X"]
    tracks = {
        event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"
    }
    phases = [event["ph"] for event in events if event.get("cat") == "streams"]

    assert said.finished is not None
    assert content["otherData"]["engine"] == "one"
    assert len(jobs) == told.jobs > 0
    assert {tracks[job["tid"]] for job in jobs} == {"prefill", "talker", "predictor", "codec"}
    assert all(job["name"] == tracks[job["tid"]] and job["dur"] >= 0 for job in jobs)
    for track in tracks:
        own = sorted((job["ts"], job["ts"] + job["dur"]) for job in jobs if job["tid"] == track)
        assert all(end <= begin for (_, end), (begin, _) in pairwise(own))
    assert phases == ["b", "n", "e"]
    assert not told.is_cut


async def test_one_trace_at_a_time(engine: EngineProcess) -> None:
    first = asyncio.ensure_future(engine.stub.Trace(pb.TraceRequest(seconds=1)))
    await asyncio.sleep(0.3)
    assert await refusal(engine.stub.Trace(pb.TraceRequest(seconds=1))) == (
        grpc.StatusCode.UNAVAILABLE,
        "trace_running",
        "",
    )
    await first


@pytest.mark.parametrize("seconds", [0.5, 31])
async def test_a_trace_of_under_a_second_or_over_half_a_minute_is_refused(
    engine: EngineProcess, seconds: float
) -> None:
    code, _, field = await refusal(engine.stub.Trace(pb.TraceRequest(seconds=seconds)))
    assert (code, field) == (grpc.StatusCode.INVALID_ARGUMENT, "seconds")
