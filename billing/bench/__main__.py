"""`make bench-metering`: in a database of its own on a Postgres server, dropped afterwards."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from billing.bench import database

COMMAND = (sys.executable, "manage.py")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m billing.bench", description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0, help="of load")
    parser.add_argument("--processes", type=int, default=2, help="web processes")
    parser.add_argument("--streams", type=int, default=300, help="at all times, in each process")
    parser.add_argument("--tenants", type=int, default=100, help="that the year is spread over")
    parser.add_argument("--repeats", type=int, default=20, help="of each question")
    parser.add_argument("--out", type=Path, default=Path("docs/benchmarks/metering.json"))
    options = parser.parse_args()
    server = database.server()
    if server is None:
        parser.error("DATABASE_URL must be a Postgres server's")
    with database.fresh(server) as url, tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "DATABASE_URL": url, "PARLANCE_DATA": folder, "REDIS_URL": ""}
        environment["PARLANCE_LOG_LEVEL"] = "ERROR"
        subprocess.run([*COMMAND, "migrate", "-v", "0"], env=environment, check=True)
        arguments = [f"--{name}={value}" for name, value in vars(options).items()]
        run = subprocess.run([*COMMAND, "bench_metering", *arguments], env=environment, check=False)
    return run.returncode


if __name__ == "__main__":
    sys.exit(main())
