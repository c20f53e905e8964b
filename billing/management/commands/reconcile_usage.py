"""Closes the reservations that a crash left open."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from billing import selectors, services


class Command(BaseCommand):
    help = "Settle, free of charge, requests whose process died. Safe to run at any time."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--older-than",
            type=int,
            default=settings.ORPHAN_SECONDS,
            metavar="SECONDS",
            help="age from which a reservation counts as abandoned (default: %(default)s)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        closed = services.close_orphans(timedelta(seconds=options["older_than"]))
        report = {"closed": closed, "open": selectors.open_reservations()}
        self.stdout.write(json.dumps(report))
