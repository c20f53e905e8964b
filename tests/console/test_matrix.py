"""Every page in every role, and for who is none of the tenant's."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest

from tests.console import money_matrix
from tests.console.conftest import CALLERS, SignIn
from tests.console.matrix import ROWS, Row
from tests.ttsapp.conftest import Party
from ttsapp.audit.models import AuditEntry


@pytest.mark.parametrize(
    "row", ROWS + money_matrix.ROWS, ids=lambda row: f"{row.method} {row.path}"
)
def test_the_permission_matrix(sign_in: SignIn, alice: Party, row: Row) -> None:
    for caller, expected in zip(CALLERS, row.statuses, strict=True):
        client = sign_in(caller)
        rows = AuditEntry.objects.count()
        response = client.generic(row.method, row.path, **_form(row))

        assert response.status_code == expected, caller
        if expected in (302, 403, 404) and (caller == "nobody" or expected != 302):
            assert b"Alice" not in response.content, caller
            assert AuditEntry.objects.count() == rows, caller


def _form(row: Row) -> dict[str, str]:
    return {"data": urlencode(row.fields), "content_type": "application/x-www-form-urlencoded"}
