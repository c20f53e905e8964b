"""Consents: recorded with their proof, withdrawn within a second, deleted with their voices."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from ttsapp.audit.actions import Action
from ttsapp.audit.services import Actor, record
from ttsapp.errors import ApiError
from ttsapp.tenants.models import Tenant
from ttsapp.voices import fields, storage
from ttsapp.voices.clips.evidence import Evidence
from ttsapp.voices.models import Consent, Relation, Voice
from ttsapp.voices.services import registry, shelves
from ttsapp.voices.storage import Blob

ERASED = "(erased)"


@dataclass(frozen=True, slots=True)
class Terms:
    """What a speaker agreed to."""

    name: str
    person: str
    relation: Relation = Relation.UNSTATED
    purposes: str = "speech synthesis"
    territory: str = "worldwide"
    language: str = ""
    expires_at: datetime | None = None

    def checked(self) -> Terms:
        """Raises ApiError 400, naming the field."""
        return Terms(
            name=fields.name(self.name),
            person=fields.line(self.person, "person", 200),
            relation=self.relation,
            purposes=fields.line(self.purposes, "purposes", 500),
            territory=fields.line(self.territory, "territory", 200),
            language=fields.line(self.language, "language", 35, is_required=False),
            expires_at=fields.expiry(self.expires_at),
        )


def record_consent(actor: Actor, tenant: Tenant, terms: Terms, evidence: Evidence) -> Consent:
    """Raises ApiError 400, naming the field that is at fault."""
    agreed = terms.checked()
    proof = (Blob.EVIDENCE, storage.digest_of(evidence.content))
    with shelves.released_unless_written([proof]), transaction.atomic():
        consent = _recorded(actor, tenant, agreed, evidence.media_type, digest=proof[1])
        shelves.keep({proof: evidence.content})
    return consent


def _recorded(
    actor: Actor, tenant: Tenant, agreed: Terms, media_type: str, *, digest: str
) -> Consent:
    consent = Consent.objects.create(
        tenant=tenant,
        name=agreed.name,
        person=agreed.person,
        relation=agreed.relation,
        purposes=agreed.purposes,
        territory=agreed.territory,
        language=agreed.language,
        expires_at=agreed.expires_at,
        evidence=digest,
        evidence_type=media_type,
        created_by=actor.label,
    )
    record(
        actor,
        Action.CONSENT_RECORDED,
        tenant,
        consent.public_id,
        relation=agreed.relation.value,
        expires_at=_plain(agreed.expires_at),
        evidence=digest,
    )
    return consent


@transaction.atomic
def rename_consent(actor: Actor, consent: Consent, name: str) -> None:
    locked = Consent.objects.select_for_update().get(pk=consent.pk)
    before, locked.name = locked.name, fields.name(name)
    if before != locked.name:
        locked.save(update_fields=["name"])
        changes = {"name": [before, locked.name]}
        record(actor, Action.CONSENT_CHANGED, consent.tenant, consent.public_id, changes=changes)


@transaction.atomic
def limit_consent(actor: Actor, consent: Consent, expires_at: datetime | None) -> None:
    """Another end. Raises ApiError 400 for one that has passed, 409 once it was withdrawn."""
    locked = Consent.objects.select_for_update().get(pk=consent.pk)
    if locked.withdrawn_at is not None:
        message = "This consent was withdrawn: record a new one."
        raise ApiError(409, "consent_withdrawn", message, field="consent")
    before, locked.expires_at = locked.expires_at, fields.expiry(expires_at)
    locked.save(update_fields=["expires_at"])
    shelves.note_changes(Voice.objects.filter(consent=locked, deleted_at=None))
    changes = {"expires_at": [_plain(before), _plain(expires_at)]}
    record(actor, Action.CONSENT_CHANGED, consent.tenant, consent.public_id, changes=changes)


@transaction.atomic
def withdraw_consent(actor: Actor, consent: Consent, because: str = "") -> bool:
    """Its voices are refused everywhere within a second. False when it was withdrawn already."""
    reason = fields.line(because, "reason", 300, is_required=False)
    found = Consent.objects.filter(pk=consent.pk, withdrawn_at=None, deleted_at=None)
    if not found.update(withdrawn_at=timezone.now(), withdrawn_because=reason):
        return False
    voices = list(Voice.objects.filter(consent=consent, deleted_at=None))
    shelves.note_changes(voices)
    record(
        actor,
        Action.CONSENT_WITHDRAWN,
        consent.tenant,
        consent.public_id,
        reason=reason,
        voices=[voice.public_id for voice in voices],
    )
    return True


@transaction.atomic
def delete_consent(actor: Actor, consent: Consent) -> None:
    """Withdrawn, its voices and its proof deleted, the speaker's name erased. The row stays: the
    register says which audio was made under it."""
    withdraw_consent(actor, consent, "deleted")
    locked = Consent.objects.select_for_update().get(pk=consent.pk)
    for voice in Voice.objects.filter(consent=locked, deleted_at=None).select_related("tenant"):
        registry.delete_voice(actor, voice)
    removed, locked.evidence = locked.evidence, ""
    locked.person, locked.deleted_at = ERASED, timezone.now()
    locked.save(update_fields=["evidence", "person", "deleted_at"])
    shelves.release([(Blob.EVIDENCE, removed)])
    record(actor, Action.CONSENT_DELETED, consent.tenant, consent.public_id, evidence=removed)


def _plain(moment: datetime | None) -> str | None:
    return moment.isoformat(timespec="seconds") if moment is not None else None
