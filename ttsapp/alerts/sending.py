"""Carrying deliveries out. An address that a tenant chose may not lead into our own network."""

from __future__ import annotations

import http.client
import socket
import ssl
from datetime import datetime
from ipaddress import ip_address, ip_network
from urllib.parse import SplitResult, urlsplit

from django.conf import settings

from ttsapp.alerts import webhooks
from ttsapp.alerts.models import Delivery
from ttsapp.errors import ApiError, invalid
from ttsapp.voices.clips.fetching import is_public

SECONDS = 10.0


def checked(url: str) -> SplitResult:
    """Raises ApiError 400 on `url` unless it is an https address (or http, where the installation
    allows its network)."""
    try:
        place = urlsplit(url)
        is_right = bool(place.hostname) and place.port != 0
    except ValueError:
        place, is_right = urlsplit(""), False
    schemes = ("https", "http") if settings.WEBHOOK_NETWORKS else ("https",)
    if not is_right or place.scheme not in schemes or place.username or place.password:
        raise invalid("url must be an https address without a password.", "url")
    return place


def deliver(delivery: Delivery, now: datetime) -> bool:
    """True when it has arrived: any 2xx. Redirects are not followed."""
    try:
        status = _posted(delivery, now)
    except ApiError as error:
        webhooks.failed(delivery, None, error.message, now)
        return False
    except (OSError, http.client.HTTPException, ValueError) as error:
        webhooks.failed(delivery, None, str(error) or type(error).__name__, now)
        return False
    if 200 <= status < 300:
        webhooks.arrived(delivery, status, now)
        return True
    webhooks.failed(delivery, status, f"answered with {status}", now)
    return False


def _posted(delivery: Delivery, now: datetime) -> int:
    place = checked(delivery.webhook.url)
    connection = _connection(place)
    try:
        path = place._replace(scheme="", netloc="", fragment="").geturl() or "/"
        connection.request("POST", path, delivery.body.encode(), webhooks.headers(delivery, now))
        return connection.getresponse().status
    finally:
        connection.close()


def _connection(place: SplitResult) -> http.client.HTTPConnection:
    """To what the name stands for, asked once: not to what it may stand for a moment later."""
    host, is_secure = place.hostname or "", place.scheme == "https"
    port = place.port or (443 if is_secure else 80)
    connection = http.client.HTTPConnection(host, port, timeout=SECONDS)
    plain = socket.create_connection((_address(host, port), port), SECONDS)
    context = ssl.create_default_context()
    connection.sock = context.wrap_socket(plain, server_hostname=host) if is_secure else plain
    return connection


def _address(host: str, port: int) -> str:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = [str(entry[4][0]) for entry in found]
    if not all(is_public(address) or _is_allowed(address) for address in addresses):
        raise invalid("It leads into a private network.", "url", "address_not_allowed")
    return addresses[0]


def _is_allowed(address: str) -> bool:
    """Of the networks that whoever runs the installation has named."""
    parsed = ip_address(address.partition("%")[0])
    return any(parsed in ip_network(network) for network in settings.WEBHOOK_NETWORKS)
