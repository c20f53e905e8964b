"""Sending events beside the worker's other work."""

from __future__ import annotations

from tests.ttsapp.conftest import Party, eventually
from tests.ttsapp.hooks import Receiver, receiver, serving
from ttsapp.alerts import tasks, webhooks
from ttsapp.alerts.models import Delivery
from ttsapp.audit.services import SYSTEM

__all__ = ["receiver", "serving"]


def test_a_receiver_that_stalls_holds_up_no_other_work(alice: Party, receiver: Receiver) -> None:
    """The worker comes back while the receiver has not answered, and begins no second round."""
    url = f"http://127.0.0.1:{receiver.server_port}/"
    webhook = webhooks.create(SYSTEM, alice.tenant, url)
    receiver.answers.clear()
    delivery = webhooks.test(webhook)

    assert tasks.deliver() is True
    eventually(lambda: receiver.heard)
    assert tasks.deliver() is False
    receiver.answers.set()

    eventually(lambda: Delivery.objects.filter(pk=delivery.pk, status=204).exists())
    eventually(tasks.deliver)
    assert len(receiver.heard) == 1
