"""What a GPU's scheduler does otherwise than a CPU's."""

from __future__ import annotations

from gpu_engine.scheduler import Kind, Scheduler
from gpu_engine.server.settings import EngineSettings
from tests.engine.simulation import CPU, H200, measured
from tests.engine.test_scheduler import chosen, new, play
from tests.kernels.shapes import TALKER


def test_a_gpu_reads_a_prompt_before_a_stream_with_a_chunk_in_hand_goes_on() -> None:
    """80 ms of audio last for several chunks there; on a CPU the next one would come too late."""
    firsts = []
    for kind, costs in (("cuda", H200), ("cpu", measured(CPU))):
        settings = EngineSettings("folder").scheduler(kind, TALKER)
        scheduler = Scheduler(settings, costs)
        for number, arrived in ((1, 9.9), (2, 10.0)):
            scheduler.submit(new(number, arrived), arrived)
        play(scheduler, 1, dry_at=10.08)
        firsts.append(chosen(scheduler.next_job(10.0)))
    assert firsts == [(Kind.PREFILL, [2]), (Kind.TALKER, [1])]


def test_a_listener_who_runs_dry_goes_before_a_prompt_on_a_gpu() -> None:
    settings = EngineSettings("folder").scheduler("cuda", TALKER)
    scheduler = Scheduler(settings, H200)
    for number, arrived in ((1, 9.9), (2, 10.0)):
        scheduler.submit(new(number, arrived), arrived)
    play(scheduler, 1, dry_at=10.015)
    assert chosen(scheduler.next_job(10.0)) == (Kind.TALKER, [1])
