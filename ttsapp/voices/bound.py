"""What a key that is bound to voices may do to a tenant's own: change those, and make none."""

from __future__ import annotations

from ttsapp.errors import ApiError
from ttsapp.keys.authentication import Caller
from ttsapp.tenants import selectors as tenants
from ttsapp.tenants.models import Tenant
from ttsapp.voices import selectors
from ttsapp.voices.models import Consent, Voice


def maker(caller: Caller) -> Tenant:
    """The tenant that it makes voices for. Raises ApiError 403 for a key that is bound."""
    if caller.rules is not None and caller.rules.voices:
        message = "This API key is bound to certain voices and makes no others: use another key."
        raise ApiError(403, "voice_not_allowed", message)
    return tenants.tenant(caller.tenant_id)


def voice_of(caller: Caller, public_id: str) -> Voice | None:
    """As `selectors.voice_of`; what the key may not use is not there for it."""
    found = selectors.voice_of(caller.tenant_id, public_id)
    return found if found is not None and _may_use(caller, found) else None


def voices_named(caller: Caller, prefix: str) -> list[Voice]:
    """Those of the tenant's own that the key may use and whose name begins so."""
    found = selectors.voices_named(caller.tenant_id, prefix)
    return [voice for voice in found if _may_use(caller, voice)]


def check_consent(caller: Caller, consent: Consent) -> None:
    """Before it is changed. Raises ApiError 403 where voices beyond the key's rest on it."""
    resting = Voice.objects.filter(consent=consent, deleted_at=None)
    if not all(_may_use(caller, voice) for voice in resting):
        message = "Voices that this API key may not use rest on the consent: use another key."
        raise ApiError(403, "voice_not_allowed", message, field="consent_id")


def _may_use(caller: Caller, voice: Voice) -> bool:
    return caller.rules is None or caller.rules.allows_voice((voice.public_id, voice.name))
