"""For all tests, before any of them imports gRPC."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

HERE = Path(__file__).parent
# Files and folders that start many processes, and so take longest, come first: what is left at the
# end is short, and all workers share it.
LONGEST = (
    "ttsapp/test_services.py",
    "train/test_recipe.py",
    "engine/test_server.py",
    "product",
    "docs/test_commands.py",
    "ttsapp/test_product.py",
    "engine/test_start_up.py",
)
assert all((HERE / name).exists() for name in LONGEST)

# Tests start processes from one that speaks gRPC. Its fork handlers would start threads in the
# child before that becomes another program, and take it down with them.
os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"

# Each HTTP client reads all authorities that it could trust, 25 ms of it, and no test speaks to any
# of them: this one has signed nothing.
os.environ["SSL_CERT_FILE"] = str(HERE / "nobody.pem")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=place)


def place(item: pytest.Item) -> int:
    """Of its file among those that take longest; behind them all where it is none of them."""
    path = item.path.relative_to(HERE)
    found = (number for number, name in enumerate(LONGEST) if path.is_relative_to(name))
    return next(found, len(LONGEST))
