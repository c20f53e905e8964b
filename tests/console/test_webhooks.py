"""Webhooks: signed, tried again, and never led into our own network."""

from __future__ import annotations

import base64
import hashlib
import hmac
import http.client
import json
import socket
import ssl
import threading
from datetime import timedelta

import pytest
from django.utils import timezone

from tests.console.conftest import SignIn
from tests.ttsapp.conftest import Party
from tests.ttsapp.hooks import Receiver, receiver, serving
from ttsapp import outgoing
from ttsapp.alerts import problems, selectors, sending, webhooks
from ttsapp.alerts.models import Delivery, Webhook
from ttsapp.audit.models import AuditEntry
from ttsapp.audit.services import SYSTEM

__all__ = ["receiver", "serving"]

PAGE = "/console/alice/webhooks"


@pytest.fixture
def webhook(alice: Party, receiver: Receiver) -> Webhook:
    url = f"http://127.0.0.1:{receiver.server_port}/hook?from=parlance"
    return webhooks.create(SYSTEM, alice.tenant, url)


def deliver(webhook: Webhook) -> Delivery:
    delivery = webhooks.test(webhook)
    sending.deliver([delivery])
    delivery.refresh_from_db()
    return delivery


def test_it_works(webhook: Webhook, receiver: Receiver) -> None:
    delivery = deliver(webhook)

    ((headers, body),) = receiver.heard
    key = base64.b64decode(webhooks.secret_of(webhook).removeprefix("whsec_"))
    signed = f"{delivery.pk}.{headers['webhook-timestamp']}.".encode() + body
    expected = base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
    assert headers["webhook-signature"] == f"v1,{expected}"
    assert headers["webhook-id"] == str(delivery.pk)
    assert json.loads(body)["type"] == "webhook.test"
    assert (delivery.state, delivery.status, delivery.attempts) == ("delivered", 204, 1)


def test_the_signature_of_the_specification() -> None:
    """The example that its libraries are tested with."""
    secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    signature = webhooks.signature(
        secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", '{"test": 2432232314}'
    )
    assert signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


@pytest.mark.parametrize("status", [500, 302])
def test_what_fails_is_tried_again_later(webhook: Webhook, receiver: Receiver, status: int) -> None:
    receiver.status = status
    delivery = deliver(webhook)
    assert (delivery.state, delivery.problem) == ("failing", f"answered with {status}")
    assert delivery.next_at is not None
    assert timedelta(0) < delivery.next_at - timezone.now() <= webhooks.PAUSES[0]


def test_it_is_given_up_at_last_and_sent_again_by_hand(
    webhook: Webhook, receiver: Receiver
) -> None:
    receiver.status = 500
    delivery = webhooks.test(webhook)
    for _ in range(len(webhooks.PAUSES) + 1):
        sending.deliver([delivery])
        delivery.refresh_from_db()
    assert delivery.state == "given up"
    receiver.status = 200
    webhooks.resend(delivery)
    delivery.refresh_from_db()
    assert sending.deliver([delivery]) == 1
    assert {headers["webhook-id"] for headers, _ in receiver.heard} == {str(delivery.pk)}


@pytest.mark.parametrize(
    "url",
    [
        "http://hooks.example.com/",
        "https://user:secret@hooks.example.com/",
        "ftp://hooks.example.com/",
        "https://",
        "https://[::1",
        "https://hooks.example.com/a\tb",
        "https://hooks.example.com/a b",
        "https://hooks.example.com/\u00fc",
        "https://127.0.0.1/x",
        "https://10.1.2.3/",
        "https://[::1]/",
        "https://127.1/",
        "https://2130706433/",
        "https://localhost/",
    ],
)
def test_addresses_that_are_refused(sign_in: SignIn, alice: Party, url: str) -> None:
    response = sign_in("alice").post(PAGE, {"url": url})
    assert response.status_code == 400
    assert list(response.context["form"].errors) == ["url"]
    assert not Webhook.objects.exists()


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "10.0.0.1", "[::1]", "[::127.0.0.1]", "[64:ff9b:1::7f00:1]"]
)
def test_our_own_network_is_closed(alice: Party, host: str) -> None:
    delivery = deliver(webhooks.create(SYSTEM, alice.tenant, f"https://{host}/"))
    assert delivery.problem == "It leads into a private network."


@pytest.mark.parametrize("url", ["https://8.8.8.8/", "https://hooks.example.com/"])
def test_what_may_be_public_is_taken(sign_in: SignIn, alice: Party, url: str) -> None:
    assert sign_in("alice").post(PAGE, {"url": url}).status_code == 302


