"""Carrying deliveries out: tenants beside each other, so that none waits for another's receiver."""

from __future__ import annotations

import http.client
import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from urllib.parse import SplitResult

import structlog
from cryptography.fernet import InvalidToken
from django.conf import settings
from django.db import DatabaseError, connection
from django.utils import timezone

from ttsapp import outgoing
from ttsapp.alerts import problems, selectors, webhooks
from ttsapp.alerts.models import Delivery
from ttsapp.errors import ApiError, invalid

log = structlog.get_logger()

# For one delivery altogether, and within which those of one round are begun.
SECONDS, ROUND_SECONDS = 10.0, 5.0
LANES = 20


@dataclass(frozen=True, slots=True)
class Outcome:
    """`status`: what was answered; None with the `problem` where nothing was."""

    status: int | None
    problem: str = ""


def checked(url: str) -> SplitResult:
    """Raises ApiError 400 on `url` unless it is an https address (or http, where the installation
    allows its network)."""
    schemes = ("https", "http") if settings.WEBHOOK_NETWORKS else ("https",)
    place = outgoing.parsed(url, schemes)
    if place is None:
        message = (
            "url must be an https address without a password, in ASCII without spaces: encode "
            "other letters of its path with %."
        )
        raise invalid(message, "url")
    return place


def check_public(url: str) -> None:
    """The same of an address that somebody enters, and 400 too for one that says by itself that it
    leads into our own network. What a name stands for is seen at each delivery."""
    host = checked(url).hostname or ""
    if not outgoing.may_lead_out(host, settings.WEBHOOK_NETWORKS):
        message = "url leads into a private network: name an address that the internet can reach."
        raise invalid(message, "url", "address_not_allowed")


_round = threading.Lock()


def begin() -> bool:
    """A round of what is due, beside the worker's other work: a receiver that stalls holds up none
    of that. False while one is under way."""
    if not _round.acquire(blocking=False):
        return False
    threading.Thread(target=_run, name="webhook-round", daemon=True).start()
    return True


def _run() -> None:
    try:
        deliver(selectors.due(timezone.now()))
    except DatabaseError as error:
        log.error("webhooks could not be sent", error=str(error))
    finally:
        connection.close()
        _round.release()


def deliver(due: Iterable[Delivery]) -> int:
    """Those of one tenant one after the other, as many as a round has time for: the rest stays due.
    Returns how many have arrived."""
    lanes: dict[int | None, list[Delivery]] = defaultdict(list)
    for delivery in due:
        lanes[delivery.webhook.tenant_id].append(delivery)
    arrived = 0
    with ThreadPoolExecutor(LANES, "webhooks") as pool:
        for done in pool.map(_sent, lanes.values()):
            arrived += sum(_noted(delivery, outcome) for delivery, outcome in done)
    return arrived


def _sent(lane: Sequence[Delivery]) -> list[tuple[Delivery, Outcome]]:
    """In a thread, which leaves the database alone."""
    end, done = time.monotonic() + ROUND_SECONDS, list[tuple[Delivery, Outcome]]()
    for delivery in lane:
        if time.monotonic() > end:
            break
        done.append((delivery, _outcome(delivery)))
    return done


def _outcome(delivery: Delivery) -> Outcome:
    try:
        return Outcome(_posted(delivery))
    except ApiError as error:
        return Outcome(None, error.message)
    except outgoing.PrivateAddressError:
        return Outcome(None, "It leads into a private network.")
    except InvalidToken:
        return Outcome(None, "Its secret cannot be read here: give the webhook a new one.")
    except (OSError, http.client.HTTPException, ValueError) as error:
        return Outcome(None, problems.said(error))


def _posted(delivery: Delivery) -> int:
    """Any 2xx is an arrival."""
    place = checked(delivery.webhook.url)
    headers = webhooks.headers(delivery, timezone.now())
    with outgoing.connection(place, SECONDS, settings.WEBHOOK_NETWORKS) as line:
        line.request("POST", outgoing.target(place), delivery.body.encode(), headers)
        return line.getresponse().status


def _noted(delivery: Delivery, outcome: Outcome) -> bool:
    """Each by itself: what cannot be written of one leaves the others' rows as they ought to be."""
    try:
        return _note(delivery, outcome)
    except DatabaseError as error:
        log.error("a webhook's delivery could not be noted", id=str(delivery.pk), error=str(error))
        return False


def _note(delivery: Delivery, outcome: Outcome) -> bool:
    """True when it has arrived. Redirects are not followed."""
    status, now = outcome.status, timezone.now()
    if status is not None and 200 <= status < 300:
        webhooks.arrived(delivery, status, now)
        return True
    problem = outcome.problem or f"answered with {status}"
    webhooks.failed(delivery, status, problem, now)
    return False
