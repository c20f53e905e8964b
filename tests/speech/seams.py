"""Whether one hears where a long text was cut: `python -m tests.speech.seams` beside a product
(`python -m ttsapp.launch with -- COMMAND` starts one).

Long texts are spoken in parts that are joined at sentences. Sentences also meet inside a part,
where nothing is joined: pause, level and pitch across the joins are compared with those.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from rich.table import Table

from gpu_engine.bench.machine import describe
from ttsapp.speech.text.segments import sentences, split

RATE = 24_000
SENTENCES = Path(__file__).parent / "heldout.txt"
A_TEXT, LIMIT = 8, 150
# What is compared on each side of a pause, and the windows that it is cut into.
SIDE_S, WINDOW = 1.0, RATE // 50
# Windows so far below the loudest are no speech.
SPEECH_DB = -25.0
PITCH_HZ = 70, 350
VOICED = 0.5

Samples = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Meeting:
    """Where two sentences meet. `step_db`, `step_semitones`: behind the pause against before it,
    None where nothing voiced is near. `click`: the largest step of two samples in the pause."""

    is_join: bool
    pause_ms: float
    step_db: float
    step_semitones: float | None
    click: float


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--url", default=os.environ.get("PARLANCE_URL", "http://127.0.0.1:8000"))
    add("--key", default=os.environ.get("PARLANCE_KEY", ""))
    add("--voices", nargs="+", default=["alloy", "onyx"])
    add("--texts", type=int, default=20, help="of each voice")
    add("--out", type=Path, default=Path("docs/benchmarks/speech/seams.json"))
    given = parser.parse_args()
    machine = describe() | {"command": "python -m tests.speech.seams"}
    asked = [(voice, text) for voice in given.voices for text in islice(texts(), given.texts)]
    met = [
        meeting
        for number, (voice, text) in enumerate(track(asked))
        for meeting in meetings(text, *spoken(given.url, given.key, voice, text, number))
    ]
    groups = {name: [m for m in met if m.is_join is is_join] for name, is_join in GROUPS}
    report = {name: summary(of) for name, of in groups.items()}
    given.out.write_text(json.dumps({"machine": machine, **report}, indent=1) + "\n", "utf-8")
    Console().print(table(report))
    return 0


GROUPS = ("inside a part", False), ("at a join", True)


def texts() -> Iterator[str]:
    lines = (line for line in SENTENCES.read_text("utf-8").splitlines() if line[:1] not in "#")
    said = [line.partition("\t")[0] for line in lines if line]
    return (" ".join(said[at : at + A_TEXT]) for at in range(0, len(said) - A_TEXT, A_TEXT))


def spoken(
    url: str, key: str, voice: str, text: str, seed: int
) -> tuple[Samples, list[tuple[float, float]]]:
    """Its samples, and start and end of each word in seconds."""
    body = {"model": "tts-1", "voice": voice, "input": text, "seed": seed, "stream": False}
    content = json.dumps(body | {"response_format": "pcm", "word_timestamps": True}).encode()
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    request = urllib.request.Request(f"{url}/v1/audio/speech", content, headers)
    with urllib.request.urlopen(request) as answer:
        told = json.load(answer)
    samples = np.frombuffer(base64.b64decode(told["audio"]), "<i2") / 32768
    return samples, [(word["start"], word["end"]) for word in told["words"]]


def meetings(
    text: str, samples: Samples, words: Sequence[tuple[float, float]]
) -> Iterator[Meeting]:
    """Between two sentences each. By the rule that cuts texts, and by words between blanks. Raises
    SystemExit where not every word was told."""
    if len(words) != len(text.split()):
        raise SystemExit(f"{len(words)} words were told of: {text}")
    joins = set(ends_of(split(text, "en", LIMIT)))
    for at in ends_of(sentences(text, "en"))[:-1]:
        end, start = words[at - 1][1], words[at][0]
        yield meeting(samples, end, start, is_join=at in joins)


def ends_of(parts: Sequence[str]) -> list[int]:
    """Words up to the end of each."""
    return list(accumulate(len(part.split()) for part in parts))


def meeting(samples: Samples, end: float, start: float, *, is_join: bool) -> Meeting:
    last, first = round(end * RATE), round(start * RATE)
    side = round(SIDE_S * RATE)
    before, behind = samples[max(0, last - side) : last], samples[first : first + side]
    pause = samples[max(0, last) : max(last, first) + 1]
    pitches = pitch(before), pitch(behind)
    step = None if None in pitches else 12 * float(np.log2(pitches[1] / pitches[0]))  # type: ignore[operator]
    click = float(np.abs(np.diff(pause)).max()) if len(pause) > 1 else 0.0
    return Meeting(is_join, 1000 * (start - end), level(behind) - level(before), step, click)


def level(samples: Samples) -> float:
    """Of its speech, in dB of full scale."""
    loud = 10 * np.log10(np.square(windows(samples)).mean(1) + 1e-10)
    return float(loud[loud > loud.max() + SPEECH_DB].mean())


def pitch(samples: Samples) -> float | None:
    """The median of its voiced windows, in Hz, by the highest peak of the autocorrelation."""
    found = []
    low, high = RATE // PITCH_HZ[1], RATE // PITCH_HZ[0]
    for window in windows(samples, 2 * WINDOW):
        near = window - window.mean()
        around = np.correlate(near, near, "full")[len(near) - 1 :]
        lag = low + int(around[low:high].argmax())
        if around[0] > 1e-4 and around[lag] > VOICED * around[0]:
            found.append(RATE / lag)
    return float(np.median(found)) if found else None


def windows(samples: Samples, size: int = WINDOW) -> Samples:
    whole = len(samples) // size * size
    return samples[:whole].reshape(-1, size)


def summary(met: Sequence[Meeting]) -> dict[str, Any]:
    """Medians and the 90th percentile of the steps' sizes."""
    steps = [abs(m.step_semitones) for m in met if m.step_semitones is not None]
    measured = {
        "pause_ms": [m.pause_ms for m in met],
        "level_step_db": [abs(m.step_db) for m in met],
        "pitch_step_semitones": steps,
        "click": [m.click for m in met],
    }
    louder = round(float(np.median([m.step_db for m in met])), 2)
    return {"meetings": len(met), "louder_behind_db": louder} | {
        name: {f"p{n}": round(float(np.percentile(values, n)), 4) for n in (50, 90)}
        for name, values in measured.items()
    }


def table(report: dict[str, Any]) -> Table:
    shown = Table(title="Where two sentences meet, p50 / p90")
    shown.add_column("")
    names = ("pause_ms", "level_step_db", "pitch_step_semitones", "click")
    for name in ("meetings", *names):
        shown.add_column(name.replace("_", " "), justify="right")
    for group, of in report.items():
        cells = [f"{of[name]['p50']:.3g} / {of[name]['p90']:.3g}" for name in names]
        shown.add_row(group, str(of["meetings"]), *cells)
    return shown


if __name__ == "__main__":
    raise SystemExit(main())
