"""Three tenants with people in every role, and a client that is one of them: no server runs."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.ttsapp.conftest import Party, make_party, quick_passwords
from ttsapp.audit.services import SYSTEM
from ttsapp.tenants.models import PlatformRole, Role
from ttsapp.tenants.services import add_member, set_platform_role

__all__ = ["quick_passwords"]

# Nobody is signed in; Mallory owns another tenant; the rest are Alice's; two run the installation.
CALLERS = ("nobody", "mallory", "viewer", "developer", "admin", "alice", "auditor", "operator")

SignIn = Callable[[str], Client]


@pytest.fixture
def alice(db: None) -> Party:
    return make_party("alice")


@pytest.fixture
def bob(db: None) -> Party:
    return make_party("bob")


@pytest.fixture
def mallory(db: None) -> Party:
    return make_party("mallory")


@pytest.fixture
def sign_in(alice: Party, mallory: Party) -> SignIn:
    """A client as one of the CALLERS, or as anybody else by name."""

    def as_(name: str) -> Client:
        client = Client()
        if name != "nobody":
            client.force_login(_user(alice, name))
        return client

    return as_


@pytest.fixture
def operator(sign_in: SignIn) -> Client:
    return sign_in("operator")


def _user(alice: Party, name: str) -> User:
    user, is_new = User.objects.get_or_create(username=name)
    if is_new and name in Role.values:
        add_member(SYSTEM, alice.tenant, user, Role(name))
    if is_new and name in PlatformRole.values:
        set_platform_role(SYSTEM, user, PlatformRole(name))
    return user
