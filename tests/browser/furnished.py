"""A month of made-up use, and one of everything that has a page of its own.

For pages to be looked at: `python -m tests.browser.furnished` in a product's environment prints
their addresses by route, as JSON."""

from __future__ import annotations

import json
import os
from typing import Any

import django
from django.utils import timezone

TENANT = "default"


def furnish() -> dict[str, str]:
    """Of the pages; the same however often it is called."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ttsapp.settings")
    django.setup()
    from tests.billing.sold import months
    from tests.ttsapp.seeded import weeks
    from ttsapp.alerts import evaluation, webhooks
    from ttsapp.audit.services import SYSTEM
    from ttsapp.console.bench.pages import addresses
    from ttsapp.keys.services import create_key
    from ttsapp.tenants.models import Tenant

    tenant = Tenant.objects.get(slug=TENANT)
    if not tenant.keys.filter(name="Audiobooks"):
        keys = [create_key(SYSTEM, tenant, name)[0] for name in ("Audiobooks", "Phone menu")]
        weeks(tenant, keys)
        months(tenant)
        for place in (tenant, None):
            webhooks.create(SYSTEM, place, "https://hooks.example.com/parlance")
        _people(tenant)
        _voice(tenant)
        evaluation.evaluate(timezone.now())
    account = {f"account:{each}": f"/account/{each}" for each in ("password", "passkeys")}
    return {**addresses(_known(tenant)), "account:overview": "/account", **account}


def _people(tenant: Any) -> None:
    from django.contrib.auth.models import User

    from ttsapp.audit.services import SYSTEM
    from ttsapp.tenants.models import Role
    from ttsapp.tenants.services import add_member

    for name, role in (("ann", Role.DEVELOPER), ("finn", Role.VIEWER)):
        add_member(SYSTEM, tenant, User.objects.create_user(name), role)


def _voice(tenant: Any) -> None:
    """Under a consent. No engine of this product has made it, so it cannot be spoken with."""
    from ttsapp.audit.services import SYSTEM
    from ttsapp.voices import storage
    from ttsapp.voices.clips.evidence import Evidence
    from ttsapp.voices.models import Kind, Relation
    from ttsapp.voices.services.consents import Terms, record_consent
    from ttsapp.voices.services.registry import Description, Encoded, create_voice

    proof = Evidence(b"%PDF-1.7 signed", "application/pdf")
    terms = Terms("Ann for the phone menu", "Ann Archer", Relation.STAFF, "phone menu")
    consent = record_consent(SYSTEM, tenant, terms, proof)
    artifact = storage.put(storage.Blob.ARTIFACT, b"another model's")
    encoded = Encoded(artifact, "parlance-large", "unknown", text="Hello, you have reached us.")
    said = Description("Ann", "Calm, for the phone menu", "english", ("warm", "hotline"))
    create_voice(SYSTEM, tenant, Kind.X_VECTOR, said, encoded, consent)


def _known(tenant: Any) -> Any:
    from billing.invoices.models import Document, Seller
    from ttsapp.alerts.models import Webhook
    from ttsapp.console.bench.pages import Known
    from ttsapp.speech.models import RequestLog
    from ttsapp.tenants.models import Role

    voice, consent = tenant.voices.get(), tenant.consents.get()
    document = Document.objects.filter(tenant=tenant).latest("pk")
    request = RequestLog.objects.filter(tenant=tenant, finish_reason="stop").latest("pk")
    webhooks = {each.tenant_id: each.pk for each in Webhook.objects.all()}
    of_voice, of_consent = {"name": voice.public_id}, {"name": consent.public_id}
    return Known(
        {"slug": TENANT, "public_id": tenant.keys.get(name="Audiobooks").public_id, "code": "disk"},
        {
            "console:request": {"wanted": request.pk},
            "console:member": {"member_id": tenant.memberships.get(role=Role.VIEWER).pk},
            "console:webhook": {"webhook_id": webhooks[tenant.pk]},
            "console:billing_pdf": {"wanted": document.pk},
            "console:voice": of_voice,
            "console:delete_voice": of_voice,
            **{f"console:{each}consent": of_consent for each in ("", "withdraw_", "delete_")},
            "platform:webhook": {"webhook_id": webhooks[None]},
            "platform:price_book": {"slug": "list"},
            "platform:invoice": {"wanted": document.pk},
            "platform:invoice_pdf": {"wanted": document.pk},
            "platform:seller": {"seller_id": Seller.objects.get().pk},
        },
    )


if __name__ == "__main__":
    print(json.dumps(furnish()))
