"""No tenant can see, revoke, speak for or infer another's anything: every route, every caller."""

from __future__ import annotations

import re
from contextlib import AbstractContextManager
from uuid import UUID

import httpx
import pytest
from django.contrib.auth.models import User
from django.urls import URLPattern, URLResolver, get_resolver, resolve
from django.utils import timezone

from billing.models import UsageEvent
from tests.console import money_matrix, voice_matrix
from tests.console.matrix import FETCHED, ROWS
from tests.ttsapp.browser import browser
from tests.ttsapp.conftest import PASSWORD, Party, eventually, speech
from tests.ttsapp.seeded import use
from ttsapp.audit.services import SYSTEM
from ttsapp.dialects.elevenlabs.dialect import ROOTS
from ttsapp.keys.models import ApiKey
from ttsapp.tenants.models import Role
from ttsapp.tenants.services import add_member

# Route, method, and the status for nobody, a stranger, and Alice's viewer, developer, admin,
# owner.
MATRIX = [
    ("/console/alice", "GET", 302, 404, 200, 200, 200, 200),
    ("/console/alice/playground", "GET", 302, 404, 403, 200, 200, 200),
    ("/console/alice/takes/{request}", "GET", 401, 404, 200, 200, 200, 200),
    ("/console/alice/requests", "GET", 302, 404, 200, 200, 200, 200),
    ("/console/alice/requests/{request}", "GET", 302, 404, 200, 200, 200, 200),
    ("/console/alice/keys", "GET", 302, 404, 200, 200, 200, 200),
    ("/console/alice/keys", "POST", 302, 404, 403, 302, 302, 302),
    ("/console/alice/keys/{public_id}", "GET", 302, 404, 403, 200, 200, 200),
    ("/console/alice/keys/{public_id}/change", "GET", 302, 404, 403, 200, 200, 200),
    ("/console/alice/keys/{public_id}/change", "POST", 302, 404, 403, 302, 302, 302),
    ("/console/alice/keys/{public_id}/rotate", "GET", 302, 404, 403, 200, 200, 200),
    ("/console/alice/keys/{public_id}/rotate", "POST", 302, 404, 403, 302, 302, 302),
    ("/console/alice/keys/{public_id}/revoke", "GET", 302, 404, 403, 200, 200, 200),
    ("/console/alice/keys/{public_id}/revoke", "POST", 302, 404, 403, 302, 302, 302),
    ("/console/alice/usage", "GET", 302, 404, 200, 200, 200, 200),
    ("/console/alice/usage.csv", "GET", 302, 404, 200, 200, 200, 200),
    ("/console/alice/start", "GET", 302, 404, 200, 200, 200, 200),
    ("/console/alice/speak", "POST", 401, 404, 403, 200, 200, 200),
    ("/console", "GET", 302, 302, 302, 302, 302, 302),
    ("/favicon.ico", "GET", 302, 302, 302, 302, 302, 302),
    ("/console/", "GET", 302, 302, 302, 302, 302, 302),
    ("/console/login", "GET", 200, 302, 302, 302, 302, 302),
    ("/console/logout", "POST", 302, 302, 302, 302, 302, 302),
    ("/admin/", "GET", 302, 302, 302, 302, 302, 302),
    ("/", "GET", 302, 302, 302, 302, 302, 302),
    ("/livez", "GET", 200, 200, 200, 200, 200, 200),
    ("/readyz", "GET", 200, 200, 200, 200, 200, 200),
    ("/metrics", "GET", 404, 404, 404, 404, 404, 404),
]
CALLERS = ("nobody", "stranger", *Role.values[::-1])
BY_KEY = (
    "v1",
    "v1/",
    "v1/audio/speech",
    "v1/audio/speech/requests/<uuid:wanted>",
    "v1/audio/voices",
    "v1/audio/voices/<str:name>",
    "v1/audio/voice_consents",
    "v1/audio/voice_consents/<str:name>",
    "v1/audio/voice_consents/<str:name>/withdraw",
    "v1/text/preview",
    "v1/models",
    "v1/models/<path:name>",
    "v1/<path:rest>",
)
ELEVENLABS_CALLS = ("", "/stream", "/with-timestamps", "/stream/with-timestamps")
# What each dialect lets in by key at the root and below its name, and what below that alone.
DIALECTS = {
    "cartesia": (
        "tts/bytes",
        "tts/sse",
        "voices",
        "voices/<str:name>",
        "voices/clone",
        "access-token",
    ),
    "dashscope": (
        "api/v1/services/aigc/multimodal-generation/generation",
        "api/v1/services/audio/tts/customization",
        "api/v1/services/audio/tts/SpeechSynthesizer",
        *("api/v1/services/<path:rest>", "api/v1/<path:rest>"),
        *("api-ws/v1/<path:rest>", "api-ws/<path:rest>"),
    ),
    "deepgram": ("v1/speak",),
    "elevenlabs": (
        *(f"v1/text-to-speech/<str:voice_id>{call}" for call in ELEVENLABS_CALLS),
        *("v1/voices", "v2/voices", "v1/voices/settings/default", "v1/voices/<str:voice_id>"),
        *("v1/voices/<str:voice_id>/edit", "v1/voices/<str:voice_id>/settings/edit"),
        *("v1/voices/<str:voice_id>/settings", "v1/user", "v1/user/subscription"),
        *("v1/usage/character-stats", "v1/history", "v1/history/download"),
        *("v1/history/<str:item_id>", "v1/history/<str:item_id>/audio"),
        *("v1/single-use-token/<str:kind>", "v1/models", "v1/voices/add"),
        *(f"{root[1:]}/<path:rest>" for root in ROOTS),
    ),
}
BELOW_THEIR_NAMES = (
    "cartesia",
    "dashscope/audio/<str:name>",
    *(f"{name}/<path:rest>" for name in DIALECTS),
)


