"""Reading what an operator points us at: every way it can fail is one line that names the file."""

from __future__ import annotations

from pathlib import Path

from gpu_engine.errors import CheckpointError

LAYOUT = "--checkpoint, PARLANCE_CHECKPOINT or --aligner names a folder in the official layout"


def read_bytes(file: Path) -> bytes:
    """Raises CheckpointError."""
    try:
        return file.read_bytes()
    except OSError as error:
        raise unreadable(file, error) from None


def unreadable(file: Path, error: OSError) -> CheckpointError:
    """What the system's refusal means for whoever chose the checkpoint."""
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return CheckpointError(file, f"missing: {LAYOUT}")
    if isinstance(error, PermissionError):
        return CheckpointError(file, "may not be read: give this user the right to (chmod)")
    if isinstance(error, IsADirectoryError):
        return CheckpointError(file, "is a folder, expected a file")
    return CheckpointError(file, f"cannot be read ({error.strerror or error})")
