"""What a person reads once the product serves."""

from __future__ import annotations

import json
import shutil
import sys
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


def welcome(plan: Plan, access: Access, seconds: float) -> RenderableType:
    """Console, login, two variables, and a line that speaks with them."""
    lines = [
        ("console", f"{plan.url}/console/"),
        ("login", f"{access.username} / {access.password or 'the password set before'}"),
        ("API", f"{plan.url}/v1"),
        ("logs", str(plan.logs)),
        ("again", f"this is kept in {plan.data / FILE}"),
    ]
    if access.key is None:
        lines.insert(3, ("key", f"made earlier ({access.key_hint}); another: {another_key(plan)}"))
    return Group(
        Text(f"\nParlance is ready after {seconds:.1f} s. Ctrl-C stops it.\n", style="bold green"),
        facts(lines),
        Text("\nHear it: type in another terminal\n", style="bold"),
        Text(exports(plan.url, access.key)),
        Text(curl()),
    )


def exports(url: str, key: str | None) -> str:
    """What every example in the documentation expects."""
    return f"export BASE={url} KEY={key or 'YOUR_KEY'}"


def another_key(plan: Plan) -> str:
    return f"PARLANCE_DATA={plan.data} {sys.executable} manage.py bootstrap --new-key"


def curl() -> str:
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
    line = 'curl -sS --fail "$BASE/v1/audio/speech" -H "Authorization: Bearer $KEY"'
    line += f" -H 'Content-Type: application/json' -d '{body}' -o hello.wav"
    player = next((command for name, command in PLAYERS.items() if shutil.which(name)), None)
    return line + (f" && {player} hello.wav" if player else "")


def facts(lines: Iterable[tuple[str, str]]) -> Text:
    """One labelled line each."""
    text = Text()
    for label, value in lines:
        text.append(f"{label:<12}", style="dim").append(f"{value}\n")
    return text
