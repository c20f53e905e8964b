"""Makes the sums of the usage events again."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from billing.management.days import add_days, read_days
from billing.rollups.services import rebuild


class Command(BaseCommand):
    help = "Makes hourly and daily sums from the usage events again. Safe while requests run."

    def add_arguments(self, parser: CommandParser) -> None:
        add_days(parser, usual=1)

    def handle(self, *args: Any, **options: Any) -> None:
        since, until = read_days(options)
        self.stdout.write(json.dumps({"rows": rebuild(since, until)}))
