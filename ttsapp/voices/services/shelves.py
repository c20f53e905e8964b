"""Telling every process that a tenant's voices have changed, and letting go of what none has."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from django.db import transaction
from django.db.models import F

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


def release(blobs: Iterable[tuple[Blob, str]]) -> None:
    """Removes from the store, once the transaction is through, what no row names any more: the
    same recording may be somebody else's voice too."""
    for kind, digest in {blob for blob in blobs if blob[1]}:
        transaction.on_commit(partial(_remove_unless_used, kind, digest))


def _remove_unless_used(kind: Blob, digest: str) -> None:
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
