"""`/v1/usage/character-stats`: from the account's own usage events alone."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from billing import statistics
from ttsapp.dialects.elevenlabs.query import Query
from ttsapp.errors import invalid
from ttsapp.speech import heard

KNOWN = (
    *("start_unix", "end_unix", "breakdown_type", "aggregation_interval", "metric"),
    "include_workspace_metrics",
)
_MOST_POINTS = 2000
_BREAKDOWNS = {"none": "none", "voice": "voice", "model": "model", "api_keys": "key"}
# What is counted, and how many of it are one of the metric's own units.
_METRICS = {
    "credits": ("characters", 1),
    "tts_characters": ("characters", 1),
    "request_count": ("requests", 1),
    "minutes_used": ("audio_ms", 60_000),
}
# Of the request log, not of what is charged.
_WAIT = "ttfb_avg"


def character_stats(tenant_id: int, query: Query) -> dict[str, Any]:
    """Milliseconds in, milliseconds out, as ElevenLabs has it. Raises ApiError 400."""
    since, until = query.moment("start_unix", 1), query.moment("end_unix", 1)
    if since is None or until is None:
        name = "start_unix" if since is None else "end_unix"
        raise invalid(f"The parameter {name} is required: add it.", name, "missing_field")
    if until <= since:
        raise invalid("end_unix has to be later than start_unix.", "end_unix")
    interval = query.choice("aggregation_interval", statistics.INTERVALS, "day")
    metric = query.choice("metric", (*_METRICS, _WAIT), "credits")
    breakdown = _BREAKDOWNS[query.choice("breakdown_type", tuple(_BREAKDOWNS), "none")]
    starts = statistics.axis(since, until, interval, _MOST_POINTS)
    if len(starts) > _MOST_POINTS:
        message = f"That is more than {_MOST_POINTS} points: choose a longer interval."
        raise invalid(message, "aggregation_interval")
    if metric == _WAIT:
        if breakdown != "none":
            raise invalid(f"{_WAIT} is not broken down: leave it out.", "breakdown_type")
        waits = heard.average_waits(tenant_id, since, until, interval)
        return _document(starts, {statistics.EVERYTHING: [waits.get(one, 0.0) for one in starts]})
    measure, unit = _METRICS[metric]
    found = statistics.statistics(tenant_id, starts, until, interval, measure, breakdown)
    usage = {name: [value / unit for value in values] for name, values in found.values.items()}
    return _document(found.starts, usage)


def _document(starts: list[datetime], usage: dict[str, list[float]]) -> dict[str, Any]:
    return {"time": [int(start.timestamp() * 1000) for start in starts], "usage": usage}
