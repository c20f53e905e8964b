"""The held-out sentences said, heard and held to the gates: `make eval-speech`.

By a checkpoint (--checkpoint), or by the running product. Clips and what was heard of them stay in
--work, so a run that was stopped goes on, and --partly judges what there is.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.table import Table

from gpu_engine.bench.machine import describe
from gpu_engine.models.checkpoint import checkpoint_fingerprint, load_checkpoint
from gpu_engine.models.prompt import Layout
from gpu_engine.server.settings import default_checkpoint
from tests.speech import codec, page, report
from tests.speech.gates import Gate, gates
from tests.speech.listening import (
    EARS,
    ROOT,
    Recording,
    Sentence,
    can_hear,
    compared,
    hear,
    held_out,
    turn,
)
from tests.speech.speaking import LAYOUTS, Say, by_checkpoint, by_product, jobs
from tests.speech.speed import measure
from tests.speech.unseen import UNSEEN

Said = list[tuple[int, Sentence, str]]


@dataclass(frozen=True)
class Place:
    """Where everything lies. `teacher` holds the teacher's clips (tests/speech/unseen.py)."""

    checkpoint: Path
    base: Path | None
    teacher: Path
    work: Path
    partly: bool


def cast(voices: list[str]) -> Said:
    return [(n, each, voices[turn(n, len(voices))]) for n, each in enumerate(held_out())]


def compared_first(said: Said) -> Said:
    return sorted(said, key=lambda each: not compared(each[0], each[1]))


def speak(said: Said, say: Say, layout: Layout, place: Place) -> list[Recording]:
    asked = list(jobs(compared_first(said), layout, place.work / layout))
    if not place.partly:
        say(asked)
    return [job.recording for job in asked if job.file.exists()]


def taught(place: Place) -> list[Recording]:
    """The teacher's clips, as many as there are."""
    files = [(each, place.teacher / f"{n:03}.wav") for n, each in enumerate(held_out())]
    return [Recording(each, file) for each, file in files if file.exists()]


def through_codec(place: Place) -> list[Recording]:
    clips = taught(place)
    if place.partly:
        made = [Recording(each.sentence, place.work / "codec" / each.file.name) for each in clips]
        return [each for each in made if each.file.exists()]
    if place.base is None or not clips:
        return []
    base = load_checkpoint(place.base)
    if base.codec_encoder is None:
        raise SystemExit(f"--base {place.base} has no codec encoder: export it with --kind base")
    return codec.through(base.codec_encoder, base.codec_decoder, clips, place.work / "codec")


def judged(recordings: list[Recording], voices: list[str], place: Place) -> list[report.Clip]:
    if not recordings:
        return []
    said = {f"{n:03}.wav": (n, each) for n, each in enumerate(held_out())}
    rated = {name for name, (n, each) in said.items() if compared(n, each)}
    found = hear(recordings, rated, known_only=place.partly)["clips"]
    return [
        report.clip(
            number := said[each.file.name][0],
            each.sentence,
            voices[turn(number, len(voices))],
            each,
            found,
        )
        for each in recordings
        if each.file.name in found
    ]


def evaluate(place: Place, say: Say, voices: list[str]) -> dict[str, list[report.Clip]]:
    """Clips by condition, in the order of report.CONDITIONS."""
    said = cast(voices)
    spoken = {layout: judged(speak(said, say, layout, place), voices, place) for layout in LAYOUTS}
    unseen = list(UNSEEN)
    return {
        "teacher": judged(taught(place), unseen, place),
        "codec": judged(through_codec(place), unseen, place),
        **spoken,
    }


def result(
    place: Place,
    conditions: dict[str, list[report.Clip]],
    held: list[Gate],
    speed: dict[str, Any] | None,
    by: str,
) -> dict[str, Any]:
    config = load_checkpoint(place.checkpoint).config
    return {
        "machine": describe() | {"command": "make eval-speech"},
        "by": by,
        "checkpoint": checkpoint_fingerprint(place.checkpoint),
        "sampling": asdict(config.sampling),
        "speed": speed,
        "gates": [asdict(gate) for gate in held],
        "conditions": {name: report.summary(clips) for name, clips in conditions.items()},
        "kinds": report.kinds(conditions),
        "clips": report.as_rows(conditions),
    }


def timed(place: Place) -> dict[str, Any] | None:
    """Before anything else is done here, while the machine may be idle; once a checkpoint."""
    file = place.work / "speed.json"
    if not file.exists() and not place.partly:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(measure(place.checkpoint)) + "\n", "utf-8")
    return read(file)


def read(file: Path) -> dict[str, Any] | None:
    return json.loads(file.read_text("utf-8")) if file.exists() else None


def table(held: list[Gate]) -> Table:
    shown = Table("gate", "wanted", "measured", "")
    for gate in held:
        verdict = {True: "[green]holds[/]", False: "[red]does not hold[/]", None: "not judged"}
        shown.add_row(gate.name, gate.wanted, gate.measured, verdict[gate.holds])
    return shown


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("--checkpoint", type=Path, help="of presets; else the running product speaks")
    add("--base", type=Path, help="Base checkpoint, for the codec's encoder")
    add("--teacher", type=Path, default=ROOT / "build" / "speech" / "teacher", help="its clips")
    add("--work", type=Path, default=ROOT / "build" / "speech", help="folder that is kept")
    add("--out", type=Path, default=ROOT / "docs" / "benchmarks" / "speech")
    add("--cloning", type=Path, default=ROOT / "docs" / "benchmarks" / "cloning.json")
    add("--described", type=Path, help="report of `train evaluate --told`, of descriptions")
    add("--local", type=Path, default=ROOT / "docs" / "benchmarks" / "local.json")
    add("--threads", type=int, default=1, help="of the checkpoint")
    add("--partly", action="store_true", help="say and hear nothing new: report what there is")
    return parser.parse_args()


def main() -> int:
    """Exit status 1 where a gate does not hold."""
    args = arguments()
    if not can_hear():
        print(f"No recogniser at {EARS}: nothing is heard.")
        return 0
    torch.set_num_threads(args.threads)
    folder = args.checkpoint or Path(default_checkpoint())
    checkpoint = load_checkpoint(folder)
    by = "checkpoint" if args.checkpoint else "product"
    work = args.work / f"{checkpoint.fingerprint}{'' if args.checkpoint else '-product'}"
    place = Place(folder, args.base, args.teacher, work, args.partly)
    say = by_checkpoint(checkpoint) if args.checkpoint else by_product
    speed = timed(place)
    conditions = evaluate(place, say, list(checkpoint.config.talker.spk_id))
    cloning = read(args.cloning)
    described = read(args.described) if args.described else None
    held = gates(conditions, cloning, speed, read(args.local), described)
    written = result(place, conditions, held, speed, by)
    args.out.mkdir(parents=True, exist_ok=True)
    file = args.out / "speech.json"
    file.write_text(json.dumps(written, indent=1, ensure_ascii=False) + "\n", "utf-8")
    (args.out / "index.html").write_text(page.page(written, cloning, place.teacher, work), "utf-8")
    Console().print(table(held))
    return int(any(gate.holds is False for gate in held))


if __name__ == "__main__":
    sys.exit(main())
