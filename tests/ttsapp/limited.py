"""A tenant whose limits are set, and how it is refused."""

from __future__ import annotations

import httpx

from billing import services as billing
from billing.rating import Outcome
from tests.ttsapp.conftest import Party, speech
from ttsapp import ids
from ttsapp.audit.services import SYSTEM
from ttsapp.keys.models import ApiKey
from ttsapp.limits.rules import Limits
from ttsapp.tenants.services import limit_tenant

TEXT = "Hello there."


def say(http: httpx.Client, party: Party, text: str = TEXT, **fields: object) -> httpx.Response:
    return http.post("/v1/audio/speech", json=speech(text, **fields), headers=party.headers)


def limit(party: Party, **limits: int) -> None:
    assert limit_tenant(SYSTEM, party.tenant, Limits(**limits))


def limit_key(party: Party, **limits: int) -> None:
    ApiKey.objects.filter(pk=party.key.pk).update(**limits)


def spend(party: Party, characters: int) -> None:
    """In the ledger, by a request that ended a moment ago."""
    request = billing.Metered(ids.uuid7(), party.tenant.pk, party.key.pk, "model", "Anna")
    billing.settle(request, billing.Usage(Outcome.COMPLETED, characters, characters))


def refused(response: httpx.Response, code: str, limited: str) -> str:
    assert response.status_code == 429
    error = response.json()["error"]
    assert (error["type"], error["code"], error["param"]) == ("rate_limit_error", code, None)
    assert response.headers["x-parlance-limit"] == limited
    wait_ms = int(response.headers["retry-after-ms"])
    assert int(response.headers["Retry-After"]) == -(-wait_ms // 1000)
    return error["message"]
