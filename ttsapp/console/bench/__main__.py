"""`make bench-console`: in a database of its own on a Postgres server, dropped afterwards."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import django
from django.core.management import call_command

from billing.bench import database
from ttsapp.launch.plan import Plan, free_port

LIMIT_MS = 300


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m ttsapp.console.bench", description=__doc__)
    parser.add_argument("--tenants", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=20, help="of each page")
    parser.add_argument("--only", default="", help="pages whose address has this in it")
    parser.add_argument("--out", type=Path, default=Path("docs/benchmarks/console.json"))
    options = parser.parse_args()
    server = database.server()
    if server is None:
        parser.error("DATABASE_URL must be a Postgres server's")
    with database.fresh(server) as url, tempfile.TemporaryDirectory() as folder:
        plan = replace(Plan(Path(folder)), port=free_port())
        os.environ |= {**plan.environment(), "DATABASE_URL": url, "REDIS_URL": ""}
        os.environ["PARLANCE_LOG_LEVEL"] = "ERROR"
        django.setup()
        call_command("migrate", verbosity=0)
        report = _measured(plan, options)
    _show(report)
    if not options.only:
        options.out.write_text(json.dumps(report, indent=1) + "\n", "utf-8")
    slow = [name for name, page in report["pages"].items() if page["p95_ms"] > LIMIT_MS]
    print(f"over {LIMIT_MS} ms: {', '.join(slow) or 'none'}")
    return 1 if slow else 0


def _measured(plan: Plan, options: argparse.Namespace) -> dict[str, Any]:
    """What needs Django's models is imported once they are there."""
    from gpu_engine.bench.machine import describe
    from ttsapp.console.bench import filling, pages, serving

    filled = filling.fill(options.tenants)
    every = (*pages.addresses(filled.known).values(), *filled.filtered)
    addresses = [each for each in every if options.only in each]
    with serving.product(plan) as processes:
        measured = serving.visits(plan, filled.session, addresses, options.repeats, processes)
    return {
        "machine": {**describe(), "command": "make bench-console"},
        "tenants": options.tenants,
        "requests": filled.requests,
        "rows": filled.rows,
        "repeats": options.repeats,
        "limit_ms": LIMIT_MS,
        "slowest_p95_ms": max(each["p95_ms"] for each in measured.values()),
        "pages": measured,
    }


def _show(report: dict[str, Any]) -> None:
    print(f"{'page':62} {'p50':>7} {'p95':>7} {'CPU p50':>8} {'CPU p95':>8} {'KiB':>6}")
    for name, each in report["pages"].items():
        figures = (each["p50_ms"], each["p95_ms"], each["cpu_p50_ms"], each["cpu_p95_ms"])
        row = "{:7.1f} {:7.1f} {:8.1f} {:8.1f}".format(*figures)
        print(f"{name:62} {row} {each['kib']:6.1f}")


if __name__ == "__main__":
    sys.exit(main())
