"""Who may call what of the management API: every route, every caller, three tenants."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from tests.ttsapp.browser import browser
from tests.ttsapp.conftest import PASSWORD, Party
from tests.ttsapp.seeded import use
from tests.ttsapp.test_api import managing, refused
from ttsapp.api.urls import router
from ttsapp.audit.services import SYSTEM
from ttsapp.keys.models import ApiKey
from ttsapp.lexicon.models import Word
from ttsapp.lexicon.services import add_word
from ttsapp.tenants.models import PlatformRole, Role, Tenant
from ttsapp.tenants.services import add_member, set_platform_role
from ttsapp.voices.models import Consent

CALLERS = (
    *("nobody", "stranger", "strange key", "viewer", "developer", "owner", "key"),
    *("auditor", "operator"),
)
READ = (401, 404, 404, 200, 200, 200, 200, 404, 404)
MADE = (401, 404, 404, 403, 201, 201, 201, 404, 404)
CHANGED = (401, 404, 404, 403, 200, 200, 200, 404, 404)
GONE = (401, 404, 404, 403, 204, 204, 204, 404, 404)
TEXT = (401, 404, 404, 403, 404, 404, 404, 404, 404)
SEEN_BY_PLATFORM = (401, 404, 404, 404, 404, 404, 404, 200, 200)
OWNED = (401, 404, 404, 403, 403, 200, 403, 404, 404)
RUN_BY_PLATFORM = (401, 404, 404, 404, 404, 404, 404, 403, 200)
NO_ENGINE = (401, 404, 404, 404, 404, 404, 404, 403, 404)
WHY = {"reason": "Because."}
ENGINE_ACTS = (
    (WHY, ("drain", "undrain", "trace")),
    ({"voice": "anna", **WHY}, ("pin", "unpin", "unload")),
)
KEY, WORD = "tenants/alice/keys/{key}", "tenants/alice/lexicon/{word}"
CONSENT = "tenants/alice/consents/{consent}"
# Method, address, body, and the status for each caller.
MATRIX = [
    ("GET", "tenants", None, (401, *[200] * 8)),
    ("GET", "tenants/alice", None, READ),
    ("GET", "tenants/alice/consents", None, READ),
    ("GET", CONSENT, None, READ),
    ("GET", f"{CONSENT}/register", None, READ),
    ("POST", f"{CONSENT}/withdraw", {"reason": "asked"}, CHANGED),
    ("DELETE", CONSENT, None, GONE),
    ("GET", "tenants/alice/keys", None, READ),
    ("POST", "tenants/alice/keys", {"name": "new"}, MADE),
    ("GET", KEY, None, READ),
    ("PATCH", KEY, {"allowed_voices": ["Ben"]}, CHANGED),
    ("POST", f"{KEY}/rotate", {}, CHANGED),
    ("POST", f"{KEY}/revoke", None, CHANGED),
    ("GET", "tenants/alice/lexicon", None, READ),
    ("POST", "tenants/alice/lexicon", {"word": "SQL", "alias": "sequel"}, MADE),
    ("GET", WORD, None, READ),
    ("PATCH", WORD, {"alias": "other"}, CHANGED),
    ("DELETE", WORD, None, GONE),
    ("GET", "tenants/alice/aliases", None, READ),
    ("GET", "tenants/alice/aliases/{alias}", None, READ),
    ("PATCH", "tenants/alice/aliases/{alias}", {"target": "Ben"}, CHANGED),
    ("DELETE", "tenants/alice/aliases/{alias}", None, GONE),
    ("GET", "tenants/alice/billing", None, OWNED),
    ("GET", "tenants/alice/documents", None, OWNED),
    (
        *("GET", "tenants/alice/documents/{request}", None),
        (401, 404, 404, 403, 403, 404, 403, 404, 404),
    ),
    ("GET", "tenants/alice/limits", None, READ),
    ("GET", "tenants/alice/audit", None, OWNED),
    ("GET", "tenants/alice/members", None, READ),
    ("GET", "tenants/alice/requests", None, READ),
    ("GET", "tenants/alice/requests/{request}", None, READ),
    # Its text is not kept: who may read it is told so.
    ("GET", "tenants/alice/requests/{request}/text", None, TEXT),
    ("GET", "tenants/alice/settings", None, OWNED),
    ("PATCH", "tenants/alice/settings", {"audio_hours": 24}, OWNED),
    ("GET", "tenants/alice/usage", None, READ),
    ("GET", "tenants/alice/voices", None, READ),
    ("GET", "tenants/alice/voices/{voice}", None, READ),
    # No voice of that name is its own: who may is told so.
    ("POST", "tenants/alice/voices/{voice}/publish", None, TEXT),
    (
        *("POST", "tenants/alice/voices/{voice}/review", {"decision": "approve"}),
        (401, 404, 404, 403, 403, 404, 403, 404, 404),
    ),
    ("GET", "platform/costs", None, SEEN_BY_PLATFORM),
    ("GET", "platform/engines", None, SEEN_BY_PLATFORM),
    # There is no such engine.
    *(
        ("POST", f"platform/engines/{{engine}}/{act}", body, NO_ENGINE)
        for body, acts in ENGINE_ACTS
        for act in acts
    ),
    ("GET", "platform/tenants", None, SEEN_BY_PLATFORM),
    (
        *("POST", "platform/tenants", {"name": "New", "slug": "new"}),
        (401, 404, 404, 404, 404, 404, 404, 403, 201),
    ),
    ("GET", "platform/tenants/alice", None, SEEN_BY_PLATFORM),
    ("PATCH", "platform/tenants/alice", {"concurrent_streams": 3}, RUN_BY_PLATFORM),
    ("POST", "platform/tenants/alice/suspend", {}, RUN_BY_PLATFORM),
    ("POST", "platform/tenants/alice/restore", None, RUN_BY_PLATFORM),
]
ROLES = {"viewer": Role.VIEWER, "developer": Role.DEVELOPER, "owner": Role.OWNER}


@contextmanager
def calling(base: str, name: str, alice: Party, mallory: Party) -> Iterator[httpx.Client]:
    if "key" in name:
        secret = managing(alice if name == "key" else mallory, "manage", "speech", "read")
        headers = {"Authorization": f"Bearer {secret}"}
        with httpx.Client(base_url=base, headers=headers, timeout=10) as client:
            yield client
        return
    person = {"nobody": None, "stranger": "mallory"}.get(name, name)
    if person not in (None, "mallory"):
        user = User.objects.create_user(name, password=PASSWORD)
        if name in ROLES:
            add_member(SYSTEM, alice.tenant, user, ROLES[name])
        else:
            set_platform_role(SYSTEM, user, PlatformRole(name))
    with browser(base, person) as client:
        yield client


@pytest.mark.parametrize("place", range(len(CALLERS)), ids=CALLERS)
def test_the_permission_matrix(base: str, alice: Party, mallory: Party, place: int) -> None:
    request = use(alice.tenant, alice.key, timezone.now())
    word = add_word(SYSTEM, alice.tenant, "Nginx", "engine x")
    consent = Consent.objects.create(tenant=alice.tenant, name="Ann", person="Ann").public_id
    before = (ApiKey.objects.filter(tenant=alice.tenant).count(), Word.objects.count())
    with calling(base, CALLERS[place], alice, mallory) as client:
        for method, path, body, expected in MATRIX:
            things = {"key": alice.key.public_id, "word": word.pk, "consent": consent, "engine": 9}
            things |= {"alias": "alloy", "voice": "Anna"}
            url = path.format(request=request, **things)
            response = client.request(method, f"/api/{url}", json=body)
            assert response.status_code == expected[place], f"{method} {path}: {response.text}"
            if response.status_code >= 400:
                assert "Alice" not in response.text
                assert alice.key.hint not in response.text
    if CALLERS[place] in ("nobody", "stranger", "viewer", "auditor"):
        assert (ApiKey.objects.filter(tenant=alice.tenant).count(), Word.objects.count()) == before
        assert not Tenant.objects.filter(slug="new").exists()


def test_the_matrix_knows_every_route() -> None:
    known = {re.sub(r"\{\w+\}", "{id}", path) for _, path, _, _ in MATRIX}
    for url in router.urls:
        path = str(url.pattern)
        for kind, name in (
            *(("slug", "id"), ("str", "id"), ("uuid", "id"), ("int", "id"), ("int", "number")),
        ):
            path = path.replace(f"<{kind}:{name}>", "{id}")
        path = path.replace("<slug:tenant>", "alice").replace("<slug:slug>", "alice")
        assert path in known, path


def test_one_tenants_key_sees_nothing_of_another(
    http: httpx.Client, alice: Party, bob: Party, mallory: Party
) -> None:
    rows = {
        party.tenant.slug: use(party.tenant, party.key, timezone.now()) for party in (alice, bob)
    }
    headers = {"Authorization": f"Bearer {managing(bob)}"}
    found = http.get("/api/tenants/bob/requests", headers=headers).json()["results"]
    assert [one["id"] for one in found] == [str(rows["bob"])]
    path = f"/api/tenants/bob/requests/{rows['alice']}"
    refused(http.get(path, headers=headers), 404, "not_found")
    path = f"/api/tenants/bob/keys/{mallory.key.public_id}"
    refused(http.get(path, headers=headers), 404, "not_found")


def test_a_page_on_another_site_changes_nothing(base: str, alice: Party) -> None:
    with browser(base, "alice") as client:
        del client.headers["X-CSRFToken"]
        response = client.post("/api/tenants/alice/keys", json={"name": "new"})
    refused(response, 403, "forbidden")
    assert ApiKey.objects.filter(tenant=alice.tenant).count() == 1
