"""What each web process keeps of voices, as Prometheus reads it.

Several processes behind one address answer in turn: each says which one it is."""

from __future__ import annotations

import hmac
import os
from collections.abc import Iterator

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from ttsapp.errors import ApiError
from ttsapp.http import error_response
from ttsapp.voices.artifacts import ArtifactCache, cache

_LABELS = ["process"]


class CacheMetrics(Collector):
    def __init__(self, counted: ArtifactCache) -> None:
        self._counted = counted

    def collect(self) -> Iterator[Metric]:
        counters, process = self._counted.counters(), [str(os.getpid())]
        for name, what, value in (
            ("hits", "Voices found in memory", counters.hits),
            ("misses", "Voices read from the store", counters.misses),
            ("evictions", "Voices that made room for others", counters.evictions),
        ):
            counter = CounterMetricFamily(f"parlance_voice_cache_{name}", what, labels=_LABELS)
            counter.add_metric(process, value)
            yield counter
        for name, what, value in (
            ("entries", "Voices in memory", counters.entries),
            ("bytes", "Memory that they take", counters.nbytes),
            ("most_bytes", "Memory that they may take", counters.most),
        ):
            gauge = GaugeMetricFamily(f"parlance_voice_cache_{name}", what, labels=_LABELS)
            gauge.add_metric(process, value)
            yield gauge


_registry = CollectorRegistry()
_registry.register(CacheMetrics(cache))


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Only where the installation has a token for it, and for who has that."""
    if not settings.METRICS_TOKEN:
        raise Http404
    sent, right = request.headers.get("Authorization", ""), f"Bearer {settings.METRICS_TOKEN}"
    if not hmac.compare_digest(sent.encode(), right.encode()):
        message = "Send PARLANCE_METRICS_TOKEN as: Authorization: Bearer TOKEN"
        return error_response(ApiError(401, "invalid_api_key", message))
    return HttpResponse(generate_latest(_registry), content_type=CONTENT_TYPE_LATEST)
