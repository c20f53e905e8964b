"""A recipe that outlives the call that started it, and calls that look in on it.

Where a machine is lent in calls of some minutes but keeps its processes between them, training need
not stop at the end of each: one call starts it in a session of its own, the others follow its log
and bring home what is there.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from gpu_engine.train.manifest import NAME as MANIFEST
from gpu_engine.train.runtime import load_shards, save_shards

LOG, PROCESS, ENDED, SHOWN = "tiny.log", "tiny.pid", "tiny.ended", "tiny.shown"
SAMPLES = 6 * 2**20  # bytes of clips that are brought home
FIGURES = ("logs/*.log", "*/log.json", "*/curves.png", "heard/*/report.json", MANIFEST, LOG)
FIRST_SHOWN = 4000  # bytes before the end of a log that nobody has followed yet

Standing = Literal["running", "done", "failed", "killed"]


def start(arguments: Sequence[str], folder: Path) -> int:
    """Runs `train`'s arguments in a session of its own, with its output in `folder`; returns the
    process id. Raises ValueError while an earlier one runs."""
    folder.mkdir(parents=True, exist_ok=True)
    if standing(folder) == "running":
        raise ValueError(f"{folder}: a recipe runs there already")
    (folder / ENDED).unlink(missing_ok=True)
    with (folder / LOG).open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "gpu_engine.train.cli", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
            start_new_session=True,
        )
    (folder / PROCESS).write_text(str(process.pid))
    return process.pid


def standing(folder: Path) -> Standing:
    """How the recipe in `folder` stands; "killed" too where none was ever started."""
    ended, process = folder / ENDED, folder / PROCESS
    if ended.exists():
        return "failed" if ended.read_text() != "0" else "done"
    return "running" if process.exists() and _alive(process.read_text()) else "killed"


def _alive(process: str) -> bool:
    """A process that has ended may stay listed when nobody asks how."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def follow(folder: Path, seconds: float) -> Standing:
    """Prints what is new in the log until the recipe ends or the seconds are over."""
    until = time.monotonic() + seconds
    while (now := standing(folder)) == "running" and time.monotonic() < until:
        _show(folder)
        time.sleep(min(1.0, max(0.0, until - time.monotonic())))
    _show(folder)
    return now


def _show(folder: Path) -> None:
    log, shown = folder / LOG, folder / SHOWN
    if not log.exists():
        return
    before = int(shown.read_text()) if shown.exists() else log.stat().st_size - FIRST_SHOWN
    with log.open("rb") as file:
        file.seek(max(0, before))
        fresh = file.read()
        shown.write_text(str(file.tell()))
    sys.stdout.write(fresh.decode(errors="replace"))
    sys.stdout.flush()


def bring_home(folder: Path, out: Path) -> list[Path]:
    """Codec (with its adversaries) and Talker in half precision, logs, curves and some clips, in
    files of 15 MiB at most;
    what is not there yet is left out. `out` is then a folder for `train export`'s --talker and
    --codec; where a decoder was taught, --codec is the speech_tokenizer in it."""
    out.mkdir(parents=True, exist_ok=True)
    parts = (("codec", "codec"), ("adversaries", "codec"), ("weights", "talker"))
    for stem, stage in parts:
        try:
            tensors = load_shards(folder / stage, stem)
        except FileNotFoundError:
            continue
        save_shards(out, stem, {name: t.half() for name, t in tensors.items()})
    if (folder / "decoder" / "model.safetensors").exists():
        for name in ("model.safetensors", "config.json"):
            (out / "speech_tokenizer").mkdir(exist_ok=True)
            shutil.copyfile(folder / "decoder" / name, out / "speech_tokenizer" / name)
    with tarfile.open(out / "figures.tar.gz", "w:gz") as archive:
        for pattern in FIGURES:
            for path in sorted(folder.glob(pattern)):
                archive.add(path, path.relative_to(folder))
        room = SAMPLES
        for path in sorted(folder.glob("heard/*/*.wav"), key=lambda path: path.name):
            room -= path.stat().st_size
            if room > 0:
                archive.add(path, path.relative_to(folder))
    return sorted(path for path in out.rglob("*") if path.is_file())