def caller(base: str, name: str, alice: Party) -> AbstractContextManager[httpx.Client]:
    if name in Role.values:
        user = User.objects.create_user(f"alices-{name}", password=PASSWORD)
        add_member(SYSTEM, alice.tenant, user, Role(name))
        return browser(base, user.username)
    return browser(base, "mallory" if name == "stranger" else None)


@pytest.mark.parametrize("row", MATRIX, ids=lambda row: f"{row[1]} {row[0]}")
@pytest.mark.parametrize("place", range(len(CALLERS)), ids=CALLERS)
def test_the_permission_matrix(
    base: str, alice: Party, mallory: Party, row: tuple, place: int
) -> None:
    path, method, *expected = row
    request = use(alice.tenant, alice.key, timezone.now())
    with caller(base, CALLERS[place], alice) as client:
        url = path.format(public_id=alice.key.public_id, request=request)
        if path.endswith("speak"):
            response = client.post(url, json=speech("Hello", stream_format="sse"))
        elif method == "POST" and path.endswith("/keys"):
            fields = {"name": "one more", "environment": "live", "scopes": "speech"}
            response = client.post(url, data=fields)
        elif method == "POST" and path.endswith(("/change", "/rotate")):
            response = client.post(url, data={"scopes": "speech", "hours": "1"})
        else:
            response = client.request(method, url)

    assert response.status_code == expected[place]
    if expected[place] in (401, 403, 404):
        assert "Alice" not in response.text
        assert ApiKey.objects.filter(tenant=alice.tenant, revoked_at=None).count() == 1
        assert str(request) not in response.text
        assert UsageEvent.objects.count() == 1


def test_the_matrix_knows_every_route() -> None:
    rows = (row.path for matrix in (ROWS, money_matrix.ROWS, voice_matrix.ROWS) for row in matrix)
    pages = (re.sub(r"\{.*?\}", str(UUID(int=0)), row[0]) for row in MATRIX)
    tried = (*rows, *pages, *FETCHED, *voice_matrix.FETCHED)
    known = {resolve(path).route for path in tried}
    known |= {*BY_KEY, *(f"openai/{path}" for path in BY_KEY), *BELOW_THEIR_NAMES}
    for name, paths in DIALECTS.items():
        known |= {*paths, *(f"{name}/{path}" for path in paths)}
    found = {route.strip("/") for route in routes(get_resolver().url_patterns)}
    assert found - {route.strip("/") for route in known} == set()


def routes(patterns: list, prefix: str = "") -> list[str]:
    found = []
    for pattern in patterns:
        path = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            # These have matrices of their own, in test_admin and test_api_access.
            inside = [] if path in ("admin/", "api/") else routes(pattern.url_patterns, path)
            found += inside
        elif isinstance(pattern, URLPattern):
            found.append(path)
    return found


def test_three_tenants_see_only_their_own_requests(
    http: httpx.Client, alice: Party, bob: Party, mallory: Party
) -> None:
    parties = (alice, bob, mallory)
    ids = {}
    for party in parties:
        response = http.post("/v1/audio/speech", json=speech(), headers=party.headers)
        ids[party.tenant.slug] = response.headers["x-request-id"]

    for reader in parties:
        for owner, request_id in ids.items():
            path = f"/v1/audio/speech/requests/{request_id}"
            response = http.get(path, headers=reader.headers)
            assert response.status_code == (200 if owner == reader.tenant.slug else 404)


