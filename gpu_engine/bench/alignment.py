"""How far word times are from the truth, where it is known: `bench alignment`.

The recordings are followed as streams are, chunk by chunk, so the figures are those of the product.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from gpu_engine.align import Aligner, TimedWord
from gpu_engine.align.follow import Told, follow
from gpu_engine.align.load import load_aligner
from gpu_engine.bench import report
from gpu_engine.bench.machine import describe
from gpu_engine.bench.summary import percentile
from gpu_engine.config import SAMPLE_RATE
from gpu_engine.train.alignment import NOWHERE, Words
from gpu_engine.train.commands.common import settings
from gpu_engine.train.corpus import SpeechBatch, Utterance, open_corpus, spoken_part, to_pcm

Pcm = NDArray[np.int16]
MEAN_MS, P95_MS = 60.0, 120.0
FAILED = 1
WINDOW, AUDIBLE = 240, 10 ** (-45 / 20)
MEASURED = tuple(
    f"{edge}{kind}" for kind in ("", "_of_numbers") for edge in ("starts", "ends", "heard_ends")
)
OWN = 20  # of the texts are spoken by the checkpoint too


@dataclass(frozen=True, slots=True)
class Known:
    """When a written word is spoken, in seconds; `is_read`: written otherwise than it is said."""

    first: int
    end: int
    start: float
    stop: float
    is_read: bool


def run(arguments: argparse.Namespace) -> int:
    """Exit status 1 where the times are worse than promised."""
    torch.set_num_threads(1)
    aligner = load_aligner(arguments.aligner)
    corpus = open_corpus(arguments.corpus, torch.device("cpu"), settings(arguments.set))
    spoken = list(_spoken(corpus))
    result: dict[str, Any] = {"machine": describe()} | measure(aligner, spoken)
    result["limits"] = {"mean_ms": MEAN_MS, "p95_ms": P95_MS}
    if arguments.checkpoint is not None:
        texts = [utterance.text for utterance, _ in spoken[:: -(-len(spoken) // OWN)]]
        result["own_speech"] = own_speech(aligner, arguments.checkpoint, texts, arguments.seed)
    report.write(result, arguments.out)
    Console().print(table(result))
    is_kept = all(row["mean_ms"] <= MEAN_MS and row["p95_ms"] <= P95_MS for row in _gated(result))
    return 0 if is_kept else FAILED


def _gated(result: dict[str, Any]) -> list[dict[str, Any]]:
    return [result["starts"], result["ends"]]


def table(result: dict[str, Any]) -> Table:
    found = Table("", "words", "mean ms", "p50", "p95", "p99", "worst", title="Word times")
    for name in MEASURED:
        row = result[name]
        if row:
            keys = ("mean_ms", "p50_ms", "p95_ms", "p99_ms", "worst_ms")
            found.add_row(name, str(row["words"]), *(f"{row[key]:.1f}" for key in keys))
    return found


def measure(aligner: Aligner, spoken: Sequence[tuple[Utterance, Pcm]]) -> dict[str, Any]:
    """Differences of starts and ends over all words whose times are known.

    `heard_ends`: from where a word is last heard. A teacher that is asked how long each sound
    lasts counts the silence behind the last one of a sentence with it, up to half a second."""
    errors: dict[str, list[float]] = {name: [] for name in MEASURED}
    missing, late, audible = 0, [], []
    for utterance, pcm in spoken:
        assert utterance.words is not None, "only speech with word times is measured"
        told = follow(aligner, utterance.text, pcm)
        late += [(each.heard - each.word.end_sample) / SAMPLE_RATE for each in told]
        audible.append(audible_shares(pcm, told))
        by_place = {each.word.first: each.word for each in told}
        for known in known_words(utterance.text, utterance.words):
            word = by_place.get(known.first)
            if word is None:
                missing += 1
                continue
            kind = "_of_numbers" if known.is_read else ""
            start, stop = word.first_sample / SAMPLE_RATE, word.end_sample / SAMPLE_RATE
            errors["starts" + kind].append(1000 * (start - known.start))
            errors["ends" + kind].append(1000 * (stop - known.stop))
            errors["heard_ends" + kind].append(1000 * (stop - heard_end(pcm, known)))
    return {
        "utterances": len(spoken),
        "speech_seconds": round(sum(len(pcm) for _, pcm in spoken) / SAMPLE_RATE, 1),
        "voices": len({utterance.speaker for utterance, _ in spoken}),
        "missing": missing,
        **{name: figures(values) for name, values in errors.items()},
        "told_behind_s": {f"p{share}": round(percentile(late, share), 2) for share in (50, 95)},
        **_mean_shares(audible),
    }


def heard_end(pcm: Pcm, known: Known) -> float:
    """The end of a word's last window that can be heard; of one that cannot, as it was told."""
    first, end = (round(at * SAMPLE_RATE) // WINDOW for at in (known.start, known.stop))
    loud = np.flatnonzero(audible(pcm)[first:end])
    return (first + int(loud[-1]) + 1) * WINDOW / SAMPLE_RATE if len(loud) else known.stop


def figures(errors: Sequence[float]) -> dict[str, Any]:
    """Of signed differences in ms; `bias_ms` above zero: told too late."""
    if not errors:
        return {}
    sizes = [abs(error) for error in errors]
    return {
        "words": len(errors),
        "mean_ms": round(float(np.mean(sizes)), 1),
        "bias_ms": round(float(np.mean(errors)), 1),
        **{f"p{share}_ms": round(percentile(sizes, share), 1) for share in (50, 95, 99)},
        "worst_ms": round(max(sizes), 1),
    }


def known_words(text: str, words: Words) -> Iterator[Known]:
    """The written words. What is said in words that are not written stands for the one written word
    between its neighbours, if there is just one."""
    places = [match.span() for match in re.finditer(r"\S+", text)]
    rows = [(int(first), int(end), float(a), float(b)) for first, end, a, b in words]
    written = {row[:2] for row in rows}
    at = 0
    while at < len(rows):
        stop = at
        while stop < len(rows) and rows[stop][:2] == NOWHERE:
            stop += 1
        if stop == at:
            yield Known(*rows[at], is_read=False)
            at += 1
            continue
        low = rows[at - 1][1] if at else 0
        high = rows[stop][0] if stop < len(rows) else len(text)
        between = [span for span in places if low <= span[0] < high and span not in written]
        if len(between) == 1:
            yield Known(*between[0], rows[at][2], rows[stop - 1][3], is_read=True)
        at = stop


def audible_shares(pcm: Pcm, told: Iterable[Told]) -> tuple[float, float]:
    """Of 10 ms windows inside words, and outside: how many can be heard."""
    loud = audible(pcm)
    inside = np.zeros(len(loud), np.bool_)
    for each in told:
        inside[each.word.first_sample // WINDOW : each.word.end_sample // WINDOW] = True
    return _share(loud[inside]), _share(loud[~inside])


def audible(pcm: Pcm) -> NDArray[np.bool_]:
    """Which windows of 10 ms can be heard."""
    windows = pcm[: len(pcm) // WINDOW * WINDOW].reshape(-1, WINDOW).astype(np.float32) / 32768
    loud: NDArray[np.bool_] = np.sqrt(np.square(windows).mean(axis=1)) >= AUDIBLE
    return loud


def _share(flags: NDArray[np.bool_]) -> float:
    return float(flags.mean()) if len(flags) else 0.0


def _mean_shares(shares: Sequence[tuple[float, float]]) -> dict[str, float]:
    inside, outside = zip(*shares, strict=True)
    return {
        "audible_in_words": round(float(np.mean(inside)), 3),
        "audible_between": round(float(np.mean(outside)), 3),
    }


def own_speech(aligner: Aligner, folder: Path, texts: list[str], seed: int) -> dict[str, Any]:
    """What can be said of speech whose times nobody knows: every word is told, in order, inside the
    audio; words can be heard and what is between them cannot."""
    from gpu_engine.models.checkpoint import load_checkpoint
    from gpu_engine.train.evaluate import Listening, speak

    told_words, audible, words, faults = 0, [], 0, 0
    for clip in speak(load_checkpoint(folder), texts, Listening(seed=seed)):
        pcm = to_pcm(clip.speech.audio)
        told = follow(aligner, clip.text, pcm)
        words += len(clip.text.split())
        told_words += len(told)
        faults += not is_sound([each.word for each in told], len(pcm))
        audible.append(audible_shares(pcm, told))
    return {
        "utterances": len(texts),
        "words": words,
        "told": told_words,
        "out_of_order_or_outside": faults,
        **_mean_shares(audible),
    }


def is_sound(words: Sequence[TimedWord], samples: int) -> bool:
    """In order, without overlap, inside the audio."""
    marks = [mark for word in words for mark in (word.first_sample, word.end_sample)]
    return marks == sorted(marks) and (not marks or (marks[0] >= 0 and marks[-1] <= samples))


def _spoken(corpus: Iterable[SpeechBatch]) -> Iterator[tuple[Utterance, Pcm]]:
    for batch in corpus:
        for row, utterance in zip(batch.audio, batch.utterances, strict=True):
            if utterance.words is not None:
                yield utterance, to_pcm(spoken_part(row, utterance))
