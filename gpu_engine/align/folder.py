"""Where an engine's aligner lies."""

from __future__ import annotations

from pathlib import Path

FOLDER = "aligner"
SHIPPED = Path(__file__).parent.parent / "assets" / "tiny" / FOLDER


def aligner_folder(chosen: str, checkpoint: Path) -> Path | None:
    """`chosen`: a folder, `none`, or `auto`: the checkpoint's own or else the package's."""
    if chosen == "none":
        return None
    if chosen != "auto":
        return Path(chosen)
    both = (checkpoint / FOLDER, SHIPPED)
    return next((folder for folder in both if (folder / "config.json").is_file()), None)
