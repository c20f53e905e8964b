"""A request whose process dies once it is charged, and before its answer is kept for its key."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from uuid import UUID, uuid4

import httpx
import psycopg

from tests.product.crash.load import Attempt, Load
from tests.product.running import PATIENCE
from tests.ttsapp.conftest import eventually

# Spoken for longer than it takes to lock a row after its first sound.
TEXT = "Good morning, everyone, and welcome to the old harbour. " * 6
# While the process may live, and once it has not said for long enough that it does.
TOLD = ["409 idempotency_in_progress", "409 idempotency_answer_not_kept"]
CLAIM = "FROM idempotency_keyedrequest WHERE request_id = %s AND is_running"
EVENT = "SELECT outcome FROM billing_usageevent WHERE id = %s"
END_WAITING = (
    "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
    "WHERE pg_backend_pid() = ANY(pg_blocking_pids(pid))"
)


def lose_answer(load: Load) -> Attempt:
    """The attempt that was charged, and heard but for its end. Its answer's row is locked, and so
    cannot be kept, until its process is dead."""
    load.pause_before("web")
    attempt = Attempt(TEXT.strip(), str(uuid4()))
    load.attempts.append(attempt)
    with psycopg.connect(load.database) as ours, ThreadPoolExecutor(1) as listening:
        with load.asked(attempt) as answer:
            claimed = ours.execute(f"SELECT {CLAIM} FOR UPDATE", [attempt.request]).fetchall()
            assert len(claimed) == 1, f"it was kept before it was locked: {attempt}"
            hearing = listening.submit(_hear, attempt, answer)
            eventually(lambda: _is_charged(load, attempt.request), PATIENCE)
            load.kill("web")
            hearing.result(PATIENCE)
        # What the dead process has asked of the database is not done after all.
        ours.execute(END_WAITING)
    eventually(load.product.is_ready, PATIENCE)
    return attempt


def try_again(load: Load, lost: Attempt) -> list[str]:
    """What two attempts under the same key are told: `TOLD`."""
    told = [_told(load, lost)]
    with psycopg.connect(load.database) as connection:
        connection.execute(
            "UPDATE idempotency_keyedrequest SET leased_until = now() WHERE request_id = %s",
            [lost.request],
        )
    return [*told, _told(load, lost)]


def _hear(attempt: Attempt, answer: httpx.Response) -> None:
    with suppress(httpx.RemoteProtocolError):
        for piece in answer.iter_raw():
            attempt.heard += len(piece)
        attempt.is_whole = True


def _told(load: Load, lost: Attempt) -> str:
    attempt = Attempt(lost.text, lost.key)
    load.attempts.append(attempt)
    with load.asked(attempt) as answer:
        answer.read()
    return f"{answer.status_code} {answer.json()['error']['code']}"


def _is_charged(load: Load, request: UUID | None) -> bool:
    with psycopg.connect(load.database) as connection:
        return connection.execute(EVENT, [request]).fetchone() is not None
