"""Files for a machine that takes only so much at a time: one archive in parts of one size."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Iterable
from pathlib import Path

NAME = "parts.json"


def pack(paths: Iterable[Path], out: Path, size: int) -> int:
    """Cuts an archive of files and folders (each under its own name) into OUT/1, OUT/2, … of at
    most `size` bytes, `NAME` included. How many there are."""
    archive = _archive(paths)
    step = size - 1024
    cuts = [archive[at : at + step] for at in range(0, len(archive), step)]
    whole = {"parts": len(cuts), "sha256": hashlib.sha256(archive).hexdigest()}
    for number, cut in enumerate(cuts, 1):
        folder = out / str(number)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "part").write_bytes(cut)
        (folder / NAME).write_text(json.dumps({"part": number, **whole}))
    return len(cuts)


def _archive(paths: Iterable[Path]) -> bytes:
    """Plain: what is large in it is compressed already."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for path in paths:
            archive.add(path, path.name, filter=_wanted)
    return buffer.getvalue()


def _wanted(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """Caches stay behind; nobody's name travels."""
    if Path(member.name).name in {"cache", "__pycache__"}:
        return None
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


def unpack(folders: Iterable[Path], out: Path) -> list[int]:
    """Keeps parts in OUT/parts until all are there, then unpacks them into OUT; the numbers of
    those that are still missing. Raises ValueError for parts that do not belong together."""
    kept = out / "parts"
    for folder in folders:
        about = json.loads((folder / NAME).read_text())
        here = kept / str(about["part"])
        here.mkdir(parents=True, exist_ok=True)
        for name in ("part", NAME):
            (here / name).write_bytes((folder / name).read_bytes())
    abouts = [json.loads(path.read_text()) for path in kept.glob(f"*/{NAME}")]
    if len({about["sha256"] for about in abouts}) > 1:
        raise ValueError(f"{kept} holds parts of several archives: remove it and begin again")
    total = abouts[0]["parts"] if abouts else 0
    missing = sorted({*range(1, total + 1)} - {about["part"] for about in abouts})
    if not missing:
        _join(kept, total, abouts[0]["sha256"], out)
    return missing


def _join(kept: Path, total: int, wanted: str, out: Path) -> None:
    whole = b"".join((kept / str(number) / "part").read_bytes() for number in range(1, total + 1))
    if hashlib.sha256(whole).hexdigest() != wanted:
        raise ValueError(f"the parts in {kept} are damaged: remove it and begin again")
    with tarfile.open(fileobj=io.BytesIO(whole)) as archive:
        archive.extractall(out, filter="data")
