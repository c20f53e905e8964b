"""What a web process tells Prometheus of the voices that it keeps."""

from __future__ import annotations

import os

import pytest
from django.conf import LazySettings
from django.test import Client
from prometheus_client import CollectorRegistry

from ttsapp.voices.artifacts import ArtifactCache
from ttsapp.voices.metrics import CacheMetrics

TOKEN = "a-long-random-token-of-a-monitor-0123456789"


@pytest.fixture
def told(settings: LazySettings) -> Client:
    settings.METRICS_TOKEN = TOKEN
    return Client()


def test_it_works(told: Client) -> None:
    page = told.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    assert page.status_code == 200
    assert f'parlance_voice_cache_hits_total{{process="{os.getpid()}"}}' in page.content.decode()


def test_hits_misses_evictions_and_residency_are_told() -> None:
    cache, registry = ArtifactCache(most=10), CollectorRegistry()
    registry.register(CacheMetrics(cache))
    cache.put("a", b"123456")
    cache.put("b", b"1234567")
    found = [cache.get(name) for name in ("a", "b", "b")]

    labels = {"process": str(os.getpid())}
    values = {
        name: registry.get_sample_value(f"parlance_voice_cache_{name}", labels)
        for name in ("hits_total", "misses_total", "evictions_total", "entries", "bytes")
    }
    assert found == [None, b"1234567", b"1234567"]
    assert values == {
        "hits_total": 2,
        "misses_total": 1,
        "evictions_total": 1,
        "entries": 1,
        "bytes": 7,
    }


def test_without_a_token_of_the_installation_there_is_no_such_page(settings: LazySettings) -> None:
    settings.METRICS_TOKEN = ""
    page = Client().get("/metrics", headers={"Authorization": "Bearer "})
    assert page.status_code == 404


@pytest.mark.parametrize("sent", ["", "Bearer ", f"Bearer {TOKEN[:-1]}", TOKEN, "Bearer ü"])
def test_without_the_right_one_nothing_is_told(told: Client, sent: str) -> None:
    page = told.get("/metrics", headers={"Authorization": sent})
    assert page.status_code == 401
    assert b"parlance_voice_cache" not in page.content
    assert "PARLANCE_METRICS_TOKEN" in page.content.decode()
