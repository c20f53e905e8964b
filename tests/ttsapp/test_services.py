"""The core of the suite once more, on a real Postgres and Redis."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

# Truncated tables need not survive a power cut.
POSTGRES = "postgres://postgres@127.0.0.1:5432/parlance?options=-c%20synchronous_commit%3Doff"
# Not the one that tests of this run use beside it.
REDIS = "redis://127.0.0.1:6379/8"
HERE = Path(__file__).parent
CORE = (
    "speech",
    "failures",
    "settlement",
    "authentication",
    "bootstrap",
    "admin",
    "overview_figures",
    "limits",
    "idempotency",
    "counts_at_once",
    "database_cut",
    "webhook_rounds",
    "voices/test_nul",
    "voices/test_at_once",
    "voices/test_consents",
)
LEDGER = ("facts_kept", "prepaid", "rollups", "statements", "upkeep")


def require_services() -> tuple[str, str]:
    """Their addresses. Without them the test is skipped, unless they were promised."""
    urls = (
        os.environ.get("PARLANCE_TEST_DATABASE_URL", POSTGRES),
        os.environ.get("PARLANCE_TEST_REDIS_URL", REDIS),
    )
    for url in urls:
        parts = urlsplit(url)
        try:
            socket.create_connection((parts.hostname, parts.port), timeout=2).close()
        except OSError as error:
            if os.environ.get("PARLANCE_REQUIRE_SERVICES") == "1":
                raise
            pytest.skip(f"{parts.scheme}: {error}")
    return urls


def file_of(name: str) -> Path:
    return HERE / (f"{name}.py" if "/" in name else f"test_{name}.py")


@pytest.mark.services
@pytest.mark.timeout(600)
def test_the_core_of_the_suite_on_postgres_and_redis(tmp_path: Path) -> None:
    database, redis = require_services()
    files = [str(HERE / "live_socket"), *(str(file_of(name)) for name in CORE)]
    files += [str(HERE.parent / "billing" / f"test_{name}.py") for name in LEDGER]
    environ = {
        **os.environ,
        "DATABASE_URL": database,
        "REDIS_URL": redis,
        "PARLANCE_DATA": str(tmp_path),
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *files]

    run = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)

    assert run.returncode == 0, run.stdout[-4000:]


@pytest.mark.services
@pytest.mark.timeout(60)
def test_celery_carries_the_reconciler_over_redis(tmp_path: Path) -> None:
    _, redis = require_services()
    assert_worker_closes_an_orphan({"REDIS_URL": f"{redis.rsplit('/', 1)[0]}/9"}, tmp_path)


@pytest.mark.timeout(60)
def test_celery_carries_the_reconciler_over_a_folder(tmp_path: Path) -> None:
    """The embedded default: no broker to install."""
    assert_worker_closes_an_orphan({}, tmp_path)


LEAVE_AN_ORPHAN = """
from uuid import UUID
from billing import services, tasks
from ttsapp import ids
from ttsapp.audit.services import SYSTEM
from ttsapp.tenants.services import create_tenant
tenant = create_tenant(SYSTEM, "Alice", "alice")
long_ago = UUID("01900000-0000-7000-8000-000000000000")
services.reserve(services.Metered(long_ago, tenant.pk, None, "model", "Anna"))
tasks.close_orphans.delay()
"""


def assert_worker_closes_an_orphan(broker: dict[str, str], folder: Path) -> None:
    """A real worker takes the task from a real broker."""
    kept = {name: value for name, value in os.environ.items() if name != "REDIS_URL"}
    database = {"DATABASE_URL": f"sqlite://{folder}/ledger.sqlite3", "PARLANCE_DATA": str(folder)}
    environ = {**kept, "DJANGO_SETTINGS_MODULE": "ttsapp.settings", **database, **broker}
    for arguments in (["migrate", "-v", "0"], ["shell", "-v", "0", "-c", LEAVE_AN_ORPHAN]):
        subprocess.run([sys.executable, "manage.py", *arguments], env=environ, check=True)
    command = [sys.executable, "-m", "celery", "-A", "ttsapp.celery", "worker", "--pool", "solo"]
    worker = subprocess.Popen(
        command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        assert worker.stdout is not None
        assert any('"closed": 1' in line for line in worker.stdout)
    finally:
        worker.terminate()
        worker.communicate(timeout=30)
