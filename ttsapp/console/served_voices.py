"""What the engines serve a member's account, and the languages that its new voices may have."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from asgiref.sync import async_to_sync

from ttsapp.errors import ApiError
from ttsapp.keys.authentication import Caller
from ttsapp.tenants.models import Membership
from ttsapp.voices import selectors
from ttsapp.voices.catalogue import Catalogue
from ttsapp.voices.models import Voice

# None of them where no engine can tell.
Languages = frozenset[str] | None


def caller_of(membership: Membership) -> Caller:
    return Caller(membership.tenant_id, None, f"user:{membership.user_id}")


def speaker_of(membership: Membership) -> Caller:
    """Of what a member has spoken: with what the tenant wants kept of it."""
    tenant = membership.tenant
    return replace(
        caller_of(membership),
        share=tenant.engine_share,
        audio_hours=tenant.audio_hours,
        text_days=tenant.text_days,
    )


def served_to(membership: Membership) -> Catalogue | None:
    """None while the engine is away: the page says so."""
    try:
        return async_to_sync(selectors.catalogue)(caller_of(membership))
    except ApiError:
        return None


def known_to(membership: Membership) -> Catalogue:
    """As that; while no engine is there, the tenant's own voices alone."""
    served = served_to(membership)
    return served if served is not None else selectors.without_engines(membership.tenant_id)


def unserved(models: Iterable[str]) -> list[str]:
    """Of these models, those that no engine serves. None where that is not known: while an engine
    is away that may serve them."""
    asked = set(models) - {""}
    try:
        served = async_to_sync(selectors.catalogue)() if asked else None
    except ApiError:
        return []
    if served is None or served.lacks_some:
        return []
    return sorted(asked - {model.id for model in served.models})


def of_clones(membership: Membership) -> Languages:
    served = served_to(membership)
    maker = served.maker(in_context=False) if served is not None else None
    return frozenset(maker.languages) if maker is not None else None


def of_designs(membership: Membership) -> Languages:
    """Spoken by what invents a voice, and by what keeps it."""
    served, clones = served_to(membership), of_clones(membership)
    describer = served.describer() if served is not None else None
    return clones.intersection(describer.languages) if clones and describer else clones


def of_voice(membership: Membership, row: Voice) -> Languages:
    """What it was said to speak among them, whatever is served now."""
    found = of_clones(membership)
    return None if found is None else found | {row.language}
