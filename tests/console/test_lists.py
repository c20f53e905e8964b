"""What every list has above it: views that people save and share, and all of it as CSV."""

from __future__ import annotations

import csv
import html
import io

import pytest
from asgiref.sync import async_to_sync
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from tests.console.conftest import SignIn
from tests.ttsapp.conftest import Party
from tests.ttsapp.seeded import use
from ttsapp.alerts.models import Alert, AlertChange
from ttsapp.audit.models import AuditEntry
from ttsapp.console import lists
from ttsapp.console.models import SavedView
from ttsapp.keys.models import ApiKey
from ttsapp.voices.models import Consent

FAILED = {"name": "Failed", "query": "ended=error&before=x&evil=1"}
SAVE = "/console/alice/views/of/requests"


def content(answer: HttpResponse) -> str:
    """Of a file, streamed or not."""
    if not answer.streaming:
        return answer.content.decode()

    async def all_of_it() -> bytes:
        return b"".join([part async for part in answer.streaming_content])

    return async_to_sync(all_of_it)().decode()


def shown(client: Client, path: str = "/console/alice/requests") -> str:
    answer = client.get(path)
    assert answer.status_code == 200
    return answer.content.decode()


def test_a_view_is_saved_with_the_lists_own_filters(sign_in: SignIn) -> None:
    viewer = sign_in("viewer")
    saved = viewer.post(SAVE, FAILED)
    [view] = SavedView.objects.all()
    assert saved["Location"] == "/console/alice/requests?ended=error"
    assert (view.name, view.query, view.is_shared) == ("Failed", "ended=error", False)
    assert '<a href="?ended=error" aria-current="true">Failed</a>' in shown(
        viewer, saved["Location"]
    )
    assert '<a href="?ended=error">Failed</a>' in shown(viewer)


def test_a_private_view_is_its_makers_alone(sign_in: SignIn) -> None:
    sign_in("viewer").post(SAVE, FAILED)
    rows = AuditEntry.objects.filter(action="view.shared").count()
    assert "Failed</a>" not in shown(sign_in("developer"))
    assert rows == 0


def test_a_shared_view_is_seen_in_its_tenant_and_nowhere_else(
    sign_in: SignIn, mallory: Party
) -> None:
    sign_in("viewer").post(SAVE, {**FAILED, "is_shared": "on"})
    [entry] = AuditEntry.objects.filter(action="view.shared")
    assert (entry.actor, entry.target, entry.detail["query"]) == (
        "user:viewer",
        "Failed",
        "ended=error",
    )
    assert 'title="shared by viewer">Failed</a>' in shown(sign_in("developer"))
    assert "Failed</a>" not in shown(sign_in("mallory"), "/console/mallory/requests")


def test_the_same_name_replaces_the_filters(sign_in: SignIn) -> None:
    viewer = sign_in("viewer")
    for query in ("ended=error", "ended=stop"):
        viewer.post(SAVE, {"name": "Mine", "query": query})
    assert [view.query for view in SavedView.objects.all()] == ["ended=stop"]


def test_a_view_of_nothing_is_not_saved(sign_in: SignIn) -> None:
    sign_in("viewer").post(SAVE, {"name": "All", "query": ""})
    assert SavedView.objects.count() == 0


def test_what_another_keeps_cannot_be_removed(sign_in: SignIn) -> None:
    sign_in("viewer").post(SAVE, FAILED)
    path = f"/console/alice/views/{SavedView.objects.get().pk}/remove"
    assert sign_in("alice").post(path).status_code == 404
    assert SavedView.objects.count() == 1


def test_what_is_shared_is_removed_by_who_looks_after_the_place(sign_in: SignIn) -> None:
    sign_in("viewer").post(SAVE, {**FAILED, "is_shared": "on"})
    path = f"/console/alice/views/{SavedView.objects.get().pk}/remove"
    assert sign_in("developer").post(path).status_code == 403
    assert sign_in("mallory").post(path.replace("alice", "mallory")).status_code == 404
    assert SavedView.objects.count() == 1
    assert sign_in("admin").post(path).status_code == 302
    assert SavedView.objects.count() == 0
    assert AuditEntry.objects.filter(action="view.removed", actor="user:admin").count() == 1


def test_no_more_than_fifty_are_kept(sign_in: SignIn) -> None:
    viewer = sign_in("viewer")
    for number in range(51):
        viewer.post(SAVE, {"name": f"View {number}", "query": "ended=stop"})
    names = set(SavedView.objects.values_list("name", flat=True))
    assert len(names) == 50
    assert "View 0" not in names


@pytest.mark.parametrize("name", sorted(lists.OF_TENANT))
def test_every_list_of_a_tenant_has_a_csv(name: str, sign_in: SignIn) -> None:
    page = reverse(f"console:{name}", args=["alice"])
    file = reverse(f"console:{name}_csv", args=["alice"])
    owner = sign_in("alice")
    assert f'href="{file}"' in shown(owner, page)
    answer = owner.get(file)
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    assert answer["Content-Disposition"].startswith("attachment; ")


@pytest.mark.parametrize("name", sorted(lists.OF_PLATFORM))
def test_every_list_of_the_installation_has_a_csv(name: str, sign_in: SignIn) -> None:
    file, operator = reverse(f"platform:{name}_csv"), sign_in("operator")
    assert f'href="{file}"' in shown(operator, reverse(f"platform:{name}"))
    assert operator.get(file)["Content-Type"] == "text/csv; charset=utf-8"


