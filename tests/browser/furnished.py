"""A month of made-up use, and one of everything that has a page of its own.

For pages to be looked at: `python -m tests.browser.furnished` in a product's environment prints
their addresses by route, as JSON."""

from __future__ import annotations

import json
import math
import os
import random
from datetime import timedelta
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
    from ttsapp.lexicon.services import add_word
    from ttsapp.tenants.models import Tenant

    tenant = Tenant.objects.get(slug=TENANT)
    if not tenant.keys.filter(name="Audiobooks"):
        keys = [create_key(SYSTEM, tenant, name)[0] for name in ("Audiobooks", "Phone menu")]
        weeks(tenant, keys)
        _idle_key(tenant)
        for word, alias in (("SQL", "sequel"), ("Siobhán", "shiv awn")):
            add_word(SYSTEM, tenant, word, alias)
        months(tenant)
        for place in (tenant, None):
            webhooks.create(SYSTEM, place, "https://hooks.example.com/parlance")
        _people(tenant)
        consented_voice(tenant)
        _recording(tenant)
        _last_hour()
        _priced()
        _checked()
        evaluation.evaluate(timezone.now())
    account = {f"account:{each}": f"/account/{each}" for each in ("password", "passkeys")}
    return {**addresses(_known(tenant)), "account:overview": "/account", **account}


def _idle_key(tenant: Any) -> None:
    """That nobody has used since the spring."""
    from ttsapp.audit.services import SYSTEM
    from ttsapp.keys.models import ApiKey
    from ttsapp.keys.services import create_key

    made, _ = create_key(SYSTEM, tenant, "Prototype")
    at = timezone.now() - timedelta(days=200)
    used = {"last_used_address": "192.0.2.7", "last_used_agent": "python-httpx/0.28.1"}
    ApiKey.objects.filter(pk=made.pk).update(created_at=at, last_used_at=at, **used)


def _recording(tenant: Any) -> None:
    """Of the request that has its page shown, in a tenant that keeps audio and texts."""
    import asyncio

    from ttsapp.audit.services import SYSTEM
    from ttsapp.speech import asked, kept, texts
    from ttsapp.speech.encoders.plain import wav_header
    from ttsapp.speech.models import KeptText
    from ttsapp.tenants.services import keep_audio
    from ttsapp.voices.own import Preset

    keep_audio(SYSTEM, tenant, 24)
    log, silence = _shown(tenant), bytes(48_000)
    file = kept.named(Preset(log.voice, "english", ""), 24 * 3600)
    wav = wav_header("s16", 24_000, len(silence)) + silence
    asyncio.run(kept.write(kept.RECORDINGS, file, wav))
    said = {"language": "english", "has_instructions": True, "speed": 1.1, "fingerprint": "-"}
    type(log).objects.filter(pk=log.pk).update(recording=file.name, asked=asked.pack(said))
    texts.keep_texts(SYSTEM, tenant, 365)
    text = "Welcome back. You have 2 new messages, the first from Ann Archer."
    row = {"pk": log.pk, "tenant": tenant, "at": log.at}
    KeptText.objects.create(**row, text=text, instructions="Calmly.")


def _shown(tenant: Any) -> Any:
    """The request that has its page shown: one that was long enough for its chunks to be seen."""
    from ttsapp.speech.models import RequestLog

    found = RequestLog.objects.filter(tenant=tenant, finish_reason="stop", audio_ms__gt=9000)
    return found.filter(timeline__isnull=False).latest("pk")


def _last_hour() -> None:
    """Of the engine that runs, as if the worker had noted all of it."""
    from asgiref.sync import async_to_sync

    from ttsapp.console.live import kept
    from ttsapp.console.tasks import ask

    now, chance = timezone.now(), random.Random(5)
    works = [max(0.0, 0.35 + 0.25 * math.sin(n / 9) + chance.uniform(-0.1, 0.1)) for n in range(60)]
    for status in async_to_sync(ask)():
        # Its own counter goes on from there.
        status.modules["talker"].busy_seconds -= 60 * sum(works)
        for place, work in enumerate(works):
            status.streams = round(status.capacity * work)
            status.modules["talker"].busy_seconds += 60 * work
            kept.note([status], now - timedelta(minutes=60 - place))
    kept.note_hours(now)


def _priced() -> None:
    """The engine that runs: of hours without a price no page can say what they cost."""
    from billing.costs import services as costs
    from billing.costs.models import EngineClass
    from ttsapp.audit.services import SYSTEM

    found = EngineClass.objects.filter(slug="cpu").first() or costs.add_class(SYSTEM, "cpu")
    costs.price_hours(SYSTEM, found, timezone.now().date() - timedelta(days=90), 80_000)


def _checked() -> None:
    """What the worker does every hour."""
    from billing.upkeep import checks

    now = timezone.now()
    checks.run(checks.plan(now - timedelta(days=2), now))


def _people(tenant: Any) -> None:
    from django.contrib.auth.models import User

    from ttsapp.audit.services import SYSTEM
    from ttsapp.tenants.models import Role
    from ttsapp.tenants.services import add_member

    for name, role in (("ann", Role.DEVELOPER), ("finn", Role.VIEWER)):
        add_member(SYSTEM, tenant, User.objects.create_user(name), role)


def consented_voice(tenant: Any) -> Any:
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
    content, text = b"another model's", "Hello, you have reached us."
    artifact = storage.digest_of(content)
    contents = {(storage.Blob.ARTIFACT, artifact): content}
    encoded = Encoded(artifact, "parlance-large", "unknown", text=text, contents=contents)
    said = Description("Ann", "Calm, for the phone menu", "english", ("warm", "hotline"))
    return create_voice(SYSTEM, tenant, Kind.X_VECTOR, said, encoded, consent)


def _known(tenant: Any) -> Any:
    from billing.invoices.models import Document, Seller
    from ttsapp.alerts.models import Webhook
    from ttsapp.console.bench.pages import Known
    from ttsapp.tenants.models import Role

    voice = tenant.voices.select_related("consent").get()
    consent = voice.consent
    document = Document.objects.filter(tenant=tenant).latest("pk")
    webhooks = {each.tenant_id: each.pk for each in Webhook.objects.all()}
    of_voice, of_consent = {"name": voice.public_id}, {"name": consent.public_id}
    return Known(
        {"slug": TENANT, "public_id": tenant.keys.get(name="Audiobooks").public_id, "code": "disk"},
        {
            "console:request": {"wanted": _shown(tenant).pk},
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
