"""What a tenant decides for itself, all of it in one piece: for its page and for the API."""

from __future__ import annotations

from typing import TypedDict

from django.db import transaction

from billing.models import Retention
from billing.upkeep.retention import keep_for
from ttsapp.audit.services import Actor
from ttsapp.speech.texts import keep_texts
from ttsapp.tenants.models import Tenant
from ttsapp.tenants.services import keep_audio, rename_tenant, review_voices


class TenantSettings(TypedDict, total=False):
    """`usage_days`: that usage events are kept; None: for ever. `text_days`, `audio_hours`: that
    requests' texts and audio are kept; 0: not at all. `reviews_voices`: clones of who may not
    approve any wait for somebody who may."""

    name: str
    usage_days: int | None
    text_days: int
    audio_hours: int
    reviews_voices: bool


def settings_of(tenant: Tenant) -> TenantSettings:
    return TenantSettings(
        name=tenant.name,
        usage_days=_usage_days(tenant),
        text_days=tenant.text_days,
        audio_hours=tenant.audio_hours,
        reviews_voices=tenant.reviews_voices,
    )


@transaction.atomic
def change_settings(actor: Actor, tenant: Tenant, wanted: TenantSettings) -> None:
    """What is left out stays. Each change has an audit row; what is as it was has none."""
    if "name" in wanted:
        rename_tenant(actor, tenant, wanted["name"])
    if "usage_days" in wanted and wanted["usage_days"] != _usage_days(tenant):
        keep_for(actor, tenant, wanted["usage_days"])
    if "audio_hours" in wanted:
        keep_audio(actor, tenant, wanted["audio_hours"])
    if "reviews_voices" in wanted:
        review_voices(actor, tenant, wanted["reviews_voices"])
    if "text_days" in wanted:
        keep_texts(actor, tenant, wanted["text_days"])


def _usage_days(tenant: Tenant) -> int | None:
    return Retention.objects.filter(tenant=tenant).values_list("days", flat=True).first()