def test_an_installation_opens_its_own_network(
    sign_in: SignIn, alice: Party, receiver: Receiver
) -> None:
    assert sign_in("alice").post(PAGE, {"url": "https://127.0.0.1/x"}).status_code == 302


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (socket.gaierror(socket.EAI_NONAME, "Name or service not known"), problems.NO_NAME),
        (socket.gaierror(socket.EAI_AGAIN, "Temporary failure"), problems.AGAIN),
        (ConnectionRefusedError(111, "Connection refused"), problems.REFUSED),
        (ConnectionResetError(104, "Connection reset by peer"), problems.CUT),
        (TimeoutError("no answer within 10 seconds"), "There was no answer within 10 seconds."),
        (TimeoutError("timed out"), "There was no answer in time."),
        (ssl.SSLError(1, "[SSL] record layer failure (_ssl.c:1000)"), problems.NOT_TLS),
        (http.client.BadStatusLine("SSH-2.0"), problems.NOT_HTTP),
        (http.client.RemoteDisconnected("closed"), problems.CUT),
        (
            OSError(101, "Network is unreachable"),
            "It cannot be reached: Network is unreachable.",
        ),
    ],
)
def test_problems_are_told_in_words(
    alice: Party, monkeypatch: pytest.MonkeyPatch, error: Exception, said: str
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(outgoing, "connection", fail)
    delivery = deliver(webhooks.create(SYSTEM, alice.tenant, "https://hooks.example.com/"))
    assert delivery.problem == said


def test_the_secret_is_kept_encrypted(webhook: Webhook) -> None:
    assert webhooks.secret_of(webhook).startswith("whsec_")
    assert "whsec_" not in webhook.secret


def test_the_page_does_it_all(sign_in: SignIn, webhook: Webhook) -> None:
    client, page = sign_in("alice"), f"{PAGE}/{webhook.pk}"
    before = client.get(page).context["secret"]
    for action in ("test", "rotate", "off", "on"):
        client.post(f"{page}/{action}")
    shown = client.get(page)
    assert shown.context["secret"] != before
    assert [each.event for each in shown.context["deliveries"]] == ["webhook.test"]
    client.post(f"{page}/remove")
    assert not Webhook.objects.exists()
    actions = AuditEntry.objects.filter(action__startswith="webhook.").order_by("sequence")
    assert [entry.action.partition(".")[2] for entry in actions] == [
        *("created", "rotated", "changed", "changed", "removed"),
    ]


def test_anothers_webhook_is_not_found(sign_in: SignIn, webhook: Webhook) -> None:
    delivery = webhooks.test(webhook)
    client, page = sign_in("mallory"), f"/console/mallory/webhooks/{webhook.pk}"
    answers = [
        client.get(page),
        client.post(f"{page}/remove"),
        client.post(f"{page}/deliveries/{delivery.pk}/resend"),
    ]
    assert [answer.status_code for answer in answers] == [404, 404, 404]
    assert Webhook.objects.exists()


def test_there_is_an_end_to_them(sign_in: SignIn, alice: Party) -> None:
    for number in range(webhooks.MOST):
        webhooks.create(SYSTEM, alice.tenant, f"https://hooks.example.com/{number}")
    response = sign_in("alice").post(PAGE, {"url": "https://hooks.example.com/more"})
    assert response.status_code == 400
    assert Webhook.objects.count() == webhooks.MOST


def test_a_tenant_with_many_does_not_hold_up_the_next(alice: Party, bob: Party) -> None:
    hers, his = (
        webhooks.create(SYSTEM, party.tenant, "https://hooks.example.com/")
        for party in (alice, bob)
    )
    for webhook in (*[hers] * 8, his):
        webhooks.test(webhook)
    due = selectors.due(timezone.now(), of_each=5)
    assert [each.webhook for each in due] == [*[hers] * 5, his]


def test_nobody_waits_for_another_tenants_receiver(
    alice: Party, bob: Party, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both are being sent at a time, or neither comes through."""
    together = threading.Barrier(2, timeout=30)

    def posted(_: Delivery) -> int:
        together.wait()
        return 204

    monkeypatch.setattr(sending, "_posted", posted)
    made = [
        webhooks.create(SYSTEM, party.tenant, "https://hooks.example.com/")
        for party in (alice, bob)
    ]
    assert sending.deliver([webhooks.test(webhook) for webhook in made]) == 2