def test_the_requests_file_has_all_that_match(
    transactional_db: None, sign_in: SignIn, alice: Party, mallory: Party
) -> None:
    for _ in range(3):
        use(alice.tenant, alice.key, timezone.now())
    use(mallory.tenant, mallory.key, timezone.now())
    file = content(sign_in("viewer").get("/console/alice/requests.csv"))
    rows = list(csv.DictReader(io.StringIO(file)))
    assert len(rows) == 3
    assert {row["key"] for row in rows} == {alice.key.name}
    assert rows[0]["id"] > rows[1]["id"] > rows[2]["id"]
    none = content(
        sign_in("viewer").get("/console/alice/requests.csv?since=2001-01-01&until=2001-01-02")
    )
    assert none.count("\n") == 1


def test_a_name_is_no_formula_in_a_file(sign_in: SignIn, alice: Party) -> None:
    ApiKey.objects.filter(pk=alice.key.pk).update(name="=cmd()")
    assert ",'=cmd()," in content(sign_in("viewer").get("/console/alice/keys.csv"))


def test_keys_are_filtered_on_the_page_and_in_the_file(sign_in: SignIn, alice: Party) -> None:
    viewer = sign_in("viewer")
    mine, none = f"?q={alice.key.public_id}&state=active", "?state=revoked"
    assert alice.key.name in html.unescape(shown(viewer, f"/console/alice/keys{mine}"))
    assert "No key matches" in shown(viewer, f"/console/alice/keys{none}")
    assert content(viewer.get(f"/console/alice/keys.csv{mine}")).count("\n") == 2
    assert content(viewer.get(f"/console/alice/keys.csv{none}")).count("\n") == 1


def test_a_file_of_the_audit_log_is_audited(transactional_db: None, sign_in: SignIn) -> None:
    file = content(sign_in("admin").get("/console/alice/audit.csv"))
    assert file.startswith(
        "at,tenant,actor,action,target,changes,detail,reason,address,request_id,"
    )
    assert AuditEntry.objects.filter(action="audit.exported", actor="user:admin").count() == 1


def test_words_and_consents_have_saved_views_too(sign_in: SignIn) -> None:
    viewer = sign_in("viewer")
    for page, query in (("pronunciations", "q=sql"), ("consents", "q=ann&state=active")):
        saved = viewer.post(f"/console/alice/views/of/{page}", {"name": page, "query": query})
        assert saved["Location"] == f"/console/alice/{page}?{query}"
        assert f'aria-current="true">{page}</a>' in shown(viewer, saved["Location"])


def filtered(client: Client, page: str, query: str) -> tuple[str, list[dict[str, str]]]:
    """The page, and the rows of its file."""
    file = content(client.get(f"{page}.csv?{query}"))
    return shown(client, f"{page}?{query}"), list(csv.DictReader(io.StringIO(file)))


def test_members_are_filtered(sign_in: SignIn, alice: Party) -> None:
    for name in ("developer", "viewer"):
        sign_in(name)
    page, rows = filtered(sign_in("alice"), "/console/alice/members", "q=VIEW&role=viewer")
    assert [row["name"] for row in rows] == ["viewer"]
    assert '<th scope="row">viewer</th>' in page
    assert '<th scope="row">developer</th>' not in page
    page, rows = filtered(sign_in("alice"), "/console/alice/members", "q=developer&role=viewer")
    assert rows == []
    assert '<strong>No member matches</strong><a href="/console/alice/members">' in page


def test_consents_are_filtered(sign_in: SignIn, alice: Party, mallory: Party) -> None:
    for tenant, name in ((alice, "Ann"), (alice, "Ben"), (mallory, "Anna")):
        Consent.objects.create(tenant=tenant.tenant, name=name, person=f"{name} Archer")
    Consent.objects.filter(name="Ben").update(withdrawn_at=timezone.now())
    where, viewer = "/console/alice/consents", sign_in("viewer")
    assert [row["name"] for row in filtered(viewer, where, "q=ann")[1]] == ["Ann"]
    assert [row["name"] for row in filtered(viewer, where, "state=withdrawn")[1]] == ["Ben"]
    assert "No consent matches" in filtered(viewer, where, "q=ann&state=withdrawn")[0]


def test_changes_of_alerts_are_filtered(sign_in: SignIn, alice: Party, mallory: Party) -> None:
    for tenant, rule in ((alice, "budget"), (alice, "webhook"), (mallory, "budget")):
        alert = Alert.objects.create(rule=rule, scope=f"{tenant.tenant.pk}", tenant=tenant.tenant)
        for after in ("warning", "ok"):
            AlertChange.objects.create(
                at=timezone.now(), alert=alert, before="ok", after=after, was_told=False
            )
    where, viewer = "/console/alice/alerts", sign_in("viewer")
    page, rows = filtered(viewer, where, "rule=budget&to=warning")
    assert [(row["alert"], row["after"]) for row in rows] == [("budget", "warning")]
    assert page.count('<td><span class="pill warning">warning</span></td>') == 1
    assert len(filtered(viewer, where, "rule=webhook")[1]) == 2
    assert "No change matches" in filtered(viewer, where, "rule=webhook&to=alert")[0]
    # A rule of the installation's is none of a tenant's.
    assert viewer.get(f"{where}?rule=disk").status_code == 400
