"""What a tenant decides for itself, by the API: as its page does, for the same people."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from billing.models import Retention
from tests.ttsapp.browser import browser
from tests.ttsapp.conftest import Party
from tests.ttsapp.test_api import refused
from ttsapp.audit.models import AuditEntry

PLACE = "/api/tenants/alice/settings"
USUAL = {
    "name": "Alice",
    "usage_days": None,
    "text_days": 0,
    "audio_hours": 0,
    "reviews_voices": False,
}


@pytest.fixture
def owner(base: str, alice: Party) -> Iterator[httpx.Client]:
    with browser(base, "alice") as client:
        yield client


def test_it_works(owner: httpx.Client, alice: Party, bob: Party) -> None:
    assert owner.get(PLACE).json() == USUAL
    wanted = {"usage_days": 90, "text_days": 7, "audio_hours": 24, "reviews_voices": True}
    changed = owner.patch(PLACE, json=wanted)

    assert (changed.status_code, changed.json()) == (200, {**USUAL, **wanted})
    assert owner.get(PLACE).json() == {**USUAL, **wanted}
    rows = AuditEntry.objects.filter(actor="user:alice").order_by("sequence")
    assert [(row.tenant_id, row.action, row.changes) for row in rows] == [
        (alice.tenant.pk, "retention.changed", {"days": [None, 90]}),
        (alice.tenant.pk, "retention.audio_changed", {"audio_hours": [0, 24]}),
        (alice.tenant.pk, "voice.reviews_changed", {"reviews_voices": [False, True]}),
        (alice.tenant.pk, "retention.text_changed", {"text_days": [0, 7]}),
    ]
    bob.tenant.refresh_from_db()
    assert (bob.tenant.text_days, bob.tenant.reviews_voices) == (0, False)


def test_what_is_left_out_stays(owner: httpx.Client, alice: Party) -> None:
    owner.patch(PLACE, json={"usage_days": 90, "audio_hours": 24})
    owner.patch(PLACE, json={"name": "Alicia", "usage_days": None})
    assert owner.get(PLACE).json() == {**USUAL, "name": "Alicia", "audio_hours": 24}


@pytest.mark.parametrize(
    ("body", "code", "field"),
    [
        ({"usage_days": 61}, "invalid_value", "usage_days"),
        ({"usage_days": 3651}, "invalid_value", "usage_days"),
        ({"text_days": 366}, "invalid_value", "text_days"),
        ({"text_days": None}, "invalid_value", "text_days"),
        ({"audio_hours": 721}, "invalid_value", "audio_hours"),
        ({"audio_hours": -1}, "invalid_value", "audio_hours"),
        ({"reviews_voices": "perhaps"}, "invalid_value", "reviews_voices"),
        ({"name": ""}, "invalid_value", "name"),
        ({"slug": "alicia"}, "unknown_field", "slug"),
    ],
)
def test_a_value_that_is_not_offered(
    owner: httpx.Client, body: dict[str, object], code: str, field: str
) -> None:
    refused(owner.patch(PLACE, json={"audio_hours": 24, **body}), 400, code, field)
    assert owner.get(PLACE).json() == USUAL
    assert not Retention.objects.exists()


def test_the_page_shows_what_the_api_changed(owner: httpx.Client) -> None:
    owner.patch(PLACE, json={"text_days": 7, "reviews_voices": True})
    page = owner.get("/console/alice/settings").text
    assert 'name="text_days" value="7"' in page
    assert 'name="reviews_voices" id="id_reviews_voices" checked' in page
