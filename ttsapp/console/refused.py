"""Pages that show their forms again: with what is wrong about them, or why not now."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse

from ttsapp.console.shell import page
from ttsapp.dialects.dialect import retry_headers
from ttsapp.tenants.models import Membership
from ttsapp.voices.forms import RefusableForm


def page_of(
    request: HttpRequest,
    membership: Membership,
    name: str,
    content: dict[str, Any],
    *forms: RefusableForm | None,
) -> HttpResponse:
    """With what was filled in. 400 for what has to be mended; what the same form may be sent again
    for has the status of its trouble, and says when."""
    given = [form for form in forms if form is not None]
    trouble = next((form.trouble for form in given if form.trouble is not None), None)
    if trouble is None:
        is_wrong = any(form.errors for form in given)
        return page(request, membership, name, content, 400 if is_wrong else 200)
    response = page(request, membership, name, content, trouble.status)
    for header, value in retry_headers(trouble).items():
        response[header] = value
    return response
