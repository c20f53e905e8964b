"""Adds up the ledger in every way there is, and tells where it differs."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from billing.management.days import add_days, read_days
from billing.rollups.selectors import total
from billing.upkeep import checks


class Command(BaseCommand):
    help = (
        "Compares usage events, their sums, limit counters and invoices. Prints what differs; "
        "ends with status 1 where anything does. Safe to run at any time."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        add_days(parser, usual=35)

    def handle(self, *args: Any, **options: Any) -> None:
        since, until = read_days(options)
        differences = checks.run(checks.plan(since, until, "system"))
        report = {
            "since": f"{since:%Y-%m-%d}",
            "until": f"{until:%Y-%m-%d}",
            **total(since, until, ("requests", "billed_characters")),
            "differences": [asdict(each) for each in differences],
        }
        self.stdout.write(json.dumps(report))
        if differences:
            sys.exit(1)
