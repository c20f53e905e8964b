"""A corpus as a folder of recordings, for stages that hear the same speech many times."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from gpu_engine.config import SAMPLE_RATE
from gpu_engine.train.corpus import (
    MANIFEST,
    MANNERS,
    SpeechBatch,
    Utterance,
    spoken_part,
    write_wav,
)


def record(corpus: Iterable[SpeechBatch], out: Path, hours: float) -> float:
    """Writes WAV files and `manifest.jsonl` into `out`, each line behind its file, until there are
    so many hours or the corpus ends. Hours of speech that are there."""
    out.mkdir(parents=True, exist_ok=True)
    seconds, count = 0.0, 0
    with (out / MANIFEST).open("w", encoding="utf-8") as manifest:
        for batch in corpus:
            for row, utterance in zip(batch.audio, batch.utterances, strict=True):
                audio = spoken_part(row, utterance)
                name = f"{count:06}.wav"
                write_wav(out / name, audio)
                manifest.write(json.dumps(_row(name, utterance), ensure_ascii=False) + "\n")
                seconds, count = seconds + len(audio) / SAMPLE_RATE, count + 1
            manifest.flush()
            if seconds >= hours * 3600:
                break
    return seconds / 3600


def _row(name: str, utterance: Utterance) -> dict[str, object]:
    row: dict[str, object] = {
        "audio": name,
        "text": utterance.text,
        "speaker": utterance.speaker,
    }
    row |= {name: said for name in MANNERS if (said := getattr(utterance, name))}
    if utterance.words is not None:
        row["words"] = [
            [int(first), int(end), round(float(start), 4), round(float(stop), 4)]
            for first, end, start, stop in utterance.words
        ]
    return row
