"""What a month's budgets have left, and use by voice and model: on the pages that show them."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.conf import settings
from django.utils import timezone

from billing.budgets import Budget, budget
from tests.console.conftest import SignIn
from tests.ttsapp.conftest import Party
from tests.ttsapp.seeded import use
from ttsapp.keys.models import ApiKey
from ttsapp.tenants.models import Tenant


@pytest.fixture(autouse=True)
def no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "ENGINES", ("unix:/nowhere/engine.sock",))


@pytest.mark.parametrize(
    ("soft", "hard", "found", "percent"),
    [
        (None, None, Budget(30, None, stops=False), None),
        (40, None, Budget(30, 40, stops=False), 75.0),
        (40, 60, Budget(30, 60, stops=True), 50.0),
        (None, 0, Budget(30, 0, stops=True), 3000.0),
    ],
)
def test_it_works(soft: int | None, hard: int | None, found: Budget, percent: float | None) -> None:
    limited = Tenant(soft_monthly_characters=soft, hard_monthly_characters=hard)
    assert budget(limited, 30) == found
    assert found.percent == percent


def test_keys_have_what_was_charged_this_month(sign_in: SignIn, alice: Party, bob: Party) -> None:
    now = timezone.now()
    ApiKey.objects.filter(pk=alice.key.pk).update(hard_monthly_characters=200)
    use(alice.tenant, alice.key, now, characters=50)
    use(alice.tenant, None, now, characters=5)
    use(alice.tenant, alice.key, now.replace(day=1) - timedelta(days=1), characters=7)
    use(bob.tenant, bob.key, now, characters=90)

    page = sign_in("viewer").get("/console/alice/keys")
    ((key, found),) = page.context["keys"]
    assert (key.pk, found) == (alice.key.pk, Budget(50, 200, stops=True))
    assert 'value="25.0"' in page.content.decode()


def test_operators_see_each_tenants_month(sign_in: SignIn, alice: Party, bob: Party) -> None:
    use(alice.tenant, alice.key, timezone.now(), characters=50)
    page = sign_in("auditor").get("/platform/tenants")
    used = {tenant.slug: found.used for tenant, found in page.context["rows"]}
    assert used == {"alice": 50, "bob": 0, "mallory": 0}


def test_a_tenant_sees_its_month_and_today(sign_in: SignIn, alice: Party, bob: Party) -> None:
    now = timezone.now()
    use(alice.tenant, alice.key, now, characters=50)
    use(bob.tenant, bob.key, now, characters=90)
    page = sign_in("viewer").get("/console/alice")
    assert page.context["budget"] == Budget(50, None, stops=False)
    assert (page.context["today"].charged, page.context["today"].requests) == (50, 1)


def test_yesterday_is_told_until_the_same_time(sign_in: SignIn, alice: Party) -> None:
    now = timezone.now()
    use(alice.tenant, alice.key, now - timedelta(days=1, minutes=1), characters=10)
    use(alice.tenant, alice.key, now - timedelta(days=1) + timedelta(minutes=5), characters=20)
    page = sign_in("viewer").get("/console/alice")
    began = (now - timedelta(days=1, minutes=1)).date() == (now - timedelta(days=1)).date()
    assert page.context["yesterday"].charged == (10 if began else 0)


def test_usage_is_told_by_voice_and_model(sign_in: SignIn, alice: Party, bob: Party) -> None:
    now = timezone.now()
    use(alice.tenant, alice.key, now, characters=50)
    use(alice.tenant, alice.key, now, "error", characters=5)
    use(bob.tenant, bob.key, now, characters=90)
    page = sign_in("viewer").get("/console/alice/usage")
    ((voice, by_voice),) = page.context["by_voice"]
    ((model, by_model),) = page.context["by_model"]
    assert (voice, model) == ("anna", "parlance-tiny")
    assert by_voice == by_model == page.context["total"]
    assert (by_voice.requests, by_voice.charged, by_voice.failures) == (2, 50, 1)
