"""Who may speak with a voice, and whose lists it is in."""

from __future__ import annotations

from django.core import signing
from django.db import transaction
from django.db.models import F

from ttsapp.audit.actions import Action
from ttsapp.audit.services import Actor, record
from ttsapp.errors import ApiError, invalid
from ttsapp.tenants.models import Tenant
from ttsapp.voices.models import HiddenPreset, Share, Voice
from ttsapp.voices.services import shelves

CODE_SALT = "voice share"
CODE_SECONDS = 7 * 24 * 3600
# One account is not told who acted in another.
_ANOTHER = Actor(None, "another account")


def share_code(voice: Voice) -> str:
    """For a week, or until a share of the voice ends: whoever enters it in their own account may
    speak with the voice."""
    said = [voice.public_id, voice.share_series]
    return signing.dumps(said, salt=CODE_SALT, compress=False)


@transaction.atomic
def accept_share(actor: Actor, tenant: Tenant, code: str) -> Voice:
    """Raises ApiError 400 for a code that is none, no longer one, or the tenant's own."""
    try:
        public_id, series = signing.loads(code.strip(), salt=CODE_SALT, max_age=CODE_SECONDS)
    except (signing.BadSignature, ValueError):
        raise _no_code() from None
    live = Voice.objects.select_for_update().filter(deleted_at=None)
    voice = live.filter(public_id=public_id, share_series=series).first()
    if voice is None or voice.tenant_id == tenant.pk:
        raise _no_code()
    _, is_new = Share.objects.get_or_create(voice=voice, tenant=tenant)
    if is_new:
        shelves.note_tenants([tenant.pk])
        record(actor, Action.VOICE_SHARED, tenant, voice.public_id, name=voice.name)
        record(_ANOTHER, Action.VOICE_SHARED, voice.tenant, voice.public_id, name=voice.name)
    return voice


@transaction.atomic
def end_share(actor: Actor, tenant: Tenant, share: Share) -> None:
    """By either side, whose actor the other is not told; in force within a second. Codes that were
    given out before are void: the same one would begin it again."""
    voice = share.voice
    Voice.objects.filter(pk=voice.pk).update(share_series=F("share_series") + 1)
    share.delete()
    shelves.note_tenants([share.tenant_id])
    for party in (voice.tenant, share.tenant):
        who = actor if party == tenant else _ANOTHER
        record(who, Action.VOICE_UNSHARED, party, voice.public_id, name=voice.name)


@transaction.atomic
def hide_preset(actor: Actor, tenant: Tenant, name: str) -> None:
    _, is_new = HiddenPreset.objects.get_or_create(tenant=tenant, name=name)
    if is_new:
        shelves.note_tenants([tenant.pk])
        record(actor, Action.PRESET_HIDDEN, tenant, name)


@transaction.atomic
def show_preset(actor: Actor, tenant: Tenant, name: str) -> None:
    removed, _ = HiddenPreset.objects.filter(tenant=tenant, name=name).delete()
    if removed:
        shelves.note_tenants([tenant.pk])
        record(actor, Action.PRESET_SHOWN, tenant, name)


def _no_code() -> ApiError:
    message = (
        "This is no code of a voice that is shared, its week is over, or a share of the voice has "
        "ended since: ask for a new one."
    )
    return invalid(message, "code", "unknown_share_code")
