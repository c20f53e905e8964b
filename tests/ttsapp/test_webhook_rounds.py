"""Sending events beside the worker's other work."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.db import DataError
from django.utils import timezone

from tests.ttsapp.conftest import Party, eventually
from tests.ttsapp.hooks import Receiver, receiver, serving
from ttsapp.alerts import problems, sending, tasks, webhooks
from ttsapp.alerts.models import Delivery, Webhook
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


# A status line may hold anything.
HOSTILE = b"\x00\x1b[31m\xff" + b"x" * 400 + b"\r\n\r\n"


@pytest.fixture
def hostile() -> Iterator[int]:
    """The port of a receiver that answers with no HTTP."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=answer, args=(server,), daemon=True).start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)


def answer(server: socket.socket) -> None:
    while True:
        try:
            line, _ = server.accept()
        except OSError:
            return
        with line:
            line.recv(65536)
            line.sendall(HOSTILE)


def hook(party: Party, port: int) -> Webhook:
    return webhooks.create(SYSTEM, party.tenant, f"http://127.0.0.1:{port}/")


def test_what_a_receiver_answers_spoils_nobodys_round(
    alice: Party, mallory: Party, receiver: Receiver, hostile: int
) -> None:
    bad = webhooks.test(hook(mallory, hostile))
    good = webhooks.test(hook(alice, receiver.server_port))

    assert sending.deliver([bad, good]) == 1

    bad.refresh_from_db()
    good.refresh_from_db()
    assert (good.state, good.attempts) == ("delivered", 1)
    assert (bad.state, bad.attempts) == ("failing", 1)
    assert bad.problem == problems.NOT_HTTP


def test_a_problem_is_kept_as_far_as_it_can_be_printed(alice: Party) -> None:
    delivery = webhooks.test(hook(alice, 1))
    webhooks.failed(delivery, None, "\x00\x1b[31m\xff" + "x" * 400, timezone.now())
    delivery.refresh_from_db()
    assert delivery.problem == "\ufffd\ufffd[31m\xff" + "x" * 293


def test_each_failure_is_followed_by_a_longer_pause(mallory: Party, hostile: int) -> None:
    delivery = webhooks.test(hook(mallory, hostile))
    for minutes in (1, 5, 30):
        before = timezone.now()
        sending.deliver([delivery])
        delivery.refresh_from_db()
        assert delivery.next_at is not None
        pause = timedelta(minutes=minutes)
        assert before + pause <= delivery.next_at <= timezone.now() + pause


def test_what_cannot_be_noted_spoils_no_others(
    alice: Party, bob: Party, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = webhooks.test(hook(bob, receiver.server_port))
    good = webhooks.test(hook(alice, receiver.server_port))
    real = webhooks.arrived

    def arrived(delivery: Delivery, *about: object) -> None:
        if delivery == bad:
            raise DataError("it cannot be written")
        real(delivery, *about)

    monkeypatch.setattr(webhooks, "arrived", arrived)
    assert sending.deliver([bad, good]) == 1
    good.refresh_from_db()
    assert good.state == "delivered"


def test_a_secret_that_cannot_be_read_spoils_no_others(
    alice: Party, bob: Party, receiver: Receiver
) -> None:
    """As after a change of the installation's key."""
    broken = hook(bob, receiver.server_port)
    Webhook.objects.filter(pk=broken.pk).update(secret="of another key")
    broken.refresh_from_db()
    bad, good = webhooks.test(broken), webhooks.test(hook(alice, receiver.server_port))

    assert sending.deliver([bad, good]) == 1

    bad.refresh_from_db()
    assert bad.problem == "Its secret cannot be read here: give the webhook a new one."
