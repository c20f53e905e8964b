"""Three tenants, and no price list remembered from another test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from billing.prices.selectors import kept
from ttsapp.audit.services import SYSTEM
from ttsapp.tenants.models import Tenant
from ttsapp.tenants.services import create_tenant


@pytest.fixture
def fresh_prices() -> Iterator[None]:
    kept.forget()
    yield
    kept.forget()


@pytest.fixture
def alice(db: None, fresh_prices: None) -> Tenant:
    return create_tenant(SYSTEM, "Alice", "alice")


@pytest.fixture
def bob(db: None, fresh_prices: None) -> Tenant:
    return create_tenant(SYSTEM, "Bob", "bob")


@pytest.fixture
def mallory(db: None, fresh_prices: None) -> Tenant:
    return create_tenant(SYSTEM, "Mallory", "mallory")
