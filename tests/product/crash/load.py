"""Clients that retry and leave, while parts of the product are killed under them."""

from __future__ import annotations

import asyncio
import math
import os
import random
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import httpx
import psycopg

from tests.product.running import PATIENCE, Running
from ttsapp import ids

RESTART_SECONDS = 25.0
# By their command lines; of the database the connections are ended.
PARTS = {"web": "manage.py serve", "core": "gpu_engine.server.core", "worker": "celery"}
VICTIMS = (*PARTS, "database")
WORDS = ("Morning", "Evening", "Hello", "Thanks", "Welcome", "Goodbye", "Sorry", "Certainly")


@dataclass
class Attempt:
    """One request as its client saw it. `request` is None where no answer came."""

    text: str
    key: str | None
    request: UUID | None = None
    status: int = 0
    heard: int = 0
    is_whole: bool = False
    replays: UUID | None = None
    ended_at: float = 0.0

    def told(self, answer: httpx.Response) -> None:
        """What its head says."""
        self.request = UUID(answer.headers["x-request-id"])
        self.status = answer.status_code
        if first := answer.headers.get("x-parlance-first-request"):
            self.replays = UUID(first)


@dataclass
class Load:
    """`killed`: what, and when by the clock of the attempts. `began`: before its first."""

    product: Running
    database: str
    chance: random.Random
    attempts: list[Attempt] = field(default_factory=list)
    killed: list[tuple[str, float]] = field(default_factory=list)
    began: UUID = field(default_factory=lambda: ids.lowest(datetime.now(UTC)))

    async def run(self, requests: int, at_once: int, kills: int) -> None:
        # Spread over the run, and each kind as often as the others.
        due = {
            int(requests * (number + 0.5) / kills): VICTIMS[number % len(VICTIMS)]
            for number in range(kills)
        }
        waiting, done = asyncio.Semaphore(at_once), 0

        async def one(number: int) -> None:
            nonlocal done
            async with waiting:
                await self._request(number)
            done += 1
            if victim := due.get(done):
                await asyncio.to_thread(self.pause_before, victim)
                await asyncio.to_thread(self.kill, victim)

        async with asyncio.TaskGroup() as group:
            for number in range(requests):
                group.create_task(one(number))

    async def _request(self, number: int) -> None:
        """Tried until it is heard, every second one under an idempotency key. Every fourth is left
        in the middle."""
        text = f"{self.chance.choice(WORDS)}, {self.chance.choice(WORDS).lower()}."
        key = str(uuid4()) if number % 2 else None
        leave_after = self.chance.randrange(1, 40_000) if number % 4 == 0 else None
        give_up = time.monotonic() + PATIENCE
        while time.monotonic() < give_up:
            attempt = Attempt(text, key)
            self.attempts.append(attempt)
            try:
                await self._try(attempt, leave_after)
            except httpx.HTTPError:
                attempt.is_whole = False
            attempt.ended_at = time.monotonic()
            if attempt.is_whole or (leave_after is not None and attempt.heard >= leave_after):
                return
            await asyncio.sleep(2 * self.chance.random())

    async def _try(self, attempt: Attempt, leave_after: int | None) -> None:
        async with (
            httpx.AsyncClient(timeout=60) as client,
            client.stream(**self._call(attempt)) as answer,
        ):
            attempt.told(answer)
            if answer.status_code != 200:
                return
            async for piece in answer.aiter_raw():
                attempt.heard += len(piece)
                if leave_after is not None and attempt.heard >= leave_after:
                    return
            attempt.is_whole = True

    @contextmanager
    def asked(self, attempt: Attempt) -> Iterator[httpx.Response]:
        """An attempt by itself, whose answer has begun."""
        with httpx.Client(timeout=60) as client, client.stream(**self._call(attempt)) as answer:
            attempt.told(answer)
            yield answer
        attempt.ended_at = time.monotonic()

    def _call(self, attempt: Attempt) -> dict[str, Any]:
        body = {"model": "tts-1", "voice": "alloy", "input": attempt.text}
        key = {"Idempotency-Key": attempt.key} if attempt.key is not None else {}
        return {
            "method": "POST",
            "url": f"{self.product.base}/v1/audio/speech",
            "json": {**body, "response_format": "pcm"},
            "headers": {**self.product.headers, **key},
        }

    def pause_before(self, victim: str) -> None:
        """A part that dies more often is not started again."""
        last = max((at for name, at in self.killed if name == victim), default=-math.inf)
        time.sleep(max(0.0, last + RESTART_SECONDS - time.monotonic()))

    def kill(self, victim: str) -> None:
        if victim == "database":
            with psycopg.connect(self.database, autocommit=True) as connection:
                connection.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )
        else:
            os.kill(self.product.find(PARTS[victim]), signal.SIGKILL)
        self.killed.append((victim, time.monotonic()))
