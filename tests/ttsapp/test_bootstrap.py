"""manage.py bootstrap: the first tenant, user and key; and nothing twice."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from io import StringIO

import httpx
import pytest
from django.contrib.auth import authenticate
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection

from tests.ttsapp.conftest import speech
from ttsapp.audit.models import AuditEntry
from ttsapp.keys.models import ApiKey
from ttsapp.tenants.models import Membership, Tenant


def bootstrap(*arguments: str) -> dict[str, str | None]:
    out = StringIO()
    call_command("bootstrap", "--json", *arguments, stdout=out)
    return json.loads(out.getvalue())


def test_it_works(http: httpx.Client) -> None:
    made = bootstrap()

    headers = {"Authorization": f"Bearer {made['key']}"}
    assert http.post("/v1/audio/speech", json=speech(), headers=headers).status_code == 200
    user = authenticate(username=made["username"], password=made["password"])
    assert (made["tenant"], made["username"]) == ("default", "admin")
    assert user is not None
    assert user.is_superuser
    assert Membership.objects.get(user=user).role == "owner"
    assert set(AuditEntry.objects.values_list("action", flat=True)) == {
        "tenant.created",
        "member.added",
        "key.created",
    }


def test_a_second_run_changes_and_reveals_nothing(transactional_db: None) -> None:
    first, second = bootstrap(), bootstrap()

    assert (second["key"], second["password"]) == (None, None)
    assert second["key_hint"] == first["key_hint"]
    counts = [model.objects.count() for model in (Tenant, User, Membership, ApiKey)]
    assert counts == [1, 1, 1, 1]
    assert AuditEntry.objects.count() == 3


def test_another_key_on_request(transactional_db: None) -> None:
    first, second = bootstrap(), bootstrap("--new-key")

    assert second["key"] not in (None, first["key"])
    assert second["password"] is None
    assert ApiKey.objects.count() == 2


def test_other_names(transactional_db: None) -> None:
    made = bootstrap("--tenant", "Acme", "--slug", "acme", "--username", "ann")
    assert (made["tenant"], made["username"]) == ("acme", "ann")
    assert Tenant.objects.get().name == "Acme"


def test_for_people(transactional_db: None, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("bootstrap")
    call_command("bootstrap")
    first, second = capsys.readouterr().out.split("tenant ")[1:]
    assert "parl_live_" in first
    assert "--new-key makes another" in second


def test_only_the_first_user_is_an_administrator(transactional_db: None) -> None:
    bootstrap()
    bootstrap("--tenant", "Acme", "--slug", "acme", "--username", "ann")
    assert User.objects.get(username="ann").is_superuser is False
    assert User.objects.get(username="ann").is_staff is False


def test_an_administrator_is_said_to_be_one(
    transactional_db: None, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("bootstrap")
    call_command("bootstrap", "--slug", "acme", "--username", "ann")
    first, second = capsys.readouterr().out.split("tenant ")[1:]
    assert "may see and change every tenant" in first
    assert "may see and change every tenant" not in second


def test_two_at_once_make_one_of_everything(transactional_db: None) -> None:
    at_once = threading.Barrier(4)

    def run(_: int) -> dict[str, str | None]:
        try:
            at_once.wait()
            return bootstrap()
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as threads:
        made = list(threads.map(run, range(4)))

    counts = [model.objects.count() for model in (Tenant, User, Membership, ApiKey)]
    assert counts == [1, 1, 1, 1]
    assert len([each for each in made if each["key"]]) == 1
    assert len([each for each in made if each["password"]]) == 1
