"""What clients heard, compared with the ledger."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from uuid import UUID

import psycopg

from tests.product.crash.load import Attempt, Load

BYTES_PER_MS = 48
# Between an attempt's end and the death of the process that answered it.
NEAR_SECONDS = 5.0


@dataclass(frozen=True)
class Event:
    id: UUID
    outcome: str
    billed: int
    audio_ms: int

    def is_of(self, attempt: Attempt) -> bool:
        """Whether it was spoken and charged just as it was heard."""
        spoken = (self.outcome, self.billed, self.audio_ms)
        return spoken == ("completed", len(attempt.text), attempt.heard // BYTES_PER_MS)


@dataclass(frozen=True)
class Books:
    """The ledger after a load, when no request is under way any more."""

    load: Load
    events: dict[UUID, Event]
    reservations: int
    without_row: int

    @classmethod
    def of(cls, load: Load) -> Books:
        with psycopg.connect(load.database) as connection:
            rows = connection.execute(
                "SELECT id, outcome, billed_characters, audio_ms FROM billing_usageevent "
                "WHERE id >= %s",
                [load.began],
            ).fetchall()
            left = connection.execute(
                "SELECT (SELECT count(*) FROM billing_reservation), "
                "(SELECT count(*) FROM billing_usageevent event WHERE NOT EXISTS "
                "(SELECT 1 FROM speech_requestlog log WHERE log.id = event.id))"
            ).fetchone()
        assert left is not None
        return cls(load, {row[0]: Event(*row) for row in rows}, left[0], left[1])

    def complaints(self) -> list[str]:
        """Empty: nothing is charged twice, or unheard, or beyond its text, and nothing is lost."""
        found = []
        if self.reservations:
            found.append(f"{self.reservations} reservations are left")
        if self.without_row:
            found.append(f"{self.without_row} events have no row in the log")
        for attempt in self.load.attempts:
            event = self.events.get(attempt.request) if attempt.request else None
            if (why := self._wrong(attempt, event)) is not None:
                found.append(f"{why}: {attempt} {event}")
        return [*found, *self._unheard(), *self._twice()]

    def summary(self) -> dict[str, object]:
        attempts = self.load.attempts
        return {
            "attempts": len(attempts),
            "heard_whole": sum(attempt.is_whole for attempt in attempts),
            "replayed": sum(attempt.replays is not None for attempt in attempts),
            "given_away": sum(map(self._is_given_away, attempts)),
            "killed": Counter(victim for victim, _ in self.load.killed),
            "events": Counter(event.outcome for event in self.events.values()),
            "charged_characters": sum(event.billed for event in self.events.values()),
        }

    def _wrong(self, attempt: Attempt, event: Event | None) -> str | None:
        if attempt.replays is not None:
            first = self.events.get(attempt.replays)
            is_right = event is None and first is not None
            heard = not attempt.is_whole or (first is not None and first.is_of(attempt))
            return None if is_right and heard else "a replay is none"
        if attempt.is_whole:
            is_right = event is not None and event.is_of(attempt)
            return None if is_right or self._is_given_away(attempt) else "heard, and not charged so"
        if event is None:
            return "heard, and not noted" if attempt.heard and not self._died(attempt) else None
        if event.outcome not in ("completed", "cancelled"):
            return "a failure is charged" if event.billed else None
        if event.billed > len(attempt.text):
            return "charged beyond its text"
        return "heard, and not noted" if attempt.heard // BYTES_PER_MS > event.audio_ms else None

    def _is_given_away(self, attempt: Attempt) -> bool:
        """Its process died after the last of the audio and before it was settled: it is free."""
        event = self.events.get(attempt.request) if attempt.request else None
        is_free = event is None or event.outcome == "lost"
        is_whole = attempt.is_whole and attempt.replays is None
        return is_whole and is_free and self._died(attempt)

    def _died(self, attempt: Attempt) -> bool:
        return any(
            victim == "web" and abs(at - attempt.ended_at) < NEAR_SECONDS
            for victim, at in self.load.killed
        )

    def _unheard(self) -> list[str]:
        known = {attempt.request for attempt in self.load.attempts}
        return [
            f"charged, and never answered: {event}"
            for event in self.events.values()
            if event.billed and event.id not in known
        ]

    def _twice(self) -> list[str]:
        """Under one idempotency key, at most one request is spoken to its end."""
        spoken = Counter(
            attempt.key
            for attempt in self.load.attempts
            if attempt.key is not None
            and attempt.request in self.events
            and self.events[attempt.request].outcome == "completed"
        )
        return [
            f"{count} charges under one key: {key}" for key, count in spoken.items() if count > 1
        ]
