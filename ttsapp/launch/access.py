"""The first key and password: shown when they are made, kept where a later start can read them."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Access:
    """How to get in. `key` and `password` are None where nobody knows them any more."""

    tenant: str
    username: str
    password: str | None
    key: str | None
    key_hint: str | None


def remember(file: Path, made: dict[str, Any]) -> Access:
    """What bootstrap made, completed by what an earlier start kept for the same key."""
    kept = json.loads(file.read_text("utf-8")) if file.exists() else {}
    if kept.get("key_hint") != made["key_hint"]:
        kept = {}
    known = {name: made[name] or kept.get(name) for name in ("password", "key")}
    access = Access(made["tenant"], made["username"], key_hint=made["key_hint"], **known)
    _write(file, json.dumps(asdict(access), indent=2))
    return access


def _write(file: Path, text: str) -> None:
    """For its owner's eyes only, from the first byte on."""
    partial = file.with_suffix(".part")
    partial.unlink(missing_ok=True)
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as handle:
        handle.write(text + "\n")
    partial.replace(file)
