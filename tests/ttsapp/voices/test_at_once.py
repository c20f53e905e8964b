"""What two tenants do at the same moment with the same recording, or one tenant many times: on
Postgres too (`test_services.py`)."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection

from tests.ttsapp.conftest import Party
from tests.ttsapp.voices.conftest import stored
from ttsapp.audit.services import Actor
from ttsapp.voices import storage
from ttsapp.voices.clips.evidence import Evidence
from ttsapp.voices.models import Consent, Kind, Voice
from ttsapp.voices.services import consents, registry, shelves
from ttsapp.voices.services.registry import Description, Encoded
from ttsapp.voices.storage import Blob

ACTOR = Actor(None, "user:somebody")
TERMS = consents.Terms("Ann", "Ann Archer")
PROOF = Evidence(b"%PDF-1.7 I agree.", "application/pdf")
ARTIFACT, CLIP = (storage.digest_of(each) for each in (b"an artifact", b"a clip"))
CONTENTS = {(Blob.ARTIFACT, ARTIFACT): b"an artifact", (Blob.CLIP, CLIP): b"a clip"}
ENCODED = Encoded(ARTIFACT, "scripted-base", "scripted-1", clip=CLIP, contents=CONTENTS)
# So long a rival is watched that has to wait: one that does not is through in a tenth of it.
SECONDS = 0.5
threads = ThreadPoolExecutor(6)


def consent_of(party: Party) -> Consent:
    return consents.record_consent(ACTOR, party.tenant, TERMS, PROOF)


def voice_of(party: Party, name: str = "Ann") -> Voice:
    said = Description(name)
    return registry.create_voice(ACTOR, party.tenant, Kind.DESIGNED, said, ENCODED, None)


def remove_consent(consent: Consent) -> None:
    consents.delete_consent(ACTOR, consent)


def remove_voice(voice: Voice) -> None:
    registry.delete_voice(ACTOR, voice)


def beside(work: Callable[[], object]) -> Future[object]:
    """In a thread with a connection of its own."""

    def alone() -> object:
        try:
            return work()
        finally:
            connection.close()

    return threads.submit(alone)


def waited(rival: Future[object]) -> bool:
    """Whether it is still not through."""
    try:
        rival.exception(SECONDS)
    except TimeoutError:
        return True
    return False


BOTH = [(consent_of, remove_consent, ["evidence"]), (voice_of, remove_voice, ["artifact", "clip"])]


@pytest.mark.parametrize(("make", "remove", "left"), BOTH, ids=["proof", "voice"])
def test_who_comes_while_it_is_removed_keeps_his(
    alice: Party,
    bob: Party,
    store: Path,
    monkeypatch: pytest.MonkeyPatch,
    make: Callable[[Party], object],
    remove: Callable[[object], None],
    left: list[str],
) -> None:
    """Given nobody else was found to use it, when Bob comes before it is removed."""
    hers, is_used, rivals = make(alice), shelves._is_used, []

    def found(kind: Blob, digest: str) -> bool:
        answer = is_used(kind, digest)
        if not rivals:
            rivals.append(beside(partial(make, bob)))
            waited(rivals[0])
        return answer

    monkeypatch.setattr(shelves, "_is_used", found)
    remove(hers)
    rivals[0].result(30)

    assert stored(store) == left


@pytest.mark.parametrize(("make", "remove", "left"), BOTH, ids=["proof", "voice"])
def test_who_goes_while_it_is_put_takes_nothing_with_him(
    alice: Party,
    bob: Party,
    store: Path,
    monkeypatch: pytest.MonkeyPatch,
    make: Callable[[Party], object],
    remove: Callable[[object], None],
    left: list[str],
) -> None:
    """Given Bob's is in the store, when hers is removed before his row can be seen."""
    hers, put, rivals = make(alice), storage.put_named, []

    def put_slowly(kind: Blob, name: str, content: bytes) -> None:
        put(kind, name, content)
        if not rivals:
            rivals.append(beside(partial(remove, hers)))
            waited(rivals[0])

    monkeypatch.setattr(storage, "put_named", put_slowly)
    make(bob)
    rivals[0].result(30)

    assert stored(store) == left


def test_a_voice_that_goes_before_the_next_is_written(
    alice: Party, bob: Party, store: Path
) -> None:
    """Given Bob's recording is encoded, as hers was, when hers goes before his has a row."""
    remove_voice(voice_of(alice))
    assert stored(store) == []
    voice_of(bob)
    assert stored(store) == ["artifact", "clip"]


def test_no_more_voices_than_allowed_at_once(
    alice: Party, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given room for two, when each of six has counted before any other is written."""
    monkeypatch.setattr(settings, "VOICES", 2)
    check, all_have = registry.check_room, threading.Barrier(6)

    def counted(*given: object) -> None:
        check(*given)
        try:
            all_have.wait(SECONDS)
        except threading.BrokenBarrierError:
            return  # they come one after the other

    monkeypatch.setattr(registry, "check_room", counted)
    made = [beside(partial(voice_of, alice, str(place))) for place in range(6)]
    refusals = [each.exception(30) for each in made]

    assert [getattr(each, "code", each) for each in refusals].count("too_many_voices") == 4
    assert Voice.objects.count() == 2
