"""`make bench-metering`: in a database of its own on a Postgres server, dropped afterwards."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import psycopg

POSTGRES = "postgres://postgres@127.0.0.1:5432/postgres"
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
    server = os.environ.get("DATABASE_URL") or POSTGRES
    if urlsplit(server).scheme not in ("postgres", "postgresql"):
        parser.error("DATABASE_URL must be a Postgres server's")
    with _database(server) as url, tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "DATABASE_URL": url, "PARLANCE_DATA": folder, "REDIS_URL": ""}
        environment["PARLANCE_LOG_LEVEL"] = "ERROR"
        subprocess.run([*COMMAND, "migrate", "-v", "0"], env=environment, check=True)
        arguments = [f"--{name}={value}" for name, value in vars(options).items()]
        run = subprocess.run([*COMMAND, "bench_metering", *arguments], env=environment, check=False)
    return run.returncode


@contextmanager
def _database(server: str) -> Iterator[str]:
    name = f"parlance_bench_{uuid4().hex[:12]}"
    admin = urlunsplit(urlsplit(server)._replace(query=""))
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
        try:
            yield urlunsplit(urlsplit(server)._replace(path=f"/{name}"))
        finally:
            connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


if __name__ == "__main__":
    sys.exit(main())
