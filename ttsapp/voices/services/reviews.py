"""On the way to be used: drafts that are heard first, and clones that wait for approval where their
tenant wants that."""

from __future__ import annotations

from django.db import transaction

from ttsapp.audit.actions import Action
from ttsapp.audit.services import SYSTEM, Actor, record
from ttsapp.errors import ApiError
from ttsapp.tenants.models import Membership, Permission, Tenant
from ttsapp.voices import fields
from ttsapp.voices.models import Kind, Stage, Voice
from ttsapp.voices.services import shelves

CLONES = frozenset({Kind.X_VECTOR, Kind.IN_CONTEXT})
_PUBLISHED = {
    Stage.REVIEW: Action.VOICE_SUBMITTED,
    Stage.LIVE: Action.VOICE_PUBLISHED,
}


def stage_for(actor: Actor, tenant: Tenant, kind: str) -> Stage:
    """Of what this actor publishes. A key approves nothing: whoever may make keys has one."""
    must_wait = tenant.reviews_voices and kind in CLONES and not _may_approve(actor, tenant)
    return Stage.REVIEW if must_wait else Stage.LIVE


def check_renewal(actor: Actor, voice: Voice) -> None:
    """Raises ApiError 403 where another recording would speak that nobody has approved."""
    tenant = Tenant.objects.get(pk=voice.tenant_id)
    if voice.stage == Stage.LIVE and stage_for(actor, tenant, voice.kind) is Stage.REVIEW:
        message = (
            "In this account clones are approved before they are used: have an owner or admin send "
            "another recording for this voice, or clone another."
        )
        raise ApiError(403, "review_required", message)


@transaction.atomic
def publish(actor: Actor, voice: Voice) -> Stage:
    """What becomes of it: in use within a second, or in review; one in use stays that."""
    tenant = Tenant.objects.get(pk=voice.tenant_id)
    locked = _locked(voice)
    if locked.stage == Stage.LIVE:
        return Stage.LIVE
    stage = stage_for(actor, tenant, locked.kind)
    if stage != locked.stage:
        _move(actor, locked, stage, _PUBLISHED[stage])
    return stage


@transaction.atomic
def decide(actor: Actor, voice: Voice, *, is_approved: bool, reason: str = "") -> None:
    """By whoever may approve. Raises ApiError 409 for one that waits for nobody."""
    note = fields.line(reason, "reason", 300, is_required=False)
    locked = _locked(voice)
    if locked.stage != Stage.REVIEW:
        message = f"This voice does not wait for approval: it is {locked.get_stage_display()}."
        raise ApiError(409, "not_in_review", message, field="voice")
    if is_approved:
        _move(actor, locked, Stage.LIVE, Action.VOICE_APPROVED, note)
    else:
        _move(actor, locked, Stage.REFUSED, Action.VOICE_REFUSED, note)


def _move(actor: Actor, voice: Voice, stage: Stage, action: Action, note: str = "") -> None:
    changes = {"stage": (voice.stage, stage.value)}
    Voice.objects.filter(pk=voice.pk).update(stage=stage.value, review_note=note)
    shelves.note_change(voice)
    record(
        actor,
        action,
        voice.tenant,
        voice.public_id,
        changes=changes,
        reason=note,
        name=voice.name,
    )


def _locked(voice: Voice) -> Voice:
    """Raises ApiError 404 for one that was deleted meanwhile."""
    found = Voice.objects.select_for_update(of=("self",)).select_related("tenant")
    row = found.filter(pk=voice.pk, deleted_at=None).first()
    if row is None:
        raise ApiError(404, "voice_not_found", "This voice was deleted.", field="voice")
    return row


def _may_approve(actor: Actor, tenant: Tenant) -> bool:
    if actor == SYSTEM:
        return True
    if actor.user_id is None:
        return False
    found = Membership.objects.filter(tenant=tenant, user_id=actor.user_id).first()
    return found is not None and found.may(Permission.APPROVE_VOICES)
