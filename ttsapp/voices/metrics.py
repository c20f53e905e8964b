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
        now, process = self._counted.counters(), [str(os.getpid())]
        for family, name, what, value in (
            (CounterMetricFamily, "hits", "Voices found in memory", now.hits),
            (CounterMetricFamily, "misses", "Voices read from the store", now.misses),
            (CounterMetricFamily, "evictions", "Voices that made room for others", now.evictions),
            (GaugeMetricFamily, "entries", "Voices in memory", now.entries),
            (GaugeMetricFamily, "bytes", "Memory that they take", now.nbytes),
            (GaugeMetricFamily, "most_bytes", "Memory that they may take", now.most),
        ):
            metric = family(f"parlance_voice_cache_{name}", what, labels=_LABELS)
            metric.add_metric(process, value)
            yield metric


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
