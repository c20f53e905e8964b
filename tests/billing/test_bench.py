"""What `make bench-metering` measures is what the product does."""

from __future__ import annotations

from datetime import timedelta

import pytest
from asgiref.sync import sync_to_async
from django.utils import timezone

from billing.bench import questions
from billing.bench.load import measure
from billing.models import Reservation, UsageEvent
from billing.upkeep.reconciliation import reconcile
from tests.billing.used import use
from ttsapp.audit.services import SYSTEM
from ttsapp.keys.authentication import Caller
from ttsapp.keys.services import create_key
from ttsapp.tenants.models import Tenant


@pytest.mark.django_db(transaction=True)
async def test_every_request_of_the_load_is_metered(alice: Tenant) -> None:
    key, _ = await sync_to_async(create_key)(SYSTEM, alice, "a key")
    caller = Caller(alice.pk, key.pk, "key:a", (alice.limits, key.limits))

    measured = await measure([caller], seconds=0.2, streams=5)

    assert measured.requests == len(measured.settle_ms) >= 5
    assert await UsageEvent.objects.acount() == measured.requests
    assert not await Reservation.objects.aexists()
    now = timezone.now()
    assert await sync_to_async(reconcile)(now - timedelta(days=1), now) == []


def test_every_question_has_an_answer(alice: Tenant) -> None:
    use(alice, timezone.now() - timedelta(days=1))
    for ask in questions.questions(alice).values():
        assert len(questions.timed(ask, repeats=1)) == 1
