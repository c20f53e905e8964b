"""Closes the reservations that a crash left open."""

from __future__ import annotations

import json
from argparse import ArgumentTypeError
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from billing import selectors
from ttsapp.speech import services

# Ten years: no reservation is older, and no calendar ends within it.
MOST_SECONDS = 10 * 365 * 24 * 3600


class Command(BaseCommand):
    help = "Settle, free of charge, requests whose process died. Safe to run at any time."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--older-than",
            type=_seconds,
            default=settings.ORPHAN_SECONDS,
            metavar="SECONDS",
            help="age from which a reservation counts as abandoned (default: %(default)s)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        closed = services.close_orphans(timedelta(seconds=options["older_than"]))
        report = {"closed": closed, "open": selectors.open_reservations()}
        self.stdout.write(json.dumps(report))


def _seconds(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or len(text) > 10 or int(text) > MOST_SECONDS:
        raise ArgumentTypeError(f"{text[:20]!r} is no whole number from 0 to {MOST_SECONDS}")
    return int(text)
