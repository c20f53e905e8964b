"""What a person's browser does: signs in by the form, keeps cookies, sends the CSRF token."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import httpx

from tests.ttsapp.conftest import PASSWORD


@contextmanager
def browser(base: str, username: str | None, password: str = PASSWORD) -> Iterator[httpx.Client]:
    """A client that is signed in, with the CSRF token that forms carry."""
    with httpx.Client(base_url=base, timeout=10) as client:
        page = client.get("/console/login")
        token = re.search(r'csrfmiddlewaretoken" value="(\w+)"', page.text)
        assert token is not None
        if username is not None:
            fields = {"login": username, "password": password, "csrfmiddlewaretoken": token[1]}
            assert client.post("/console/login", data=fields).status_code == 302
        client.headers["X-CSRFToken"] = client.cookies["csrftoken"]
        yield client
