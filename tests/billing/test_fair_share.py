"""One tenant's burst beside another's speech, in simulated time."""

from __future__ import annotations

from functools import cache

import pytest

from tests.billing.fair_share import DEVICES, Heard, listen, together

A_TENTH = 1.1
SEEDS = {"cpu": (0, 1, 2), "c-kernels": (0, 1, 2), "h200": (0,)}


@cache
def beside(device: str, burst: int) -> Heard:
    """Bob's listeners beside so many streams of Alice's, of all seeds."""
    return together([listen(DEVICES[device], burst, seed) for seed in SEEDS[device]])


def first_audio_ms(device: str, burst: int) -> tuple[float, float]:
    """Median and p95 of Bob's."""
    heard = beside(device, burst)
    return 1000 * heard.percentile(0.5), 1000 * heard.percentile(0.95)


@pytest.mark.parametrize(
    ("device", "burst", "p50", "p95"),
    [
        ("cpu", 0, 74.9, 162.3),
        ("cpu", 5, 86.6, 118.6),
        ("cpu", 50, 88.1, 125.4),
        ("c-kernels", 0, 41.0, 71.8),
        ("c-kernels", 5, 45.4, 58.6),
        ("c-kernels", 50, 45.9, 61.6),
        ("h200", 0, 8.8, 11.7),
        ("h200", 5, 10.3, 11.3),
        ("h200", 50, 10.7, 11.8),
    ],
)
def test_bobs_first_audio_is_what_it_was(device: str, burst: int, p50: float, p95: float) -> None:
    assert first_audio_ms(device, burst) == pytest.approx((p50, p95), abs=0.1)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("burst", [5, 50])
def test_a_burst_raises_anothers_first_audio_by_a_tenth_at_most(device: str, burst: int) -> None:
    alone, found = (beside(device, count) for count in (0, burst))
    assert len(found.first_audio) == len(alone.first_audio)
    assert found.percentile(0.95) <= A_TENTH * alone.percentile(0.95)
    assert found.bobs_dry == 0


def test_a_burst_is_served_all_the_same() -> None:
    """A frame a stream takes 80 ms to play: what Bob leaves of the device is five streams' time."""
    assert beside("c-kernels", 50).alices_rate > 5 / 0.08
