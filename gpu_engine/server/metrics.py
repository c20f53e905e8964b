"""Every metric of an engine, in one place, read by Prometheus from --metrics-port."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from prometheus_client import CollectorRegistry, Counter, Histogram, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from gpu_engine.config import SAMPLE_RATE
from gpu_engine.proto import engine_pb2 as pb

FIRST_AUDIO_BUCKETS = (0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.25, 0.5, 1.0, 2.5, 5.0)


class Metrics:
    """Counts what leaves the front; the core's own numbers are read from its status."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._ended = Counter(
            "parlance_engine_streams_ended",
            "Streams by finish reason or error code",
            ["how"],
            registry=self.registry,
        )
        self._audio = Counter(
            "parlance_engine_audio_seconds", "Audio handed out", registry=self.registry
        )
        self._first_audio = Histogram(
            "parlance_engine_first_audio_seconds",
            "Start received to first chunk handed out",
            buckets=FIRST_AUDIO_BUCKETS,
            registry=self.registry,
        )
        self._first_audible = Histogram(
            "parlance_engine_first_audible_seconds",
            "Start received to first audible sample, as an unbuffered player reaches it",
            buckets=FIRST_AUDIO_BUCKETS,
            registry=self.registry,
        )

    def count(self, event: pb.SynthesizeEvent) -> None:
        match event.WhichOneof("event"):
            case "audio":
                self._audio.inc(len(event.audio.pcm) / 2 / SAMPLE_RATE)
            case "finished":
                reason = pb.FinishReason.Name(event.finished.reason)
                self._ended.labels(reason.removeprefix("FINISH_REASON_").lower()).inc()
                if event.finished.samples:
                    self._first_audio.observe(event.finished.first_audio_ms / 1000)
                if event.finished.first_audible_ms:
                    self._first_audible.observe(event.finished.first_audible_ms / 1000)
            case "error":
                self._ended.labels(event.error.code).inc()

    def serve(self, port: int, status: Callable[[], pb.EngineStatus]) -> None:
        """On every address of this machine, from a thread of its own."""
        self.registry.register(StatusCollector(status))
        start_http_server(port, registry=self.registry)


class StatusCollector(Collector):
    """The engine's status as gauges and counters, made when they are read."""

    def __init__(self, status: Callable[[], pb.EngineStatus]) -> None:
        self._status = status

    def collect(self) -> Iterator[Metric]:
        status = self._status()
        gauges = {
            "streams": ("Streams in the engine", status.streams),
            "waiting_first_audio": ("Streams without audio yet", status.waiting_first_audio),
            "capacity": ("Most concurrent streams", status.capacity),
            "memory_bytes": ("Most memory the core has held", status.memory_bytes),
            "ready": ("1 while synthesis is possible", status.state == pb.EngineStatus.STATE_READY),
        }
        for name, (text, value) in gauges.items():
            yield GaugeMetricFamily(f"parlance_engine_{name}", text, value=value)
        counters = {
            "frames": ("Frames generated", status.frames_total),
            "underruns": ("Chunks later than the playback clock", status.underruns_total),
            "core_restarts": ("Times the core died", status.core_restarts),
        }
        for name, (text, value) in counters.items():
            yield CounterMetricFamily(f"parlance_engine_{name}", text, value=value)
        busy = CounterMetricFamily(
            "parlance_engine_busy_seconds", "Device time by module", labels=["module"]
        )
        for module, counters_of in status.modules.items():
            busy.add_metric([module], counters_of.busy_seconds)
        yield busy
        yield from _caches(status)
        yield from _memory(status.memory)
        yield _waits(status)


def _memory(memory: pb.MemoryStatus) -> Iterator[Metric]:
    text = "What the core holds now, by what it is for"
    parts = GaugeMetricFamily("parlance_engine_memory_part_bytes", text, labels=["part"])
    for name, count in memory.parts.items():
        parts.add_metric([name], count)
    yield parts
    text = "Free on the engine's device, or in its machine or container"
    yield GaugeMetricFamily("parlance_engine_memory_free_bytes", text, value=memory.free_bytes)


def _waits(status: pb.EngineStatus) -> Metric:
    text = "What rows waited before a module in the last minute; none where nobody came by"
    told = GaugeMetricFamily("parlance_engine_wait_seconds", text, labels=["before", "quantile"])
    for name, wait in status.waits.items():
        if wait.rows:
            told.add_metric([name, "0.5"], wait.median_ms / 1000)
            told.add_metric([name, "0.95"], wait.p95_ms / 1000)
    return told


def _caches(status: pb.EngineStatus) -> Iterator[Metric]:
    """What the core keeps on its device, by cache."""
    gauges = {"bytes": "Bytes kept", "most_bytes": "Bytes that may be", "entries": "Things kept"}
    for field, text in gauges.items():
        gauge = GaugeMetricFamily(f"parlance_engine_cache_{field}", text, labels=["cache"])
        for name, cache in status.caches.items():
            gauge.add_metric([name], getattr(cache, field))
        yield gauge
    counts = {"hits": "Found", "misses": "Made", "evictions": "Given up for others"}
    for field, text in counts.items():
        counter = CounterMetricFamily(f"parlance_engine_cache_{field}", text, labels=["cache"])
        for name, cache in status.caches.items():
            counter.add_metric([name], getattr(cache, field))
        yield counter
