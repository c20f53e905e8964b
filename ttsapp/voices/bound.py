"""What a key that is bound to voices may do to a tenant's own: change those, and make none."""

from __future__ import annotations

from collections.abc import Iterable

from asgiref.sync import async_to_sync

from ttsapp.errors import ApiError, invalid
from ttsapp.keys.authentication import Caller
from ttsapp.tenants import selectors as tenants
from ttsapp.tenants.models import Tenant
from ttsapp.voices import selectors
from ttsapp.voices.catalogue import Catalogue
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


def check_names(tenant_id: int, names: Iterable[str], known: Iterable[str] = ()) -> None:
    """Of voices that a key is to be bound to. Raises ApiError 400 on `allowed_voices` for those
    that nobody can ask for. `known`: that it is bound to already, whatever became of them.
    Nothing is refused while an engine is away: the voice may be its own."""
    new, served = _asked(tenant_id, names, known)
    if served is None:
        return
    rows = Voice.objects.filter(tenant_id=tenant_id, deleted_at=None)
    own = (name for pair in rows.values_list("public_id", "name") for name in pair)
    shared = (
        name for model in served.models for voice in model.own.values() for name in voice.names
    )
    there_are = {name.casefold() for name in (*own, *shared)} | served.taken()
    lost = [name for name in new if name.casefold() not in there_are]
    if lost and not served.lacks_some:
        message = f"No voice here is called {', '.join(lost)[:200]}: the list of voices has names."
        raise invalid(message, "allowed_voices", "unknown_voice")


def check_models(tenant_id: int, names: Iterable[str], known: Iterable[str] = ()) -> None:
    """The same of models, on `allowed_models`: by their own names, which a key is bound by. One
    that OpenAI's names stand for is not meant by those."""
    new, served = _asked(tenant_id, names, known)
    if served is None:
        return
    there_are = {model.id.casefold() for model in served.models}
    lost = [name for name in new if name.casefold() not in there_are]
    if lost and not served.lacks_some:
        serve = ", ".join(model.id for model in served.models) or "none"
        message = f"No model here is called {', '.join(lost)[:200]}: there are {serve}."
        raise invalid(message, "allowed_models", "model_not_found")


def _asked(
    tenant_id: int, names: Iterable[str], known: Iterable[str]
) -> tuple[list[str], Catalogue | None]:
    """Those that are not known, and what is served: None if there are none, or nobody can say."""
    before = set(known)
    new = [name for name in names if name not in before]
    if not new:
        return new, None
    try:
        return new, async_to_sync(selectors.catalogue)(Caller(tenant_id, None, ""))
    except ApiError:
        return new, None


def _may_use(caller: Caller, voice: Voice) -> bool:
    return caller.rules is None or caller.rules.allows_voice((voice.public_id, voice.name))
