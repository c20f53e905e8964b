"""The first key and password: shown when they are made, kept where a later start can read them."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ttsapp.launch.errors import LaunchError

FILE = "first-run.json"


@dataclass(frozen=True, slots=True)
class Access:
    """How to get in. `key` and `password` are None where nobody knows them any more."""

    tenant: str
    username: str
    password: str | None
    key: str | None
    key_hint: str | None


def remember(file: Path, made: dict[str, Any]) -> None:
    """Keeps what bootstrap made; what it found made already stays as an earlier start kept it."""
    made = {name: made[name] for name in Access.__dataclass_fields__}
    kept = asdict(read(file)) if file.exists() else {}
    known = {name: made[name] or kept.get(name) for name in ("password", "key")}
    _write(file, json.dumps(made | known, indent=2))


def read(file: Path) -> Access:
    """Raises LaunchError for a file that is not what `remember` wrote."""
    try:
        return Access(**json.loads(file.read_text("utf-8")))
    except (OSError, ValueError, TypeError) as error:
        message = f"{file} cannot be read ({error}): delete it, and the next start writes another."
        raise LaunchError(message) from None


def _write(file: Path, text: str) -> None:
    """For its owner's eyes only, from the first byte on."""
    partial = file.with_suffix(".part")
    partial.unlink(missing_ok=True)
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as handle:
        handle.write(text + "\n")
    partial.replace(file)
