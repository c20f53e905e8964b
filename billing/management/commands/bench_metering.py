"""The measurement of `make bench-metering`, in a database that is made for it."""

from __future__ import annotations

import json
import os
from concurrent.futures import ProcessPoolExecutor
from datetime import timedelta
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from billing.bench import questions, worker, year
from billing.models import UsageEvent
from billing.upkeep.reconciliation import reconcile
from gpu_engine.bench.machine import describe
from ttsapp.audit.services import SYSTEM
from ttsapp.keys.services import create_key
from ttsapp.tenants.models import Tenant
from ttsapp.tenants.services import create_tenant


class Command(BaseCommand):
    help = "What the ledger takes and how fast it is read. Fills an empty database."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--seconds", type=float, required=True)
        for name in ("processes", "streams", "tenants", "repeats"):
            parser.add_argument(f"--{name}", type=int, required=True)
        parser.add_argument("--out", type=Path, required=True)

    def handle(self, *args: Any, **options: Any) -> None:
        if Tenant.objects.exists():
            raise CommandError("this fills its database: use make bench-metering")
        for number in range(options["tenants"]):
            tenant = create_tenant(SYSTEM, f"Tenant {number}", f"tenant-{number}")
            create_key(SYSTEM, tenant, "its key")
        report = {
            "machine": {**describe(), "command": "make bench-metering"},
            "load": _load(options["processes"], options["streams"], options["seconds"]),
            "year": _year(options["repeats"]),
        }
        options["out"].write_text(json.dumps(report, indent=1) + "\n", "utf-8")
        self.stdout.write(json.dumps(report["load"] | report["year"], indent=1))


def _load(processes: int, streams: int, seconds: float) -> dict[str, Any]:
    """Each of them is as a web process is: one loop, and threads for the database."""
    with ProcessPoolExecutor(processes, get_context("spawn"), worker.begin) as pool:
        runs = list(pool.map(worker.measured, [streams] * processes, [seconds] * processes))
    requests = sum(run.requests for run in runs)
    waits = sorted(wait for run in runs for wait in run.settle_ms)
    now = timezone.now()
    differences = reconcile(now - timedelta(days=1), now + timedelta(days=1))
    return {
        "processes": processes,
        "streams": streams * processes,
        "requests": requests,
        "requests_per_second": round(sum(run.requests / run.seconds for run in runs), 1),
        "cpu_ms_per_request": round(1000 * sum(run.cpu_seconds for run in runs) / requests, 3),
        "settle_ms": {f"p{share}": round(_percentile(waits, share), 1) for share in (50, 95, 99)},
        "events": UsageEvent.objects.count(),
        "differences": len(differences),
    }


def _year(repeats: int) -> dict[str, Any]:
    made = year.generate()
    busy = Tenant.objects.filter(pk__in=_busy()).first()
    assert busy is not None, "ten tenants at least"
    load_before = os.getloadavg()
    answers = {
        name: sorted(questions.timed(ask, repeats))
        for name, ask in questions.questions(busy).items()
    }
    return {
        "year_events": made.requests,
        "generated": "as the sums that so many requests leave; none of their events exists",
        "rows": {"hour": made.hours, "day": made.days},
        "tenants": Tenant.objects.count(),
        "load_average": {"before": load_before, "after": os.getloadavg()},
        "answer_ms": {
            name: {"p50": round(_percentile(ms, 50), 1), "p95": round(_percentile(ms, 95), 1)}
            for name, ms in answers.items()
        },
    }


def _busy() -> list[int]:
    keys = Tenant.objects.values_list("pk", flat=True)
    return [key for key in keys if key % year.BUSY_EVERY == 0]


def _percentile(ordered: list[float], share: int) -> float:
    return ordered[max(0, -(-share * len(ordered) // 100) - 1)]
