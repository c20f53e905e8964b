"""Who is in a tenant, who is invited, and who may decide it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from tests.console.conftest import SignIn
from tests.ttsapp.conftest import PASSWORD, Party
from ttsapp.audit.models import AuditEntry
from ttsapp.audit.services import SYSTEM
from ttsapp.errors import ApiError
from ttsapp.tenants import invitations
from ttsapp.tenants.models import Invitation, Membership, Role
from ttsapp.tenants.services import change_role, remove_member

MEMBERS = "/console/alice/members"


@pytest.fixture
def invitation(alice: Party) -> Invitation:
    return invitations.invite(SYSTEM, alice.tenant, "Dora", Role.DEVELOPER)


def path(invitation: Invitation) -> str:
    return f"/account/invitation/{invitations.token(invitation)}"


def role_of(username: str) -> str | None:
    found = Membership.objects.filter(user__username=username, tenant__slug="alice").first()
    return found.role if found else None


def test_it_works(sign_in: SignIn, alice: Party) -> None:
    owner = sign_in("alice")
    owner.post(MEMBERS, {"label": "Dora", "role": "developer"})
    (invited,) = owner.get(MEMBERS).context["invited"]

    dora = Client()
    where = invited.link.removeprefix("http://testserver")
    joined = dora.post(where, {"username": "dora", "password": PASSWORD})
    assert joined.headers["location"] == "/console/alice"
    assert dora.get("/console/alice").status_code == 200
    assert role_of("dora") == "developer"
    actions = AuditEntry.objects.filter(tenant=alice.tenant).values_list("action", "actor")
    assert set(actions) >= {("member.invited", "user:alice"), ("member.added", "user:dora")}


def test_somebody_with_an_account_joins_with_it(
    sign_in: SignIn, mallory: Party, invitation: Invitation
) -> None:
    client = sign_in("mallory")
    assert "Join as mallory" in client.get(path(invitation)).content.decode()
    client.post(path(invitation))
    assert role_of("mallory") == "developer"


def test_a_link_lets_in_once(invitation: Invitation) -> None:
    for name, status in (("dora", 302), ("eve", 404)):
        fields = {"username": name, "password": PASSWORD}
        assert Client().post(path(invitation), fields).status_code == status
    assert role_of("eve") is None
    assert not User.objects.filter(username="eve").exists()


@pytest.mark.parametrize("end", ["withdrawn", "expired", "forged"])
def test_a_link_that_is_closed(
    sign_in: SignIn, alice: Party, invitation: Invitation, end: str
) -> None:
    where = path(invitation)
    if end == "withdrawn":
        sign_in("alice").post(f"/console/alice/invitations/{invitation.pk}/withdraw")
    elif end == "expired":
        Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    else:
        where = f"{where[:-1]}{'a' if where[-1] != 'a' else 'b'}"
    assert Client().get(where).status_code == 404


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"username": "Alice", "password": PASSWORD}, "username"),
        ({"username": "a b/c", "password": PASSWORD}, "username"),
        ({"username": "dora", "password": "short"}, "password"),
    ],
)
def test_a_new_account_is_checked(
    invitation: Invitation, fields: dict[str, str], field: str
) -> None:
    response = Client().post(path(invitation), fields)
    assert response.status_code == 400
    assert list(response.context["form"].errors) == [field]
    assert role_of("dora") is None


def test_an_admin_makes_no_owner(sign_in: SignIn, alice: Party) -> None:
    admin = sign_in("admin")
    assert admin.post(MEMBERS, {"label": "Eve", "role": "owner"}).status_code == 400
    own = Membership.objects.get(user__username="admin")
    assert admin.post(f"{MEMBERS}/{own.pk}", {"role": "owner"}).status_code == 400
    assert role_of("admin") == "admin"


def test_an_admin_touches_no_owner(sign_in: SignIn, alice: Party) -> None:
    owner = Membership.objects.get(user=alice.user)
    admin = sign_in("admin")
    assert admin.post(f"{MEMBERS}/{owner.pk}", {"role": "viewer"}).status_code == 403
    assert admin.post(f"{MEMBERS}/{owner.pk}/remove").status_code == 403
    assert role_of("alice") == "owner"


def test_an_admin_sees_no_link_that_makes_owners(sign_in: SignIn, alice: Party) -> None:
    invitations.invite(SYSTEM, alice.tenant, "Next owner", Role.OWNER)
    assert sign_in("admin").get(MEMBERS).context["invited"] == []


def test_the_last_owner_stays(sign_in: SignIn, alice: Party) -> None:
    membership = Membership.objects.get(user=alice.user)
    with pytest.raises(ApiError) as changed:
        change_role(SYSTEM, membership, Role.ADMIN)
    with pytest.raises(ApiError) as removed:
        remove_member(SYSTEM, membership)
    page = sign_in("alice").post(f"{MEMBERS}/{membership.pk}/remove")
    assert (changed.value.code, removed.value.code) == ("last_owner", "last_owner")
    assert (page.status_code, role_of("alice")) == (400, "owner")


def test_who_is_removed_is_out_at_once(sign_in: SignIn, alice: Party) -> None:
    viewer = sign_in("viewer")
    membership = Membership.objects.get(user__username="viewer")
    sign_in("alice").post(f"{MEMBERS}/{membership.pk}/remove")
    assert viewer.get("/console/alice/keys").status_code == 404


def test_anothers_member_is_not_found(sign_in: SignIn, mallory: Party) -> None:
    theirs = Membership.objects.get(user=mallory.user)
    assert sign_in("alice").get(f"{MEMBERS}/{theirs.pk}").status_code == 404


def test_an_operator_invites_the_first_owner(sign_in: SignIn, alice: Party) -> None:
    operator = sign_in("operator")
    operator.post("/platform/tenants/alice/invite", {"label": "Zoe"})
    (invited,) = operator.get("/platform/tenants/alice").context["invited"]
    assert (invited.row.label, invited.row.role) == ("Zoe", "owner")
    assert sign_in("auditor").get("/platform/tenants/alice").context["invited"] == []
