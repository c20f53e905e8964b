"""Who leaves in the middle, or a database that fails, leaves nothing of a speaker in the store."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError, transaction

from tests.ttsapp.conftest import Party
from tests.ttsapp.scripted_engine import ScriptedEngine
from tests.ttsapp.voices import recordings
from tests.ttsapp.voices.conftest import stored
from ttsapp import background, database
from ttsapp.audit.services import Actor
from ttsapp.speech.order import Order
from ttsapp.voices import storage
from ttsapp.voices.clips.evidence import Evidence
from ttsapp.voices.models import Consent, Voice
from ttsapp.voices.services import cloning as service
from ttsapp.voices.services import consents, encoding, registry, shelves
from ttsapp.voices.services.registry import Description
from ttsapp.voices.storage import Blob

ALICE = Actor(None, "user:alice")
SAMPLE = recordings.wav(recordings.speech())
TERMS = consents.Terms("Ann", "Ann Archer")


@dataclass
class Slow:
    """Does its work once it may, and says that it has begun."""

    work: Callable[..., Any]
    begun: threading.Event = field(default_factory=threading.Event)
    may: threading.Event = field(default_factory=threading.Event)

    def __call__(self, *given: Any, **options: Any) -> Any:
        self.begun.set()
        assert self.may.wait(30)
        return self.work(*given, **options)


@pytest.fixture
async def making(
    order: Order, cloning: ScriptedEngine, alice: Party
) -> Callable[[], asyncio.Task[Voice]]:
    """Begins a clone in this loop, which `order` cleans up behind."""
    proof = Evidence(b"%PDF-1.7 I agree.", "application/pdf")
    agreed = await database.write(consents.record_consent, ALICE, alice.tenant, TERMS, proof)

    def begin() -> asyncio.Task[Voice]:
        said = Description("Ann")
        work = service.clone(ALICE, alice.tenant, said, agreed.public_id, SAMPLE)
        return asyncio.create_task(work)

    return begin


async def left(task: asyncio.Task[Voice], slow: Slow) -> int:
    """How many voices there are once its client has gone in the middle, and all else is done."""
    assert await asyncio.to_thread(slow.begun.wait, 30)
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    slow.may.set()
    assert await background.drain(30) == 0
    # What ended in that moment began what lets go of it.
    assert await background.drain(30) == 0
    return await database.read(Voice.objects.count)


async def test_who_leaves_while_it_is_prepared_leaves_nothing(
    making: Callable[[], asyncio.Task[Voice]], store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = Slow(encoding._clip)
    monkeypatch.setattr(encoding, "_clip", slow)
    assert await left(making(), slow) == 0
    assert stored(store) == ["evidence"]


@pytest.mark.parametrize("written", [(registry, "create_voice"), (storage, "put_named")])
async def test_who_leaves_while_it_is_written_has_a_whole_voice(
    making: Callable[[], asyncio.Task[Voice]],
    store: Path,
    monkeypatch: pytest.MonkeyPatch,
    written: tuple[Any, str],
) -> None:
    slow = Slow(getattr(*written))
    monkeypatch.setattr(*written, slow)
    assert await left(making(), slow) == 1
    assert stored(store) == ["artifact", "clip", "evidence"]


@pytest.mark.parametrize("broken", [(consents, "record"), (storage, "put_named")])
async def test_a_consent_is_recorded_with_its_proof_or_not_at_all(
    order: Order,
    alice: Party,
    store: Path,
    monkeypatch: pytest.MonkeyPatch,
    broken: tuple[Any, str],
) -> None:
    def refused(*_: Any, **__: Any) -> None:
        raise OperationalError("database is locked")

    monkeypatch.setattr(*broken, refused)
    proof = Evidence(b"%PDF-1.7 I agree.", "application/pdf")
    with pytest.raises(OperationalError):
        await database.write(consents.record_consent, ALICE, alice.tenant, TERMS, proof)
    assert (stored(store), await database.read(Consent.objects.count)) == ([], 0)


async def test_a_row_that_cannot_be_written_leaves_nothing(
    making: Callable[[], asyncio.Task[Voice]], store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: Any, **__: Any) -> Voice:
        raise OperationalError("database is locked")

    monkeypatch.setattr(registry, "create_voice", refused)
    with pytest.raises(OperationalError):
        await making()
    assert stored(store) == ["evidence"]


async def test_a_store_that_fails_half_way_leaves_nothing(
    making: Callable[[], asyncio.Task[Voice]], store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put = storage.put_named

    def full(kind: Blob, name: str, content: bytes) -> None:
        if kind is Blob.CLIP:
            raise OSError(28, "No space left on device")
        put(kind, name, content)

    monkeypatch.setattr(storage, "put_named", full)
    with pytest.raises(OSError, match="No space left"):
        await making()
    assert (stored(store), await database.read(Voice.objects.count)) == (["evidence"], 0)


def test_what_is_put_in_vain_is_removed_again(alice: Party, store: Path) -> None:
    """Given all is written, when the transaction itself does not come through."""
    blob = (Blob.EVIDENCE, storage.digest_of(b"I agree."))
    written = shelves.released_unless_written([blob])
    with pytest.raises(OperationalError), written, transaction.atomic():
        shelves.keep({blob: b"I agree."})
        assert stored(store) == ["evidence"]
        raise OperationalError("the connection is lost")
    assert stored(store) == []
