"""Telling every process that a tenant's voices have changed; keeping what rows name, and letting
go of what none names any more.

The same recording may be somebody else's too, who comes or goes at this very moment: what is put
and what is removed under one digest exclude each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial

from django.db import Error as DatabaseError
from django.db import transaction
from django.db.models import F

from ttsapp import locks
from ttsapp.voices import artifacts, previews, storage
from ttsapp.voices.models import Consent, Share, Shelf, Voice, VoiceVersion
from ttsapp.voices.storage import Blob


def note_change(voice: Voice) -> None:
    """Its tenant and those it is shared with see the new state within a second. Inside the
    transaction of the change."""
    note_changes([voice])


def note_changes(voices: Iterable[Voice]) -> None:
    rows = list(voices)
    tenants = {row.tenant_id for row in rows}
    tenants |= set(Share.objects.filter(voice__in=rows).values_list("tenant_id", flat=True))
    note_tenants(tenants)


def note_tenants(tenants: Iterable[int]) -> None:
    for tenant_id in sorted(tenants):
        Shelf.objects.get_or_create(tenant_id=tenant_id)
        Shelf.objects.filter(tenant_id=tenant_id).update(number=F("number") + 1)


def keep(contents: Mapping[tuple[Blob, str], bytes]) -> None:
    """Puts into the store what rows of this transaction name. The last thing that it does: what
    cannot be written down leaves no recording, what cannot be stored no row; and nobody waits for
    another lock while holding these. Inside `released_unless_written`."""
    for kind, digest in sorted(contents):
        locks.hold(f"{kind}/{digest}")
        storage.put_named(kind, digest, contents[kind, digest])


def release(blobs: Iterable[tuple[Blob, str]]) -> None:
    """Removes from the store, once the transaction is through, what no row names any more."""
    for kind, digest in {blob for blob in blobs if blob[1]}:
        transaction.on_commit(partial(_remove_unless_used, kind, digest))


@contextmanager
def released_unless_written(blobs: Iterable[tuple[Blob, str]]) -> Iterator[None]:
    """Around a transaction that keeps them: where it fails, whatever the reason, nothing stays
    behind that no row names."""
    is_written = False
    try:
        yield
        is_written = True
    finally:
        if not is_written:
            with suppress(DatabaseError):
                release(blobs)


@transaction.atomic
def _remove_unless_used(kind: Blob, digest: str) -> None:
    locks.hold(f"{kind}/{digest}")
    if not _is_used(kind, digest):
        storage.remove(kind, digest)
        artifacts.cache.forget(digest)
        if kind is Blob.ARTIFACT:
            # Afterwards: without its artifact no more of them are made.
            for name in previews.names_of(digest):
                storage.remove(Blob.PREVIEW, name)


def _is_used(kind: Blob, digest: str) -> bool:
    if kind is Blob.ARTIFACT:
        return VoiceVersion.objects.filter(artifact=digest).exists()
    if kind is Blob.CLIP:
        return VoiceVersion.objects.filter(clip=digest).exists()
    if kind is Blob.EVIDENCE:
        return Consent.objects.filter(evidence=digest).exists()
    return False
