"""Every page in every role, and for who is none of the tenant's."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest
from django.db import transaction
from django.http import HttpResponse
from django.test import Client

from tests.console import money_matrix, voice_matrix
from tests.console.conftest import CALLERS, SignIn
from tests.console.matrix import ROWS, Row
from tests.ttsapp.conftest import Party
from ttsapp.audit.models import AuditEntry

EVERY = (*ROWS, *money_matrix.ROWS, *voice_matrix.ROWS)


@pytest.mark.parametrize("place", range(len(CALLERS)), ids=CALLERS)
def test_the_permission_matrix(sign_in: SignIn, alice: Party, place: int) -> None:
    client = sign_in(CALLERS[place])
    rows = AuditEntry.objects.count()
    for row in EVERY:
        expected, name = row.statuses[place], f"{row.method} {row.path}"
        with transaction.atomic():
            response = ask(client, row)
            assert response.status_code == expected, name
            if expected in (403, 404) or CALLERS[place] == "nobody":
                assert b"Alice" not in response.content, name
                assert AuditEntry.objects.count() == rows, name
            transaction.set_rollback(True)


def ask(client: Client, row: Row) -> HttpResponse:
    form = {
        "data": urlencode(row.fields),
        "content_type": "application/x-www-form-urlencoded",
    }
    return client.generic(row.method, row.path, **form)
