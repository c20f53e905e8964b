"""One tenant's burst beside another's steady speech, on the scheduler's pretend GPU."""

from __future__ import annotations

from tests.billing.fair_share import first_audio, percentile


def test_a_burst_within_its_tenants_streams_leaves_anothers_first_audio_alone() -> None:
    """Half as much again at p95: jobs are never cut short, so a stream that joins is felt."""
    alone, beside = first_audio(0), first_audio(10)
    assert percentile(beside, 0.5) <= 1.1 * percentile(alone, 0.5)
    assert percentile(beside, 0.95) <= 1.5 * percentile(alone, 0.95)
