"""Text that is all there from the start, and text that is still being written."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import grpc
import pytest
import pytest_asyncio

from gpu_engine.proto import engine_pb2 as pb
from tests.engine.bench import TEXT, distance, start
from tests.engine.conftest import CUSTOM
from tests.engine.process import CANCEL, Answer, EngineProcess, append, opening

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def engine(
    checkpoint_folder: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[EngineProcess]:
    folder = tmp_path_factory.mktemp("engine")
    flags = ("--max-streams", "4", "--text-timeout", "1")
    async with EngineProcess(folder, checkpoint_folder(CUSTOM), *flags) as process:
        yield process


async def rest(call: grpc.aio.StreamStreamCall, answer: Answer) -> Answer:
    while (event := await call.read()) is not grpc.aio.EOF:
        answer.take(event)
    return answer


async def test_a_complete_text_needs_no_end(engine: EngineProcess) -> None:
    call = engine.open()
    await call.write(opening(start(complete=True)))
    answer = await rest(call, Answer())
    assert answer.finished is not None
    assert distance(answer.samples, (await engine.say(start())).samples) <= 1


async def test_a_complete_text_takes_no_more(engine: EngineProcess) -> None:
    answer = await engine.ask([opening(start(complete=True)), append("more")])
    assert answer.error is not None
    assert (answer.error.code, answer.error.field) == ("invalid_request", "append")
    await engine.status_when(streams=0)


async def test_a_complete_text_can_be_cancelled(engine: EngineProcess) -> None:
    call, answer = engine.open(), Answer()
    await call.write(opening(start(TEXT * 4, complete=True)))
    while answer.take(await call.read()) != "audio":
        pass
    await call.write(CANCEL)
    await rest(call, answer)
    assert answer.finished is not None
    assert answer.finished.reason == pb.FINISH_REASON_CANCELLED
    assert answer.finished.gpu.talker_ms > 0
    await engine.status_when(streams=0)


async def test_empty_appends_do_not_keep_a_stream(engine: EngineProcess) -> None:
    call = engine.open()
    await call.write(opening(start("The quick", layout=pb.TEXT_LAYOUT_STREAMING)))
    reading = asyncio.create_task(rest(call, Answer()))
    for _ in range(30):
        if call.done():
            break
        await call.write(append(""))
        await asyncio.sleep(0.2)
    error = (await reading).error
    assert error is not None
    assert error.code == "text_timeout"
    await engine.status_when(streams=0)
