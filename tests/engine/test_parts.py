"""The small parts: leading silence, mailboxes, messages, metrics."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, generate_latest

from gpu_engine import messages as m
from gpu_engine.audio import LeadingSilence, QuietRun, to_pcm16, window_rms
from gpu_engine.errors import EngineFull
from gpu_engine.proto import engine_pb2 as pb
from gpu_engine.scheduler.waits import Minute
from gpu_engine.server.link import SENT, Link, Mailbox
from gpu_engine.server.metrics import Metrics, StatusCollector

LOUD = np.full(240, 0.5, np.float32) * np.tile([1, -1], 120).astype(np.float32)
QUIET = np.zeros(240, np.float32)


def windows(pattern: str) -> np.ndarray:
    """`.` is 10 ms of silence, `#` 10 ms of sound."""
    return np.concatenate([QUIET if mark == "." else LOUD for mark in pattern])


def test_silence_goes_and_twenty_milliseconds_before_the_onset_stay() -> None:
    silence = LeadingSilence()
    assert len(silence.push(windows("........"))) == 0
    heard = silence.push(windows("....##.."))
    assert len(heard) == 6 * 240
    assert silence.trimmed == 10 * 240
    assert len(silence.push(windows("........"))) == 8 * 240


def test_an_onset_at_once_loses_nothing() -> None:
    silence = LeadingSilence()
    assert len(silence.push(windows("#......."))) == 8 * 240
    assert silence.trimmed == 0


def test_no_more_than_a_second_is_removed() -> None:
    silence = LeadingSilence()
    heard = sum(len(silence.push(windows("........"))) for _ in range(20))
    assert heard + silence.trimmed == 20 * 1920
    assert silence.trimmed == 24_000


@given(st.text(st.sampled_from(".#"), min_size=1, max_size=60), st.integers(1, 9))
def test_every_sample_is_delivered_or_counted(pattern: str, step: int) -> None:
    silence, audio = LeadingSilence(), windows(pattern)
    pieces = [silence.push(audio[at : at + step * 240]) for at in range(0, len(audio), step * 240)]
    heard = np.concatenate(pieces)
    kept = 0 if silence.open else len(audio) - silence.trimmed
    assert len(heard) + silence.trimmed + kept == len(audio)
    assert np.array_equal(heard, audio[len(audio) - len(heard) :])


def test_a_run_of_quiet_is_counted_from_the_last_sound() -> None:
    run = QuietRun()
    assert [run.push(windows(part)) // 240 for part in ("#...", "....", ".#..", "#")] == [
        3,
        7,
        2,
        0,
    ]


def test_level_and_sixteen_bits() -> None:
    assert window_rms(windows(".#"), 240).tolist() == pytest.approx([0.0, 0.5])
    assert to_pcm16(np.array([0.0, 1.0, -1.0, 2.0], np.float32)) == b"\0\0\xff\x7f\1\x80\xff\x7f"


async def test_a_mailbox_takes_nothing_after_the_end() -> None:
    mailbox = Mailbox(unread_limit=100)
    failed = m.StreamFailed(1, "engine_restarted", "gone")
    assert mailbox.put(m.AudioChunk(1, b"ab", 0))
    assert mailbox.put(failed)
    assert mailbox.put(m.AudioChunk(1, b"cd", 1))
    assert [await mailbox.get(), await mailbox.get()] == [m.AudioChunk(1, b"ab", 0), failed]
    assert mailbox.closed


async def test_a_mailbox_says_when_its_reader_has_fallen_behind() -> None:
    mailbox = Mailbox(unread_limit=4)
    assert mailbox.put(m.AudioChunk(1, b"abcd", 0))
    assert not mailbox.put(m.AudioChunk(1, b"e", 2))
    await mailbox.get()
    assert mailbox.put(m.AudioChunk(1, b"fg", 3))


async def test_a_mailbox_tells_how_long_audio_was_on_its_way() -> None:
    sent = Minute((SENT,))
    mailbox = Mailbox(100, sent)
    mailbox.put(m.AudioChunk(1, b"ab", 0, decoded=time.monotonic() - 5))
    mailbox.put(m.StreamAccepted(1, 0))
    await mailbox.get()
    await mailbox.get()
    told = sent.told(time.monotonic())[SENT]
    assert told.rows == 1
    assert told.median >= 4.5


@pytest.mark.parametrize(
    "message",
    [
        m.CancelStream(3),
        m.Extend(3, (1, 2), 2, True, 90),
        m.EncodeClip(4, b"\0" * 8, True),
    ],
)
def test_messages_to_the_core_survive_the_wire(message: m.ToCore) -> None:
    assert m.decode_to_core(m.encode(message)) == message


def test_a_message_in_the_wrong_direction_fails_loudly() -> None:
    with pytest.raises(msgspec.ValidationError):
        m.decode_to_core(m.encode(m.StreamAccepted(1, 5)))


def test_metrics_tell_ends_audio_and_state() -> None:
    metrics = Metrics()
    metrics.count(pb.SynthesizeEvent(audio=pb.Audio(pcm=b"\0" * 48_000)))
    finished = pb.Finished(reason=pb.FINISH_REASON_STOP, samples=24_000, first_audio_ms=40)
    finished.first_audible_ms = 60
    metrics.count(pb.SynthesizeEvent(finished=finished))
    metrics.count(pb.SynthesizeEvent(error=pb.Error(code="engine_full")))
    status = pb.EngineStatus(state=pb.EngineStatus.STATE_READY, streams=3)
    metrics.registry.register(StatusCollector(lambda: status))
    lines = generate_latest(metrics.registry).decode().splitlines()
    assert 'parlance_engine_streams_ended_total{how="stop"} 1.0' in lines
    assert 'parlance_engine_streams_ended_total{how="engine_full"} 1.0' in lines
    assert "parlance_engine_audio_seconds_total 1.0" in lines
    assert "parlance_engine_ready 1.0" in lines
    assert "parlance_engine_first_audio_seconds_sum 0.04" in lines
    assert "parlance_engine_first_audible_seconds_sum 0.06" in lines
    assert "parlance_engine_streams 3.0" in lines


def test_metrics_tell_hits_misses_evictions_and_residency_of_every_cache() -> None:
    registry, status = CollectorRegistry(), pb.EngineStatus()
    known = {"hits": 5, "misses": 4, "evictions": 3, "entries": 2, "bytes": 700, "most_bytes": 900}
    for n, name in enumerate(("speakers", "references", "beginnings")):
        told = {field: value + n for field, value in known.items()}
        status.caches[name].CopyFrom(pb.CacheStatus(**told))
    registry.register(StatusCollector(lambda: status))
    for n, name in enumerate(("speakers", "references", "beginnings")):
        found = {
            field: registry.get_sample_value(
                f"parlance_engine_cache_{field}{total}", {"cache": name}
            )
            for field, total in zip(known, ("_total", "_total", "_total", "", "", ""), strict=True)
        }
        assert found == {field: value + n for field, value in known.items()}


def test_metrics_tell_waits_and_what_memory_is_for() -> None:
    registry, status = CollectorRegistry(), pb.EngineStatus()
    status.waits["codec"].CopyFrom(pb.WaitStatus(rows=3, median_ms=2.0, p95_ms=40.0))
    status.waits["sent"].CopyFrom(pb.WaitStatus(rows=0))
    status.memory.parts.update({"weights": 700, "kv": 300})
    status.memory.free_bytes = 900
    registry.register(StatusCollector(lambda: status))

    def told(name: str, **labels: str) -> float | None:
        return registry.get_sample_value(f"parlance_engine_{name}", labels)

    assert told("wait_seconds", before="codec", quantile="0.5") == 0.002
    assert told("wait_seconds", before="codec", quantile="0.95") == 0.04
    assert told("wait_seconds", before="sent", quantile="0.95") is None
    assert told("memory_part_bytes", part="weights") == 700
    assert told("memory_free_bytes") == 900


async def test_voices_to_encode_do_not_pile_up(tmp_path: Path) -> None:
    link = Link(f"ipc://{tmp_path}/core", unread_seconds=1)
    waiting = [asyncio.create_task(link.encode(b"")) for _ in range(8)]
    await asyncio.sleep(0)
    with pytest.raises(EngineFull):
        await link.encode(b"")
    link.fail_all("engine_restarted", "gone")
    ended = await asyncio.gather(*waiting, return_exceptions=True)
    assert [str(error) for error in ended] == ["gone"] * 8
    link.shut()
    link.tell(m.CancelStream(1))
