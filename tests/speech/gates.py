"""The gates that a checkpoint is held to, and which of them hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.speech.report import Clip, rate, shared, summary

UNKNOWN = "-"
FEWEST = 40  # clips: a gate is not judged by fewer


@dataclass(frozen=True)
class Gate:
    """`holds` is None where nothing was measured, and `note` says why."""

    name: str
    wanted: str
    measured: str
    holds: bool | None
    note: str = ""


def percent(value: float) -> str:
    return f"{100 * value:.1f} %"


def at_most(name: str, limit: float, value: float | None, note: str = "") -> Gate:
    return _gate(name, f"≤ {percent(limit)}", value, limit, percent, value_at_most=True, note=note)


def at_least(name: str, limit: float, value: float | None, note: str = "") -> Gate:
    return _gate(
        name, f"≥ {limit:g}", value, limit, "{:.3f}".format, value_at_most=False, note=note
    )


def _gate(
    name: str,
    wanted: str,
    value: float | None,
    limit: float,
    shown: Any,
    *,
    value_at_most: bool,
    note: str,
) -> Gate:
    if value is None:
        return Gate(name, wanted, UNKNOWN, None, note)
    holds = value <= limit if value_at_most else value >= limit
    return Gate(name, wanted, shown(value), holds, note)


def gates(
    conditions: dict[str, list[Clip]],
    cloning: dict[str, Any] | None,
    speed: dict[str, Any] | None,
    local: dict[str, Any] | None,
    described: dict[str, Any] | None = None,
) -> list[Gate]:
    """`speed` is of tests/speech/speed.py, `local` of `make bench-local`, which measures the whole
    product on an idle machine and so says when the first audio comes; `described` of `train
    evaluate --told` with a VoiceDesign checkpoint."""
    sums = {name: summary(clips) for name, clips in conditions.items()}
    full = sums["full"]
    wrong = full["wrong_length"] / full["clips"] if full["clips"] else None
    return [
        *_of_codec(conditions, sums),
        at_most("word errors, one clip at a time", 0.08, full["wer"]),
        at_least("quality (DNSMOS overall)", 3.0, full["dnsmos"]),
        at_most("clips of a wrong length", 0.005, wrong),
        _of_layouts(conditions),
        *_of_clones(cloning),
        _of_descriptions(described),
        _of_speed(speed),
        _of_first_audio(local),
    ]


def _of_codec(conditions: dict[str, list[Clip]], sums: dict[str, dict[str, Any]]) -> list[Gate]:
    name = "codec alone: word errors"
    if not conditions["codec"]:
        why = "needs the teacher's speech"
        return [
            Gate(name, "≤ teacher + 3 points", UNKNOWN, None, why),
            at_least("codec alone: DNSMOS overall", 3.0, None, why),
        ]
    same = shared(conditions, "teacher", "codec")
    teacher, codec = rate(same["teacher"]) or 0.0, rate(same["codec"]) or 0.0
    return [
        Gate(
            name,
            f"≤ {percent(teacher + 0.03)}",
            percent(codec),
            codec <= teacher + 0.03 if _are_enough(same["codec"]) else None,
            f"the teacher's own {percent(teacher)}, {len(same['codec'])} clips",
        ),
        at_least(
            "codec alone: DNSMOS overall",
            3.0,
            sums["codec"]["dnsmos"],
            f"the teacher's own {sums['teacher']['dnsmos']:.2f}"
            if sums["teacher"]["dnsmos"]
            else "",
        ),
    ]


def _are_enough(clips: list[Clip]) -> bool:
    return len(clips) >= FEWEST


def _of_layouts(conditions: dict[str, list[Clip]]) -> Gate:
    name, wanted = "layouts apart, word errors", "≤ 2 points"
    same = shared(conditions, "full", "streaming")
    if not same["full"]:
        return Gate(name, wanted, UNKNOWN, None)
    full, streaming = rate(same["full"]) or 0.0, rate(same["streaming"]) or 0.0
    note = f"full {percent(full)}, streaming {percent(streaming)}, {len(same['full'])} clips each"
    apart = abs(full - streaming)
    return Gate(
        name,
        wanted,
        f"{100 * apart:.1f} points",
        apart <= 0.02 if _are_enough(same["full"]) else None,
        note,
    )


def _of_descriptions(described: dict[str, Any] | None) -> Gate:
    """Both right in one trial."""
    name, wanted = "described sex and tempo right", "≥ 90 %"
    if described is None:
        return Gate(name, wanted, UNKNOWN, None, "no VoiceDesign checkpoint was asked")
    right, sex, tempo = (described[f"{each}_right"] for each in ("all", "sex", "tempo"))
    note = f"{described['trials']} trials: sex {percent(sex)}, tempo {percent(tempo)}"
    return Gate(name, wanted, percent(right), right >= 0.9, note)


def _of_clones(cloning: dict[str, Any] | None) -> list[Gate]:
    figures = (cloning or {}).get("resemblyzer", {})
    note = "" if cloning is None else f"{cloning['trials']} trials, Resemblyzer"
    share = figures.get("own_speaker_share")
    return [
        at_least("clones: likeness to their reference", 0.75, figures.get("own"), note),
        Gate(
            "clones nearest to their own reference",
            "≥ 95 %",
            UNKNOWN if share is None else percent(share),
            None if share is None else share >= 0.95,
            note,
        ),
    ]


def _of_speed(speed: dict[str, Any] | None) -> Gate:
    name, wanted = "real-time factor, one core", "≤ 0.4"
    if speed is None:
        return Gate(name, wanted, UNKNOWN, None)
    factor = speed["cpu_rtf"]
    note = f"the engine's CPU time by seconds of speech; load {speed['load_average']:g} before it"
    return Gate(name, wanted, f"{factor:.2f}", factor <= 0.4, note)


def _of_first_audio(local: dict[str, Any] | None) -> Gate:
    name, wanted = "first audio, two idle cores", "≤ 150 ms"
    rows = [row for row in (local or {}).get("open_loop", []) if row["rate"] == 1]
    if local is None or not rows:
        return Gate(name, wanted, UNKNOWN, None, "make bench-local measures it")
    first, machine = rows[0]["first_audible_ms"]["p50"], local["machine"]
    note = f"make bench-local, median at 1 request/s, commit {machine['commit']}"
    return Gate(name, wanted, f"{first:.0f} ms", first <= 150, note)
