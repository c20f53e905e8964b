"""Three tenants, and no price list remembered from another test."""

from __future__ import annotations

import pytest

from tests.billing.selling import fresh_prices
from ttsapp.audit.services import SYSTEM
from ttsapp.tenants.models import Tenant
from ttsapp.tenants.services import create_tenant

__all__ = ["fresh_prices"]


@pytest.fixture
def alice(db: None, fresh_prices: None) -> Tenant:
    return create_tenant(SYSTEM, "Alice", "alice")


@pytest.fixture
def bob(db: None, fresh_prices: None) -> Tenant:
    return create_tenant(SYSTEM, "Bob", "bob")


@pytest.fixture
def mallory(db: None, fresh_prices: None) -> Tenant:
    return create_tenant(SYSTEM, "Mallory", "mallory")
