"""The management API against its own OpenAPI document: whatever that allows to be sent, nothing is
a 500, and every answer is one that it announces."""

from __future__ import annotations

import httpx
import schemathesis
from django.utils import timezone
from hypothesis import given
from schemathesis import Case

from tests.ttsapp.announced import FEW, answer
from tests.ttsapp.browser import browser
from tests.ttsapp.conftest import Party
from tests.ttsapp.seeded import use
from ttsapp import ids
from ttsapp.api.documents import document
from ttsapp.audit.services import SYSTEM
from ttsapp.lexicon.services import add_word
from ttsapp.tenants.models import PlatformRole
from ttsapp.tenants.services import set_platform_role
from ttsapp.voices.models import Consent


def test_every_answer_is_announced(base: str, alice: Party) -> None:
    set_platform_role(SYSTEM, alice.user, PlatformRole.OPERATOR)
    things = {
        "aliases": "alloy",
        "voices": "Anna",
        "documents": str(ids.uuid7()),
        "consents": Consent.objects.create(
            tenant=alice.tenant, name="Ann", person="Ann", relation="self", purposes="any"
        ).public_id,
        "keys": alice.key.public_id,
        "lexicon": str(add_word(SYSTEM, alice.tenant, "Nginx", "engine x").pk),
        "requests": str(use(alice.tenant, alice.key, timezone.now())),
    }
    schema = schemathesis.openapi.from_dict(document())
    with browser(base, "alice") as client:
        for found in schema.get_all_operations():
            try_out(found.ok(), base, client, things)


def try_out(operation, base: str, client: httpx.Client, things: dict[str, str]) -> None:
    cookies = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
    headers = {"Cookie": cookies, "X-CSRFToken": client.headers["X-CSRFToken"]}

    @FEW
    @given(case=operation.as_strategy())
    def check(case: Case) -> None:
        for name in case.path_parameters or ():
            is_thing = name == "id"
            case.path_parameters[name] = things[case.path.split("/")[4]] if is_thing else "alice"
        answer(case, base, headers)

    check()
