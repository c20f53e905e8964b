"""Requests that we make to addresses that a tenant chose.

They may lead to nothing inside our own network, neither by name, nor by what the name resolves to,
nor by a redirect (none is followed), and they are over after a time, however slowly the other side
answers."""

from __future__ import annotations

import http.client
import socket
import ssl
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import SplitResult, urlsplit

# All that is handed out; what lies outside translates IPv4, is local or means nothing.
_UNICAST = IPv6Network("2000::/3")
_DOCUMENTATION = IPv6Network("3fff::/20")
_NAT64 = IPv6Network("64:ff9b::/96")
# The third quarter of an ISATAP address; its last is an IPv4 address.
_ISATAP = (0x0000_5EFE, 0x0200_5EFE)


class PrivateAddressError(Exception):
    """It leads into a private network."""


def parsed(address: str, schemes: Sequence[str] = ("https",)) -> SplitResult | None:
    """None for what is no address of these schemes, or carries a password. What `urlsplit` would
    silently drop, like tabs, is refused: what is kept is what is called."""
    if not address.isascii() or not address.isprintable() or " " in address:
        return None
    try:
        place = urlsplit(address)
        is_right = bool(place.hostname) and place.port != 0
    except ValueError:
        return None
    is_right = is_right and place.scheme in schemes
    return place if is_right and not (place.username or place.password) else None


def target(place: SplitResult) -> str:
    """What is asked of its host: the path and the query."""
    return place._replace(scheme="", netloc="", fragment="").geturl() or "/"


@contextmanager
def connection(
    place: SplitResult, seconds: float, allowed: Sequence[str] = ()
) -> Iterator[http.client.HTTPConnection]:
    """To what the name stands for, asked once: not to what it may stand for a moment later. After
    `seconds` it is cut. `allowed`: networks of our own that it may lead into all the same.

    Raises PrivateAddressError, OSError (TimeoutError once it was cut), HTTPException, ValueError.
    """
    end, is_secure = time.monotonic() + seconds, place.scheme == "https"
    host, port = place.hostname or "", place.port or (443 if is_secure else 80)
    kind = http.client.HTTPSConnection if is_secure else http.client.HTTPConnection
    made = kind(host, port)
    made.auto_open = 0
    sock = _connected(_address(host, port, allowed), port, seconds)
    if is_secure:
        context = ssl.create_default_context()
        # The handshake waits for the other side too.
        sock = context.wrap_socket(sock, server_hostname=host, do_handshake_on_connect=False)
    was_cut = threading.Event()
    timer = threading.Timer(max(0.0, end - time.monotonic()), _cut, (sock, was_cut))
    timer.daemon = True
    timer.start()
    try:
        if isinstance(sock, ssl.SSLSocket):
            sock.do_handshake()
        made.sock = sock
        yield made
    except (OSError, http.client.HTTPException, ValueError):
        if not was_cut.is_set():
            raise
    finally:
        timer.cancel()
        sock.close()
        made.close()
    # To a reader, a connection that was cut is one that has ended: its answer may be half of one.
    if was_cut.is_set():
        raise TimeoutError(f"no answer within {seconds:.0f} seconds")


def is_public(address: str) -> bool:
    """Also of the IPv4 address that an IPv6 one stands for."""
    found = ip_address(address.partition("%")[0])
    if isinstance(found, IPv4Address):
        return found.is_global and not found.is_multicast
    if found.ipv4_mapped is not None:
        return is_public(str(found.ipv4_mapped))
    if found in _NAT64:
        return is_public(str(_last(found)))
    if found not in _UNICAST or found in _DOCUMENTATION or not found.is_global:
        return False
    inner = found.sixtofour
    if int(found) >> 32 & 0xFFFF_FFFF in _ISATAP:
        inner = _last(found)
    return inner is None or is_public(str(inner))


def may_lead_out(host: str, allowed: Sequence[str] = ()) -> bool:
    """False for what is an address of ours by its writing, in any that the system understands. A
    name may stand for anything, but `localhost`."""
    if host == "localhost" or host.endswith(".localhost"):
        host = "127.0.0.1"
    with suppress(OSError):
        host = socket.inet_ntoa(socket.inet_aton(host))
    try:
        return is_public(host) or _is_within(host, allowed)
    except ValueError:
        return True


def _last(address: IPv6Address) -> IPv4Address:
    return IPv4Address(int(address) & 0xFFFF_FFFF)


def _address(host: str, port: int, allowed: Sequence[str]) -> str:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = [str(entry[4][0]) for entry in found]
    if not all(is_public(each) or _is_within(each, allowed) for each in addresses):
        raise PrivateAddressError
    return addresses[0]


def _is_within(address: str, networks: Sequence[str]) -> bool:
    parsed = ip_address(address.partition("%")[0])
    return any(parsed in ip_network(network) for network in networks)


def _connected(address: str, port: int, seconds: float) -> socket.socket:
    return socket.create_connection((address, port), seconds)


def _cut(sock: socket.socket, was_cut: threading.Event) -> None:
    was_cut.set()
    with suppress(OSError):
        # Not SSLSocket's, which changes what the other thread is using.
        socket.socket.shutdown(sock, socket.SHUT_RDWR)
