"""Whether audio is late, and why: one sentence and its reasons."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from ttsapp.alerts.measures import FEWEST_REQUESTS
from ttsapp.alerts.models import State
from ttsapp.alerts.rules import Rule
from ttsapp.console.live import earlier
from ttsapp.console.live.kept import Past
from ttsapp.console.live.readings import BETWEEN, Reading
from ttsapp.speech.history import FirstAudio

READY = "ready"
# Beyond this share of the device's time no frame is made in time for long.
BUSY, THIN_LEAD_MS, LONG_WAIT_MS = 0.95, 200, 200
# Shares and percentiles of fewer say nothing, as the alerts have it.
FEW = FEWEST_REQUESTS
NOT_READY = {
    "away": "does not answer",
    "down": "is down",
    "draining": "is drained: it takes no new work",
    "starting": "is still starting",
    "suspect": "may hang: its core says nothing",
}


class Level(StrEnum):
    """As the page colours it."""

    QUIET = "quiet"
    GOOD = "good"
    WARNING = "warning"
    BAD = "bad"


LEVELS = {State.ALERT: Level.BAD, State.WARNING: Level.WARNING}


@dataclass(frozen=True, slots=True)
class Rules:
    """The alerts' own, with an operator's thresholds: of first audio, and of gaps."""

    late: Rule
    gaps: Rule


@dataclass(frozen=True, slots=True)
class Heard:
    """What listeners had: `first` over the `window`, `requests` and the share of them that played
    without a gap, in per cent, over the last `span`."""

    first: FirstAudio | None
    requests: int
    gap_free: float | None
    window: str = "the last 5 minutes"
    span: str = "hour"


@dataclass(frozen=True, slots=True)
class Verdict:
    level: Level
    headline: str
    facts: str
    reasons: tuple[str, ...]


def judge(
    engines: Sequence[Reading], heard: Heard, rules: Rules, past: Mapping[str, Past]
) -> Verdict:
    """`past`: each engine's last hour, for what it no longer shows."""
    level, headline = _headline(engines, heard, rules)
    reasons = tuple(_reasons(engines))
    if level in (Level.BAD, Level.WARNING):
        reasons = (*reasons, *_where(engines)) or earlier.reasons(engines, past)
    return Verdict(level, headline, _facts(heard, rules.late), reasons)


def judge_own(state: str, takes_streams: bool, heard: Heard, rules: Rules, away: int) -> Verdict:
    """For a tenant, who is told nothing of the engines' load. `state`: of the engines together;
    `away`: how many of its requests were turned away by a limit in the last hour."""
    level, headline = _of_listeners(heard, rules)
    if state != READY and not takes_streams:
        level, headline = Level.BAD, "Nothing can be spoken now"
    elif state != READY:
        level, headline = (
            level if level is Level.BAD else Level.WARNING,
            "Not every model can be spoken with now",
        )
    return Verdict(level, headline, _facts(heard, rules.late), tuple(_own_reasons(state, away)))


def _own_reasons(state: str, away: int) -> Iterator[str]:
    if state != READY:
        yield (
            f"The engine is {state}: requests that need it are answered with 503 and Retry-After "
            "until it is back; nothing needs to be restarted by you."
        )
    if away:
        some = "One request was" if away == 1 else f"{away:,} requests were"
        yield f"{some} turned away by a limit of yours (429) in the last hour."


def _headline(engines: Sequence[Reading], heard: Heard, rules: Rules) -> tuple[Level, str]:
    if not any(engine.state == READY for engine in engines):
        return Level.BAD, "Nothing can be spoken: no engine serves"
    return _of_listeners(heard, rules)


def _of_listeners(heard: Heard, rules: Rules) -> tuple[Level, str]:
    is_late = LEVELS.get(rules.late.state(heard.first.p95)) if heard.first else None
    has_gaps = LEVELS.get(rules.gaps.state(_gaps(heard)))
    is_late, few_late = _unless_few(is_late, heard.first.count if heard.first else 0)
    has_gaps, few_gaps = _unless_few(has_gaps, heard.requests)
    if Level.BAD in (is_late, has_gaps):
        return Level.BAD, "Audio is late" if is_late is Level.BAD else "Playback has gaps"
    if is_late or has_gaps:
        return Level.WARNING, "Audio is a little late" if is_late else "Some playback has gaps"
    if few_late or few_gaps:
        return Level.QUIET, "Too few requests to judge by"
    if not heard.requests:
        return Level.QUIET, f"Nothing was spoken in the last {heard.span}"
    return Level.GOOD, "Audio is on time"


def _unless_few(level: Level | None, count: int) -> tuple[Level | None, bool]:
    """What of the level counts, and whether it would with more of them."""
    return (None, level is not None) if count < FEW else (level, False)


def _gaps(heard: Heard) -> float | None:
    return None if heard.gap_free is None else 100 - heard.gap_free


def _facts(heard: Heard, late: Rule) -> str:
    told = []
    if heard.first:
        told.append(f"{_began(heard.first)} in {heard.window}; late is from {late.warns_from} on")
    if heard.gap_free is not None:
        told.append(_played(heard.requests, heard.gap_free, heard.span))
    return ". ".join(told)


def _played(requests: int, gap_free: float, span: str) -> str:
    if requests < FEW and gap_free < 100:
        gaps = round(requests * (100 - gap_free) / 100)
        return f"{gaps} of {requests} requests of the last {span} had a gap"
    return f"{gap_free:.1f} % of the requests of the last {span} played without a gap"


def _began(first: FirstAudio) -> str:
    """Of so few the slowest is what counts."""
    if first.count < FEW:
        answers = "One answer" if first.count == 1 else f"All of {first.count} answers"
        return f"{answers} began within {first.p99:,} ms"
    return f"95 % of {first.count:,} answers began within {first.p95:,} ms"


def _where(engines: Sequence[Reading]) -> Iterator[str]:
    """In which hand-over of each engine most time is lost, where that is much."""
    for engine in engines:
        longest = max(engine.waits, key=lambda wait: wait.p95_ms or 0.0, default=None)
        if longest is not None and (lost := longest.p95_ms or 0.0) >= LONG_WAIT_MS:
            passed = " and ".join(BETWEEN.get(longest.before, ("all else", longest.before)))
            stood = f"a stream in 20 stood {lost:,.0f} ms or more"
            yield f"At {engine.id}, {stood} between {passed} lately."


def _reasons(engines: Sequence[Reading]) -> Iterator[str]:
    for engine in engines:
        if engine.state != READY:
            yield f"{engine.id} {NOT_READY.get(engine.state, f'is {engine.state}')}."
            continue
        wait = f", and {engine.waiting:,} wait for their first audio" if engine.waiting else ""
        if engine.streams >= engine.capacity > 0:
            yield f"{engine.id} is full: {engine.streams:,} of {engine.capacity:,} streams{wait}."
        elif engine.busy >= BUSY or engine.fits == 0:
            yield f"{engine.id} has no room left: its device is busy {engine.busy:.0%}{wait}."
        elif engine.waiting:
            yield f"At {engine.id} {engine.waiting:,} wait for their first audio."
        if engine.streams and engine.lead_low_ms < THIN_LEAD_MS:
            yield f"Some listeners of {engine.id} have only {engine.lead_low_ms:,} ms in hand."
