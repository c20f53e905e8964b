"""Taking an address, or one line that says why not. An engine that answers there keeps it."""

from __future__ import annotations

import errno
import socket
import stat
from pathlib import Path

import grpc

from gpu_engine.server.supervisor import StartupError

UNIX = "unix:"
# Of sun_path, with its closing zero.
LONGEST_PATH = 107
ANSWER_S = 2.0


def listen(server: grpc.aio.Server, address: str) -> None:
    """Raises StartupError. A socket file that nobody listens on is a leftover and is replaced."""
    if address.startswith(UNIX):
        _check_path(address, Path(address.removeprefix(UNIX).replace("//", "/", 1)))
    else:
        _check_port(address)
    try:
        server.add_insecure_port(address)
    except RuntimeError:
        raise _refused(address, "the system refuses it") from None


def _check_path(address: str, path: Path) -> None:
    if len(bytes(path)) > LONGEST_PATH:
        raise _refused(address, f"a socket's path has at most {LONGEST_PATH} bytes")
    if not path.parent.is_dir():
        raise _refused(address, f"{path.parent} is no folder: make it first")
    try:
        kind = path.lstat().st_mode
    except FileNotFoundError:
        return
    except OSError as error:
        raise _refused(address, str(error.strerror)) from None
    if not stat.S_ISSOCK(kind):
        raise _refused(address, "there is a file of that name that is no socket")
    if _answers(path):
        raise _refused(address, "another engine listens there: stop it or give another --listen")


def _answers(path: Path) -> bool:
    """A stale socket refuses at once; one whose queue is full is held by somebody."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(ANSWER_S)
        try:
            client.connect(str(path))
        except (ConnectionRefusedError, FileNotFoundError):
            return False
        except OSError:
            return True
    return True


def _check_port(address: str) -> None:
    host, colon, port = address.rpartition(":")
    if not colon or not host or not port.isdecimal() or not 0 < int(port) < 1 << 16:
        raise _refused(address, "expected unix:/path or host:port, the port from 1 to 65535")
    host = host.removeprefix("[").removesuffix("]")
    try:
        family, kind, _, _, place = socket.getaddrinfo(host, int(port), type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(place)
    except socket.gaierror:
        raise _refused(address, f"no such host: {host}") from None
    except OSError as error:
        raise _refused(address, _why(error)) from None


def _why(error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return "it is in use: stop what listens there or give another --listen"
    return (error.strerror or str(error)).lower()


def _refused(address: str, why: str) -> StartupError:
    return StartupError(f"cannot listen on {address}: {why}")
