"""One product for all tests of a file that do not stop it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.product.running import Running


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with Running(tmp_path_factory.mktemp("product")) as running:
        yield running
