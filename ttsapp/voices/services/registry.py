"""Voices: kept once they are encoded, changed, shared, deleted with all that they were made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Max, Q
from django.utils import timezone

from ttsapp.audit.actions import Action
from ttsapp.audit.services import SYSTEM, Actor, record
from ttsapp.errors import ApiError
from ttsapp.idempotency.services import forget_voice
from ttsapp.speech import kept
from ttsapp.tenants.models import Tenant
from ttsapp.voices import fields
from ttsapp.voices.models import Consent, Kind, Removal, Stage, Voice, VoiceVersion
from ttsapp.voices.services import reviews, shelves
from ttsapp.voices.storage import Blob

CHANGEABLE = ("name", "description", "language", "tags", "speed")


@dataclass(frozen=True, slots=True)
class Description:
    """What people say of a voice; checked (`fields.py`)."""

    name: str
    description: str = ""
    language: str = "auto"
    tags: tuple[str, ...] = ()
    speed: float = 1.0


@dataclass(frozen=True, slots=True)
class Encoded:
    """What a version is made of. `clip` is empty where there is none. `contents`: what goes into
    the store with the row that names it."""

    artifact: str
    model: str
    fingerprint: str
    clip: str = ""
    text: str = ""
    start_ms: int = 0
    end_ms: int = 0
    checks: Mapping[str, Any] = field(default_factory=dict)
    contents: Mapping[tuple[Blob, str], bytes] = field(default_factory=dict, repr=False)


def check_room(tenant: Tenant, name: str) -> None:
    """Raises ApiError 409 before anything is encoded that could not be kept."""
    live = Voice.objects.filter(tenant=tenant, deleted_at=None)
    if live.count() >= settings.VOICES:
        message = f"An account may have {settings.VOICES} voices: delete one first."
        raise ApiError(409, "too_many_voices", message)
    if live.filter(folded_name=name.casefold()).exists():
        raise name_taken()


@transaction.atomic
def create_voice(
    actor: Actor,
    tenant: Tenant,
    kind: Kind,
    said: Description,
    encoded: Encoded,
    consent: Consent | None,
    *,
    is_draft: bool = False,
) -> Voice:
    """Raises ApiError 409 for a name that is taken, 403 for a consent that has ended meanwhile.
    `is_draft`: to be heard before it is published."""
    # First, so that the tenant's new voices wait for each other: each is counted before the next.
    locked = Tenant.objects.select_for_update(no_key=True).get(pk=tenant.pk)
    check_room(tenant, said.name)
    if consent is not None:
        check_consent(Consent.objects.select_for_update().get(pk=consent.pk))
    try:
        with transaction.atomic():
            voice = Voice.objects.create(
                tenant=tenant,
                consent=consent,
                kind=kind,
                name=said.name,
                folded_name=said.name.casefold(),
                description=said.description,
                language=said.language,
                tags=list(said.tags),
                speed=said.speed,
                stage=Stage.DRAFT if is_draft else reviews.stage_for(actor, locked, kind),
                created_by=actor.label,
            )
    except IntegrityError:
        raise name_taken() from None
    _add_version(actor, voice, encoded)
    record(
        actor,
        Action.VOICE_CREATED,
        tenant,
        voice.public_id,
        name=said.name,
        kind=kind.value,
        consent=consent.public_id if consent is not None else None,
        artifact=encoded.artifact,
        stage=voice.stage,
    )
    shelves.keep(encoded.contents)
    return voice


@transaction.atomic
def add_version(actor: Actor, voice: Voice, encoded: Encoded) -> VoiceVersion | None:
    """The voice speaks by it from now on. None when it was deleted meanwhile. Raises ApiError 403
    as `reviews.check_renewal`, and for a consent that has ended meanwhile."""
    reviews.check_renewal(actor, voice)
    if voice.consent_id is not None:
        check_consent(Consent.objects.select_for_update().get(pk=voice.consent_id))
    locked = Voice.objects.select_for_update().get(pk=voice.pk)
    if locked.deleted_at is not None:
        return None
    version = _add_version(actor, locked, encoded)
    record(
        actor,
        Action.VOICE_RENEWED,
        voice.tenant,
        voice.public_id,
        version=version.number,
        model=encoded.model,
        artifact=encoded.artifact,
    )
    shelves.keep(encoded.contents)
    return version


@transaction.atomic
def change_voice(actor: Actor, voice: Voice, **changed: Any) -> bool:
    """Any of CHANGEABLE, checked. False when that is as it was. Raises ApiError 409 for a name that
    is taken, 400 for one that is a path."""
    assert set(changed) <= set(CHANGEABLE), "not a field that is changed"
    locked = Voice.objects.select_for_update().get(pk=voice.pk)
    changes = {
        name: [getattr(locked, name), value]
        for name, value in changed.items()
        if getattr(locked, name) != value
    }
    if not changes:
        return False
    if "name" in changes:
        changed["name"] = fields.name(changed["name"])
        changed["folded_name"] = changed["name"].casefold()
    try:
        with transaction.atomic():
            Voice.objects.filter(pk=voice.pk).update(**changed)
    except IntegrityError:
        raise name_taken() from None
    shelves.note_change(locked)
    record(actor, Action.VOICE_CHANGED, voice.tenant, voice.public_id, changes=changes)
    return True


@transaction.atomic
def delete_voice(actor: Actor, voice: Voice) -> bool:
    """Its versions, artifacts, recordings and kept answers go; every web process forgets them
    within a second, the engines in seconds (`unloading`). False when it was deleted already. The
    audit row names what was removed."""
    locked = Voice.objects.select_for_update().get(pk=voice.pk)
    if locked.deleted_at is not None:
        return False
    versions = list(locked.versions.all())
    shelves.note_change(locked)
    locked.versions.all().delete()
    locked.shares.all().delete()
    locked.folded_name, locked.deleted_at = None, timezone.now()
    locked.save(update_fields=["folded_name", "deleted_at"])
    blobs = {(Blob.ARTIFACT, version.artifact) for version in versions}
    blobs |= {(Blob.CLIP, version.clip) for version in versions if version.clip}
    shelves.release(blobs)
    Removal.objects.create(voice=locked, artifacts=sorted({each.artifact for each in versions}))
    forget_voice(voice.public_id)
    transaction.on_commit(partial(kept.forget_voice, voice.public_id))
    record(
        actor,
        Action.VOICE_DELETED,
        voice.tenant,
        voice.public_id,
        name=voice.name,
        removed=sorted(f"{kind}/{digest}" for kind, digest in blobs),
    )
    return True


def delete_ended(older_than: timedelta) -> int:
    """Voices whose consent ended so long ago. Returns how many."""
    before = timezone.now() - older_than
    is_over = Q(consent__withdrawn_at__lte=before) | Q(consent__expires_at__lte=before)
    ended = Voice.objects.filter(is_over, deleted_at=None).select_related("tenant")
    return sum(delete_voice(SYSTEM, voice) for voice in ended)


def check_consent(consent: Consent) -> None:
    """Raises ApiError 403 for one that has ended."""
    if consent.state != "active":
        message = f"This consent is {consent.state}: record a new one of the speaker's."
        raise ApiError(403, f"consent_{consent.state}", message, field="consent")


# ---- inside


def _add_version(actor: Actor, voice: Voice, encoded: Encoded) -> VoiceVersion:
    last = voice.versions.aggregate(last=Max("number"))["last"] or 0
    version = VoiceVersion.objects.create(
        voice=voice,
        number=last + 1,
        model=encoded.model,
        fingerprint=encoded.fingerprint,
        artifact=encoded.artifact,
        clip=encoded.clip,
        text=encoded.text,
        start_ms=encoded.start_ms,
        end_ms=encoded.end_ms,
        checks=dict(encoded.checks),
        created_by=actor.label,
    )
    shelves.note_change(voice)
    return version


def name_taken() -> ApiError:
    message = "There is a voice of that name already: choose another, or delete one of your own."
    return ApiError(409, "name_taken", message, field="name")
