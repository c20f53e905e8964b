"""Notes what `bench capacity` measured on this machine, for cost at full load."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from billing.costs.models import EngineClass
from billing.costs.services import note_capacity
from ttsapp.audit.services import SYSTEM


class Command(BaseCommand):
    help = "Note the characters a second of a capacity run, which cost at full load goes by."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="the JSON that bench capacity wrote")
        parser.add_argument("--engine-class", required=True, metavar="SLUG")

    def handle(self, *args: Any, **options: Any) -> None:
        speed = _speed(options["file"])
        engine_class = EngineClass.objects.filter(slug=options["engine_class"]).first()
        if engine_class is None:
            known = ", ".join(EngineClass.objects.values_list("slug", flat=True)) or "none yet"
            raise CommandError(f"--engine-class: there is no such class; known: {known}")
        note_capacity(SYSTEM, engine_class, speed, timezone.now(), options["file"].name)
        self.stdout.write(f"{engine_class}: {speed} characters/s")


def _speed(file: Path) -> Decimal:
    try:
        result = json.loads(file.read_text("utf-8"), parse_float=Decimal)
        speed = Decimal(result["characters_per_s"]).quantize(Decimal("0.001"))
    except (OSError, ValueError, KeyError, TypeError, ArithmeticError) as error:
        raise CommandError(f"{file} is no report of bench capacity: {error}") from None
    if not 0 < speed < 10**9:
        raise CommandError(f"{file}: no rate was served in time, so there is no speed to note")
    return speed
