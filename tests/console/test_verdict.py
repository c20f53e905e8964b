"""Whether audio is late and why, by hand-made readings."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from django.conf import settings

from ttsapp.alerts.rules import BY_CODE
from ttsapp.console.live.earlier import ELSEWHERE, NOT_KNOWN
from ttsapp.console.live.kept import MINUTES, Past
from ttsapp.console.live.readings import Reading, Wait, away
from ttsapp.console.live.verdict import Heard, Level, Rules, Verdict, judge, judge_own
from ttsapp.speech.history import FirstAudio

RULES = Rules(BY_CODE["first_audio"], BY_CODE["underruns"])
ENGINE = replace(
    away("one"), state="ready", capacity=64, streams=4, lead_low_ms=900, frame_cost=0.001
)
IDLE = Past((5.0,) * MINUTES, (8.0,) * MINUTES)
ON_TIME = Heard(FirstAudio(200, 80, 120, 150), requests=900, gap_free=100.0)


def verdict(engine: Reading = ENGINE, heard: Heard = ON_TIME, *more: Reading) -> Verdict:
    return judge((engine, *more), heard, RULES, {"one": IDLE})


def late(p95: int, gap_free: float = 100.0) -> Heard:
    return Heard(FirstAudio(200, 80, p95, p95), requests=900, gap_free=gap_free)


def test_it_works() -> None:
    assert verdict() == Verdict(
        Level.GOOD,
        "Audio is on time",
        "95 % of 200 answers began within 120 ms in the last 5 minutes; late is from 500 ms on. "
        "100.0 % of the requests of the last hour played without a gap",
        (),
    )


@pytest.mark.parametrize(
    ("heard", "level", "headline"),
    [
        (late(499), Level.GOOD, "Audio is on time"),
        (late(500), Level.WARNING, "Audio is a little late"),
        (late(1500), Level.BAD, "Audio is late"),
        (late(100, gap_free=98.5), Level.WARNING, "Some playback has gaps"),
        (late(100, gap_free=90.0), Level.BAD, "Playback has gaps"),
        (late(1500, gap_free=90.0), Level.BAD, "Audio is late"),
        (Heard(None, 0, None), Level.QUIET, "Nothing was spoken in the last hour"),
        (Heard(None, 3, 100.0), Level.GOOD, "Audio is on time"),
    ],
)
def test_what_listeners_had_decides(heard: Heard, level: Level, headline: str) -> None:
    found = verdict(heard=heard)
    assert (found.level, found.headline) == (level, headline)


@pytest.mark.parametrize(
    ("count", "said"),
    [
        (1, "One answer began within 90 ms in the last 5 minutes"),
        (19, "All of 19 answers began within 90 ms in the last 5 minutes"),
        (20, "95 % of 20 answers began within 80 ms in the last 5 minutes"),
    ],
)
def test_a_few_answers_are_told_by_the_slowest(count: int, said: str) -> None:
    heard = Heard(FirstAudio(count, 50, 80, 90), requests=count, gap_free=None)
    assert verdict(heard=heard).facts.startswith(f"{said}; late is")


def test_without_an_engine_that_serves_nothing_else_counts() -> None:
    found = verdict(away("one"), ON_TIME, replace(ENGINE, id="two", state="draining"))
    assert (found.level, found.headline) == (
        Level.BAD,
        "Nothing can be spoken: no engine serves",
    )
    assert found.reasons == (
        "one does not answer.",
        "two is drained: it takes no new work.",
    )


@pytest.mark.parametrize(
    ("engine", "reason"),
    [
        (
            replace(ENGINE, streams=64, waiting=12),
            "one is full: 64 of 64 streams, and 12 wait for their first audio.",
        ),
        (replace(ENGINE, frame_cost=0.02), "one has no room left: its device is busy 0%."),
        (replace(ENGINE, waiting=2), "At one 2 wait for their first audio."),
        (replace(ENGINE, lead_low_ms=80), "Some listeners of one have only 80 ms in hand."),
    ],
)
def test_an_engine_says_why(engine: Reading, reason: str) -> None:
    assert verdict(engine, late(1500)).reasons == (reason,)


def test_what_no_engine_explains_is_lost_elsewhere() -> None:
    assert verdict(heard=late(600)).reasons == (ELSEWHERE,)
    assert verdict().reasons == ()


def minute(streams: float, busy: float) -> Past:
    """An hour with one that differs."""
    return Past((*IDLE.streams[1:], streams), (*IDLE.busy[1:], busy))


@pytest.mark.parametrize(
    ("engine", "past", "reason"),
    [
        (ENGINE, minute(100.0, 60.0), "one was full within the last hour."),
        (
            ENGINE,
            minute(50.0, 97.4),
            "one had no room left within the last hour: its device was busy 97% of a minute.",
        ),
        (replace(ENGINE, underruns_total=1), IDLE, "one made one chunk late since it started."),
        (
            replace(ENGINE, underruns_total=6700),
            IDLE,
            "one made 6,700 chunks late since it started.",
        ),
    ],
)
def test_an_idle_engine_says_what_it_was(engine: Reading, past: Past, reason: str) -> None:
    assert judge((engine,), late(100, gap_free=90.0), RULES, {"one": past}).reasons == (reason,)


def test_an_hour_that_nobody_noted_is_blamed_on_nothing() -> None:
    assert judge((ENGINE,), late(600), RULES, {}).reasons == (NOT_KNOWN,)


@pytest.mark.parametrize(
    ("heard", "facts"),
    [
        (
            Heard(None, 12, 100 * 11 / 12, span="two hours"),
            "1 of 12 requests of the last two hours had a gap",
        ),
        (
            Heard(FirstAudio(19, 900, 1600, 1700), 19, 100.0),
            "All of 19 answers began within 1,700 ms in the last 5 minutes; late is from 500 ms "
            "on. 100.0 % of the requests of the last hour played without a gap",
        ),
    ],
)
def test_few_requests_are_told_and_not_judged(heard: Heard, facts: str) -> None:
    """As the alerts, which wait for twenty."""
    assert verdict(heard=heard) == Verdict(Level.QUIET, "Too few requests to judge by", facts, ())


def test_few_requests_hide_nothing_of_what_enough_of_others_say() -> None:
    heard = Heard(FirstAudio(200, 80, 1600, 1700), requests=3, gap_free=50.0)
    assert verdict(heard=heard).headline == "Audio is late"


def own(state: str = "ready", takes_streams: bool = True, away: int = 0) -> Verdict:
    return judge_own(state, takes_streams, ON_TIME, RULES, away)


def test_a_tenant_is_told_of_its_own() -> None:
    assert own() == verdict()


def test_a_tenant_is_told_that_nothing_can_be_spoken() -> None:
    found = own("starting", takes_streams=False)
    assert (found.level, found.headline) == (Level.BAD, "Nothing can be spoken now")
    assert found.reasons[0].startswith("The engine is starting: requests that need it are")


def test_a_tenant_is_told_that_one_model_is_missing() -> None:
    found = own("draining")
    assert (found.level, found.headline) == (
        Level.WARNING,
        "Not every model can be spoken with now",
    )


@pytest.mark.parametrize(
    ("away", "reason"),
    [
        (1, "One request was turned away by a limit of yours (429) in the last hour."),
        (1200, "1,200 requests were turned away by a limit of yours (429) in the last hour."),
    ],
)
def test_a_tenant_is_told_of_its_limits(away: int, reason: str) -> None:
    assert own(away=away).reasons == (reason,)


@pytest.mark.parametrize("level", Level)
def test_no_level_is_another_parts_class(level: Level) -> None:
    """The card would look like that."""
    css = Path(settings.BASE_DIR, "ttsapp/console/static/console/console.css").read_text("utf-8")
    assert not re.search(rf"^\.{level.value}\b", css, re.MULTILINE)


@pytest.mark.parametrize(
    ("p95", "told"),
    [
        (199.0, False),
        (1234.0, True),
    ],
)
def test_audio_that_is_late_is_late_somewhere(p95: float, told: bool) -> None:
    waits = (Wait("place", 0, None, None), Wait("talker", 9, 1.0, 50.0), Wait("codec", 9, 1.0, p95))
    where = "At one, a stream in 20 stood 1,234 ms or more between predictor and codec lately."
    found = verdict(replace(ENGINE, waits=waits), late(1500))
    assert (where in found.reasons) is told


def test_nobody_asks_where_time_is_lost_while_audio_is_on_time() -> None:
    waits = (Wait("codec", 9, 1.0, 1234.0),)
    assert verdict(replace(ENGINE, waits=waits)).reasons == ()
