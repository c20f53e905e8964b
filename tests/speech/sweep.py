"""The gate's sentences with several sampling settings: python -m tests.speech.sweep CHECKPOINT

Prints a line a setting (word errors, exact sentences, DNSMOS, clips of a wrong length), best first
in the end. Needs the recogniser of `make test-speech`.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

from gpu_engine.config import SamplingConfig
from gpu_engine.models.checkpoint import load_checkpoint
from gpu_engine.models.synthesis import GREEDY
from tests.speech.listening import Recording, hear, sentences
from tests.speech.speaking import by_checkpoint, jobs


def settings(default: SamplingConfig) -> dict[str, SamplingConfig]:
    """By name: Talker's temperature / Code Predictor's."""
    drawn = {
        f"{one} / {two}": replace(default, temperature=one, subtalker_temperature=two)
        for one, two in ((0.1, 0.1), (0.3, 0.1), (0.3, 0.3), (0.5, 0.3), (0.7, 0.7))
    }
    return {
        "default": default,
        "greedy": GREEDY,
        "greedy / 0.3": replace(default, do_sample=False, subtalker_temperature=0.3),
        "0.3 / greedy": replace(default, temperature=0.3, subtalker_dosample=False),
        "0.5 / 0.3, top-p 0.8": replace(drawn["0.5 / 0.3"], top_p=0.8, subtalker_top_p=0.8),
        "greedy, repetition 1.1": replace(GREEDY, repetition_penalty=1.1),
        **drawn,
    }


@dataclass(frozen=True)
class Row:
    name: str
    word_error_rate: float
    exact: int
    dnsmos: float
    too_long: int

    def __str__(self) -> str:
        return (
            f"{self.name:24} WER {self.word_error_rate:6.1%}  exact {self.exact:2}"
            f"  DNSMOS {self.dnsmos:.2f}  too long {self.too_long}"
        )


def judge(name: str, recordings: list[Recording]) -> Row:
    report = hear(recordings)
    clips = report["clips"].values()
    rated = [clip["dnsmos"] for clip in clips if clip["dnsmos"] is not None]
    exact = sum(clip["wer"] == 0 for clip in clips)
    too_long = sum(each.is_too_long for each in recordings)
    return Row(name, report["wer"], exact, fmean(rated) if rated else 0.0, too_long)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--only", nargs="*", help="names of settings")
    parser.add_argument("--count", type=int, default=40, help="sentences")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--out", type=Path, help="the rows as JSON")
    args = parser.parse_args()
    checkpoint = load_checkpoint(args.checkpoint, args.device)
    every = settings(checkpoint.config.sampling)
    voices = list(checkpoint.config.talker.spk_id)
    said = [
        (number, each, voices[number % len(voices)])
        for number, each in enumerate(sentences()[: args.count])
    ]
    rows = []
    for name in args.only or every:
        with tempfile.TemporaryDirectory() as folder:
            asked = list(jobs(said, "full", Path(folder)))
            by_checkpoint(checkpoint, every[name])(asked)
            rows.append(judge(name, [job.recording for job in asked]))
        print(rows[-1], flush=True)
    rows.sort(key=lambda row: row.word_error_rate)
    print(f"\nbest: {rows[0]}")
    if args.out:
        args.out.write_text(json.dumps([row.__dict__ for row in rows], indent=1) + "\n")


if __name__ == "__main__":
    main()