def test_anothers_request_looks_like_one_that_never_was(
    http: httpx.Client, alice: Party, mallory: Party
) -> None:
    response = http.post("/v1/audio/speech", json=speech(), headers=alice.headers)
    theirs = f"/v1/audio/speech/requests/{response.headers['x-request-id']}"
    nobodys = "/v1/audio/speech/requests/01900000-0000-7000-8000-000000000000"

    answers = [http.get(path, headers=mallory.headers) for path in (theirs, nobodys)]

    assert [answer.status_code for answer in answers] == [404, 404]
    assert answers[0].json() == answers[1].json()


def test_a_request_in_progress_is_its_tenants_only(
    http: httpx.Client, alice: Party, mallory: Party, engine
) -> None:
    engine.script.hold_after = 1
    with http.stream("POST", "/v1/audio/speech", json=speech(), headers=alice.headers) as response:
        path = f"/v1/audio/speech/requests/{response.headers['x-request-id']}"
        mine = eventually(lambda: _found(http.get(path, headers=alice.headers)))
        theirs = http.get(path, headers=mallory.headers)
        engine.release.set()
        response.read()

    assert mine["state"] == "in_progress"
    assert theirs.status_code == 404


def _found(response: httpx.Response) -> dict | None:
    return response.json() if response.status_code == 200 else None


def test_a_member_of_two_tenants_sees_each_apart(
    base: str, alice: Party, bob: Party, http: httpx.Client
) -> None:
    add_member(SYSTEM, bob.tenant, alice.user, Role.VIEWER)
    http.post("/v1/audio/speech", json=speech("Only Alice."), headers=alice.headers)

    with browser(base, "alice") as client:
        hers, his = (
            "".join(client.get(f"/console/{slug}{page}").text for page in ("", "/keys"))
            for slug in ("alice", "bob")
        )

    assert alice.key.hint in hers
    assert alice.key.hint not in his
    assert bob.key.hint in his
    assert "<dd>11</dd>" in hers
    assert "<dd>11</dd>" not in his


def test_a_key_of_anothers_cannot_be_revoked_through_ones_own_tenant(
    base: str, alice: Party, mallory: Party
) -> None:
    with browser(base, "mallory") as client:
        path = f"/console/mallory/keys/{alice.key.public_id}/revoke"
        assert client.post(path).status_code == 404

    assert ApiKey.objects.get(pk=alice.key.pk).revoked_at is None


PAGES = ("", "/requests", "/requests?ended=stop", "/keys", "/usage", "/usage.csv", "/start")


def test_three_tenants_pages_show_only_their_own(
    base: str, alice: Party, bob: Party, mallory: Party
) -> None:
    parties = (alice, bob, mallory)
    now = timezone.now()
    made = {
        party.tenant.slug: use(party.tenant, party.key, now, characters=1000 + 111 * place)
        for place, party in enumerate(parties)
    }
    marks = {
        party.tenant.slug: (
            str(made[party.tenant.slug]),
            party.key.public_id,
            f"{1000 + 111 * place:,}",
            f",{1000 + 111 * place},",
        )
        for place, party in enumerate(parties)
    }

    for reader in parties:
        slug = reader.tenant.slug
        with browser(base, reader.user.username) as client:
            seen = "".join(client.get(f"/console/{slug}{page}").text for page in PAGES)
            seen += client.get(f"/console/{slug}/requests/{made[slug]}").text
        for owner, own in marks.items():
            assert [mark in seen for mark in own] == [owner == slug] * len(own), (slug, owner)


@pytest.mark.parametrize("page", ["requests/{}", "takes/{}"])
def test_anothers_request_is_not_found_under_ones_own_tenant(
    base: str, alice: Party, mallory: Party, page: str
) -> None:
    theirs = use(alice.tenant, alice.key, timezone.now())
    with browser(base, "mallory") as client:
        response = client.get(f"/console/mallory/{page.format(theirs)}")
    assert response.status_code == 404
    assert "anna" not in response.text


def test_anothers_key_finds_nothing(base: str, alice: Party, mallory: Party) -> None:
    theirs = use(alice.tenant, alice.key, timezone.now())
    with browser(base, "mallory") as client:
        found = client.get(f"/console/mallory/requests?key={alice.key.public_id}")
        older = client.get(f"/console/mallory/requests?before={theirs}")
        question = client.get(f"/console/mallory/keys/{alice.key.public_id}/revoke")
    assert (found.status_code, older.status_code, question.status_code) == (400, 200, 404)
    assert str(theirs) not in found.text + older.text.replace(f"before={theirs}", "")


def test_the_engines_load_is_not_told(base: str, alice: Party) -> None:
    """How busy the engine is would say something of the other tenants."""
    with browser(base, "alice") as client:
        page = client.get("/console/alice").text
    assert not re.search(r"capacity|streams? live|waiting streams", page)
