"""An address is taken, or refused in one line; who already answers there keeps it."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
import pytest_asyncio

from gpu_engine.server.listening import listen
from gpu_engine.server.supervisor import StartupError


@pytest_asyncio.fixture
async def server() -> grpc.aio.Server:
    return grpc.aio.server(options=[("grpc.so_reuseport", 0)])


@pytest.fixture
def held(tmp_path: Path) -> Iterator[Path]:
    """A socket that somebody listens on."""
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(tmp_path / "engine.sock"))
        other.listen()
        yield tmp_path / "engine.sock"


def refused(server: grpc.aio.Server, address: str) -> str:
    with pytest.raises(StartupError) as refusal:
        listen(server, address)
    prefix = f"cannot listen on {address}: "
    assert str(refusal.value).startswith(prefix)
    return str(refusal.value).removeprefix(prefix)


async def test_it_works(server: grpc.aio.Server, tmp_path: Path) -> None:
    listen(server, f"unix:{tmp_path}/engine.sock")
    await server.start()
    assert (tmp_path / "engine.sock").is_socket()
    await server.stop(0)


async def test_a_socket_in_use_stays_with_who_has_it(server: grpc.aio.Server, held: Path) -> None:
    why = refused(server, f"unix:{held}")
    assert why == "another engine listens there: stop it or give another --listen"
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(held))


async def test_a_socket_that_nobody_listens_on_is_replaced(
    server: grpc.aio.Server, tmp_path: Path
) -> None:
    path = tmp_path / "engine.sock"
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))
    listen(server, f"unix:{path}")
    await server.start()
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(path))
    await server.stop(0)


async def test_a_file_that_is_no_socket_stays(server: grpc.aio.Server, tmp_path: Path) -> None:
    (tmp_path / "engine.sock").write_text("mine")
    why = refused(server, f"unix:{tmp_path}/engine.sock")
    assert why == "there is a file of that name that is no socket"
    assert (tmp_path / "engine.sock").read_text() == "mine"


async def test_a_folder_that_is_not_there(server: grpc.aio.Server, tmp_path: Path) -> None:
    why = refused(server, f"unix:{tmp_path}/gone/engine.sock")
    assert why == f"{tmp_path}/gone is no folder: make it first"


async def test_a_path_that_no_socket_can_have(server: grpc.aio.Server, tmp_path: Path) -> None:
    why = refused(server, f"unix:{tmp_path}/{'x' * 108}")
    assert why == "a socket's path has at most 107 bytes"


@pytest.mark.parametrize("address", ["7788", ":7788", "127.0.0.1:", "127.0.0.1:x", "a:65536"])
async def test_an_address_that_is_none(server: grpc.aio.Server, address: str) -> None:
    why = refused(server, address)
    assert why == "expected unix:/path or host:port, the port from 1 to 65535"


async def test_a_port_in_use(server: grpc.aio.Server) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        why = refused(server, f"127.0.0.1:{taken.getsockname()[1]}")
    assert why == "it is in use: stop what listens there or give another --listen"


async def test_an_address_of_another_machine(server: grpc.aio.Server) -> None:
    assert refused(server, "192.0.2.1:7788") == "cannot assign requested address"
