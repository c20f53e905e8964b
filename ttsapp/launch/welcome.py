"""What a person reads once the product serves."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable

from rich.console import Group, RenderableType
from rich.text import Text

from ttsapp.launch.access import FILE, Access
from ttsapp.launch.plan import Plan

PLAYERS = {
    "ffplay": "ffplay -autoexit -nodisp -loglevel error",
    "afplay": "afplay",
    "aplay": "aplay -q",
}
ANOTHER_KEY = "python manage.py bootstrap --new-key"


def welcome(plan: Plan, access: Access, seconds: float) -> RenderableType:
    """Address, key, a line that speaks, the console's login."""
    lines = [
        ("API", f"{plan.url}/v1"),
        ("key", access.key or f"made earlier ({access.key_hint}); another: {ANOTHER_KEY}"),
        ("console", f"{plan.url}/console/"),
        ("login", f"{access.username} / {access.password or 'the password set before'}"),
        ("logs", str(plan.logs)),
        ("again", f"this is kept in {plan.data / FILE}"),
    ]
    return Group(
        Text(f"\nParlance is ready after {seconds:.1f} s. Ctrl-C stops it.\n", style="bold green"),
        facts(lines),
        Text("\nHear it:\n", style="bold"),
        Text(curl(plan.url, access.key or "YOUR_KEY")),
    )


def curl(url: str, key: str) -> str:
    """A line for a shell that saves a file, and plays it where a player is installed."""
    body = json.dumps(
        {
            "model": "tts-1",
            "voice": "alloy",
            "input": "Hello from Parlance.",
            "response_format": "wav",
            "stream": False,
        }
    )
    line = f"curl -sS --fail {url}/v1/audio/speech -H 'Authorization: Bearer {key}'"
    line += f" -H 'Content-Type: application/json' -d '{body}' -o hello.wav"
    player = next((command for name, command in PLAYERS.items() if shutil.which(name)), None)
    return line + (f" && {player} hello.wav" if player else "")


def facts(lines: Iterable[tuple[str, str]]) -> Text:
    """One labelled line each."""
    text = Text()
    for label, value in lines:
        text.append(f"{label:<12}", style="dim").append(f"{value}\n")
    return text
