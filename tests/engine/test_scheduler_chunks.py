"""Chunks and playback: what is held back, how chunks grow, and that listeners do not run dry."""

from __future__ import annotations

import pytest

from gpu_engine.scheduler import RAMPS, Kind, SchedulerSettings
from tests.engine.simulation import CPU, GPU, Client, Costs, Simulation

# A first frame of digital silence, and most of a second before the onset: what is trimmed.
TRIMMED = 1.7


def together(streams: int, ramp: str = "balanced", **fields: object) -> Simulation:
    """Streams of ten seconds that come within a few milliseconds."""
    clients = [
        Client(0.001 * n, speech=120, cap=400, ramp=RAMPS[ramp], silent_frames=TRIMMED)
        for n in range(streams)
    ]
    return Simulation(clients, **fields).run()  # type: ignore[arg-type]


def gaps(done: Simulation) -> list[float]:
    return [listener.worst_gap for listener in done.listeners.values()]


def chunks(done: Simulation) -> list[int]:
    return [job.frames for _, job in done.jobs if job.kind is Kind.CODEC]


@pytest.mark.parametrize("streams", [1, 2, 4, 6, 8])
@pytest.mark.parametrize("ramp", ["latency", "balanced"])
def test_on_the_cpu_no_listener_of_eight_runs_dry(streams: int, ramp: str) -> None:
    done = together(streams, ramp, costs=CPU)
    assert max(gaps(done)) == 0.0
    assert done.scheduler.totals.underruns == 0


@pytest.mark.parametrize("streams", [1, 2, 4])
def test_nor_of_four_where_jobs_take_up_to_twice_as_long(streams: int) -> None:
    done = together(streams, costs=CPU, noise=1.0)
    assert max(gaps(done)) == 0.0


def test_on_a_fast_device_the_first_audio_is_not_held_back() -> None:
    done = together(1, "latency")
    # Prefill 5 ms, two frames of 3.2, and a decode of 3: the 24 ms of sound in it last.
    assert chunks(done)[:2] == [2, 2]
    assert done.listeners[0].first_at == pytest.approx(0.0133, abs=0.0001)


def test_a_chunk_is_never_longer_than_the_ramp_allows_on_a_fast_device() -> None:
    done = Simulation([Client(0.0, speech=40, ramp=(2, 2, 4, 8, 16))]).run()
    assert chunks(done) == [2, 2, 4, 8, 16, 8]


def test_no_decode_of_one_stream_lasts_longer_than_others_should_wait() -> None:
    """Ten frames take 49 ms there, and the sixteen that the ramp ends with 76."""
    done = together(1, costs=CPU)
    assert max(chunks(done)) == 10


def test_streams_far_ahead_hold_no_new_one_back() -> None:
    speaks = {"ramp": RAMPS["balanced"], "silent_frames": 1.0}
    ahead = [Client(0.0, speech=100, **speaks) for _ in range(3)]  # type: ignore[arg-type]
    done = Simulation([*ahead, Client(1.5, speech=60, **speaks)], costs=CPU).run()  # type: ignore[arg-type]
    assert done.listeners[3].first_at == pytest.approx(1.5 + 0.101, abs=0.001)
    assert max(gaps(done)) == 0.0


def test_with_a_short_lead_chunks_stay_small_and_grow_with_it() -> None:
    done = together(4, costs=CPU)
    first = [job.frames for _, job in done.jobs if job.kind is Kind.CODEC and 0 in job.ids.tolist()]
    assert first[1] < 8
    assert max(first) >= 8


def test_leading_silence_does_not_use_up_the_ramp() -> None:
    clients = [Client(arrives=0.0, speech=12, ramp=(1, 2, 4), silent_frames=3)]
    done = Simulation(clients).run()
    assert chunks(done) == [2, 1, 1, 2, 4, 2]


def test_what_was_held_back_leaves_with_the_end() -> None:
    # One audible frame in all: less than the next chunk's time on a slow device.
    done = Simulation([Client(0.0, speech=2, silent_frames=1.5)], costs=CPU, slow=3.0).run()
    [(_, end)] = done.ends
    assert done.listeners[0].heard == pytest.approx(0.5 * 0.08)
    assert end.first_audio is not None


def test_a_device_that_cannot_keep_up_starts_later_and_breaks_off_less() -> None:
    # 1.4 times slower than real time: what the speech will fall behind is held back first.
    slow: Costs = {kind: (5 * a, 5 * b, 5 * c) for kind, (a, b, c) in CPU.items()}
    short = Client(0.0, speech=20, cap=60, silent_frames=TRIMMED)
    done = Simulation([short], costs=slow).run()
    assert max(gaps(done)) == 0.0
    assert done.listeners[0].first_at == pytest.approx(1.6, abs=0.4)


def test_who_comes_after_an_underrun_is_given_more_time() -> None:
    done = Simulation([Client(0.0, speech=60, silent_frames=TRIMMED)], costs=CPU)
    done.run(until=0.5)
    # The machine stands still for three seconds.
    done.now += 3.0
    done.run()
    assert max(gaps(done)) > 1.0
    before, caution = done.listeners[0].first_at, done.scheduler.habits.caution
    assert before is not None
    assert 0.5 < caution <= 1.0
    done.add(Client(done.now, speech=60, silent_frames=TRIMMED))
    again = done.run().listeners[1]
    assert again.first_at is not None
    assert again.first_at - done.clients[1].arrives > before + 0.2
    assert again.worst_gap == 0.0


def test_hundreds_of_streams_are_served_in_time_while_the_device_keeps_up() -> None:
    import random

    dice = random.Random(7)
    clients = [
        Client(arrives=dice.uniform(0, 60), speech=dice.randint(20, 120)) for _ in range(300)
    ]
    settings = SchedulerSettings(slots=64, step_rows=64, codec_rows=64, codec_frames=512)
    done = Simulation(clients, settings, costs=GPU).run()
    assert len(done.ends) == 300
    assert max(gaps(done)) == 0.0
    waits = sorted(
        listener.first_at - clients[number].arrives
        for number, listener in done.listeners.items()
        if listener.first_at is not None
    )
    assert waits[int(0.95 * len(waits))] < 0.1
