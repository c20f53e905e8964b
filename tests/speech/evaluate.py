"""Every sentence through the running product, heard by a recogniser: `make eval-speech`."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import httpx
from rich.console import Console
from rich.progress import track
from rich.table import Table

from gpu_engine.bench.machine import describe
from tests.speech.listening import (
    EARS,
    LARGEST_WORD_ERROR_RATE,
    Recording,
    Sentence,
    can_hear,
    hear,
    sentences,
)

VOICES = ("clara", "june", "ruth", "helen", "martin", "oscar", "theo", "walter")


def record(sentence: Sentence, number: int, folder: Path) -> Recording:
    """One clip; the voices take turns, the seed is the sentence's number."""
    body = {
        "model": "tts-1",
        "voice": VOICES[number % len(VOICES)],
        "input": sentence.text,
        "response_format": "wav",
        "stream": False,
        "seed": number,
    }
    headers = {"Authorization": f"Bearer {os.environ['PARLANCE_KEY']}"}
    url = f"{os.environ['PARLANCE_URL']}/v1/audio/speech"
    answer = httpx.post(url, json=body, headers=headers, timeout=120)
    answer.raise_for_status()
    file = folder / f"{number:02}.wav"
    file.write_bytes(answer.content)
    return Recording(sentence, file)


def evaluate(folder: Path, count: int) -> dict[str, Any]:
    chosen = list(enumerate(sentences()[:count]))
    recordings = [record(each, number, folder) for number, each in track(chosen, "speaking")]
    report = hear(recordings)
    clips = [
        {**each.figures(), "voice": VOICES[number % len(VOICES)], **report["clips"][each.file.name]}
        for number, each in enumerate(recordings)
    ]
    rated = [clip["dnsmos"] for clip in clips if clip["dnsmos"] is not None]
    return {
        "machine": describe() | {"command": "make eval-speech"},
        "wer": report["wer"],
        "limit": LARGEST_WORD_ERROR_RATE,
        "exact": sum(clip["wer"] == 0 for clip in clips),
        "empty": sum(not clip["heard"] for clip in clips),
        "too_long": sum(each.is_too_long for each in recordings),
        "clipped": sum(clip["clipped_samples"] > 0 for clip in clips),
        "dnsmos": round(sum(rated) / len(rated), 3) if rated else None,
        "clips": clips,
    }


def table(result: dict[str, Any]) -> Table:
    shown = Table("voice", "WER", "s", "dBFS", "MOS", "text", "heard")
    for clip in result["clips"]:
        cells = (f"{clip['wer']:.0%}", f"{clip['seconds']:.1f}", f"{clip['level_dbfs']:.0f}")
        heard = clip["heard"] if clip["wer"] else ""
        shown.add_row(clip["voice"], *cells, f"{clip['dnsmos']}", clip["text"], heard)
    return shown


def main() -> int:
    """Exit status 1 where the gate does not hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="JSON file")
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--keep", type=Path, help="folder for the clips")
    arguments = parser.parse_args()
    if not can_hear():
        print(f"No recogniser at {EARS}: nothing is heard.")
        return 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        result = evaluate(folder, arguments.count)
    arguments.out.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    console = Console()
    console.print(table(result))
    wer, count = result["wer"], len(result["clips"])
    console.print(
        f"WER {wer:.1%} (limit {LARGEST_WORD_ERROR_RATE:.0%}), {result['exact']} of {count} exact, "
        f"{result['empty']} empty, {result['too_long']} too long, DNSMOS {result['dnsmos']}"
    )
    return int(wer > LARGEST_WORD_ERROR_RATE or result["empty"] > 0 or result["too_long"] > 0)


if __name__ == "__main__":
    sys.exit(main())
