"""The request log: a list with its filters in the address, and one request in full."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Any, ClassVar
from uuid import UUID

from django import forms
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_safe

from billing import reports
from billing import selectors as billing
from ttsapp.console import exports, lists
from ttsapp.console.access import member_page
from ttsapp.console.periods import DatesForm
from ttsapp.console.shell import page
from ttsapp.keys import selectors as keys
from ttsapp.speech import history
from ttsapp.speech import selectors as speech
from ttsapp.speech.models import RequestLog
from ttsapp.tenants.models import Membership, Permission, Tenant
from ttsapp.voices.selectors import labels

PAGE = 50


@dataclass(frozen=True, slots=True)
class Row:
    log: RequestLog
    charged: int
    voice: str


COLUMNS: exports.Columns = {
    **exports.fields("id", "at", "ended", "error_code", "status", "characters", of="log"),
    "charged": attrgetter("charged"),
    "audio_seconds": lambda row: f"{row.log.audio_seconds:.3f}",
    **exports.fields("first_audio_ms", "total_ms", "model", of="log"),
    "voice": attrgetter("voice"),
    **exports.fields("transport", "response_format", of="log"),
    "key": lambda row: row.log.key.name if row.log.key else reports.CONSOLE,
}


class SearchForm(DatesForm):
    FILTERS: ClassVar = lists.OF_TENANT["requests"]

    ended = forms.ChoiceField(
        required=False, choices=[("", "any"), *((name, name) for name in history.ENDINGS)]
    )
    key = forms.ChoiceField(required=False)
    code = forms.SlugField(required=False, max_length=50, label="Error code")
    before = forms.UUIDField(required=False, widget=forms.HiddenInput)

    def __init__(self, data: Any, tenant: Tenant) -> None:
        super().__init__(data)
        own = [(key.public_id, key.name) for key in keys.of_tenant(tenant)]
        field = self.fields["key"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [("", "any"), (reports.CONSOLE, "console"), *own]

    def search(self) -> history.Search:
        wanted = self.cleaned_data
        return history.Search(
            ended=wanted["ended"],
            key=wanted["key"],
            code=wanted["code"],
            since=self.start(),
            until=self.end(),
            before=wanted["before"],
        )


@require_safe
@member_page(Permission.VIEW)
def requests(request: HttpRequest, membership: Membership) -> HttpResponse:
    tenant = membership.tenant
    form = SearchForm(request.GET, tenant)
    if not form.is_valid():
        return page(request, membership, "requests", {"form": form, "rows": ()}, status=400)
    found = list(history.find(tenant, form.search())[: PAGE + 1])
    logs, has_more = found[:PAGE], len(found) > PAGE
    content = {
        "form": form,
        "rows": _rows(tenant, logs),
        "older": form.query(before=str(logs[-1].pk)) if has_more else "",
        "is_filtered": bool(form.given()),
        "newest": form.query() if form.cleaned_data["before"] else None,
    }
    return page(request, membership, "requests", content)


@require_safe
@member_page(Permission.VIEW)
def requests_csv(request: HttpRequest, membership: Membership) -> HttpResponseBase:
    """All that match, newest first."""
    tenant = membership.tenant
    form = SearchForm(request.GET, tenant)
    if not form.is_valid():
        return page(request, membership, "requests", {"form": form, "rows": ()}, status=400)
    format = exports.csv_of(COLUMNS, partial(_rows, tenant))
    return exports.stream(history.find(tenant, form.search()), f"requests-{tenant.slug}", format)


@require_safe
@member_page(Permission.VIEW)
def request_detail(request: HttpRequest, membership: Membership, wanted: UUID) -> HttpResponse:
    log = speech.request(membership.tenant_id, wanted)
    is_open = log is None and billing.is_open(membership.tenant_id, wanted)
    if log is None and not is_open:
        raise Http404
    event = billing.event(membership.tenant_id, wanted)
    name = log.voice if log is not None else ""
    voice = labels(membership.tenant_id, [name]).get(name, name)
    content = {
        "log": log,
        "voice": voice,
        "event": event,
        "wanted": wanted,
        "timeline": _timeline(log),
    }
    return page(request, membership, "request", content)


def _rows(tenant: Tenant, logs: Sequence[RequestLog]) -> list[Row]:
    charges = billing.charges(tenant.pk, (log.pk for log in logs))
    named = labels(tenant.pk, (log.voice for log in logs))
    return [Row(log, charges.get(log.pk, 0), named.get(log.voice, log.voice)) for log in logs]


def _timeline(log: RequestLog | None) -> dict[str, float] | None:
    """Where first audio came, in per cent of the whole; None where there was none."""
    if log is None or log.first_audio_ms is None or not log.total_ms:
        return None
    first = min(100.0, round(100 * log.first_audio_ms / log.total_ms, 2))
    return {"first": first, "rest": 100 - first}
