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
from django.views.decorators.http import require_POST, require_safe

from billing import money, reports
from billing import selectors as billing
from billing.models import UsageEvent
from billing.prices.quotes import Quote, quote, quotes
from ttsapp.audit.services import Actor
from ttsapp.console import exports, lists, timelines
from ttsapp.console.access import member_page
from ttsapp.console.again import again
from ttsapp.console.periods import DatesForm
from ttsapp.console.shell import page
from ttsapp.console.views.recordings import kept_until
from ttsapp.keys import selectors as keys
from ttsapp.speech import history, texts
from ttsapp.speech import selectors as speech
from ttsapp.speech.asked import unpack
from ttsapp.speech.models import KeptText, RequestLog
from ttsapp.tenants.models import Membership, Permission, Tenant
from ttsapp.voices.selectors import labels

PAGE = 50


@dataclass(frozen=True, slots=True)
class Row:
    """`price`: of what is charged for it, to who may see bills."""

    log: RequestLog
    event: UsageEvent | None
    voice: str
    price: Quote | None

    @property
    def charged(self) -> int:
        return self.event.billed_characters if self.event else 0

    @property
    def underruns(self) -> int:
        return self.event.underruns if self.event else 0


COLUMNS: exports.Columns = {
    **exports.fields("id", "at", "ended", "error_code", "status", "characters", of="log"),
    **exports.fields("charged", "underruns"),
    "audio_seconds": lambda row: f"{row.log.audio_seconds:.3f}",
    **exports.fields("first_audio_ms", "total_ms", "model", of="log"),
    "voice": attrgetter("voice"),
    **exports.fields("transport", "response_format", of="log"),
    "key": lambda row: row.log.key.name if row.log.key else reports.CONSOLE,
}
PRICES: exports.Columns = {
    "price": lambda row: money.to_decimal(round(row.price.micros)) if row.price else "",
    "currency": lambda row: row.price.currency if row.price else "",
    "price_book": lambda row: row.event.price_book if row.event else "",
    "price_version": lambda row: row.event.price_version if row.event else "",
}


# What a request's page tells of its settings, where they are not as usual.
SETTINGS = {
    "language": "Language",
    "has_instructions": "Instructions",
    "speed": "Speed",
    "sample_rate": "Sample rate, Hz",
    "bit_rate": "Bit rate, bit/s",
    "max_frames": "Most frames",
    "first_chunk": "First chunk, frames",
    "keeps_silence": "Its silence kept",
    "lead_silence_ms": "Silence before it, ms",
    "volume": "Volume",
    "is_normalised": "Numbers in words",
    "markup": "Markup",
    "mode": "Text came by the",
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
        "rows": _rows(membership, logs),
        "has_prices": membership.may(Permission.VIEW_BILLING),
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
    prices = PRICES if membership.may(Permission.VIEW_BILLING) else {}
    format = exports.csv_of({**COLUMNS, **prices}, partial(_rows, membership))
    return exports.stream(history.find(tenant, form.search()), f"requests-{tenant.slug}", format)


@require_safe
@member_page(Permission.VIEW)
def request_detail(request: HttpRequest, membership: Membership, wanted: UUID) -> HttpResponse:
    return _detail(request, membership, wanted, None)


@require_POST
@member_page(Permission.READ_REQUESTS)
def request_text(request: HttpRequest, membership: Membership, wanted: UUID) -> HttpResponse:
    """The same page with the text unmasked; who read it is audited."""
    kept = texts.read(Actor.of(request.user), membership.tenant, wanted)
    if kept is None:
        raise Http404
    return _detail(request, membership, wanted, kept)


def _detail(
    request: HttpRequest, membership: Membership, wanted: UUID, kept: KeptText | None
) -> HttpResponse:
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
        "price": quote(event) if event and membership.may(Permission.VIEW_BILLING) else None,
        "wanted": wanted,
        "kept_until": kept_until(log) if log and membership.may(Permission.HEAR_REQUESTS) else None,
        "timeline": timelines.shown(log) if log is not None else None,
        "again": again(membership, log, kept) if log is not None else None,
        "asked": _settings(log) if log is not None else (),
        "kept": kept,
        "masked": _masked(membership, wanted) if kept is None else "",
    }
    return page(request, membership, "request", content)


def _masked(membership: Membership, wanted: UUID) -> str:
    """Empty where none is kept."""
    found = texts.find(membership.tenant, wanted)
    return texts.masked(found.text) if found is not None else ""


def _settings(log: RequestLog) -> Sequence[tuple[str, Any]]:
    """As people read them."""
    found = unpack(log.asked) or {}
    said = [(name, found[key]) for key, name in SETTINGS.items() if key in found]
    return [(name, "yes" if value is True else value) for name, value in said]


def _rows(membership: Membership, logs: Sequence[RequestLog]) -> list[Row]:
    tenant_id = membership.tenant_id
    events = billing.events(tenant_id, (log.pk for log in logs))
    prices = quotes(events.values()) if membership.may(Permission.VIEW_BILLING) else {}
    named = labels(tenant_id, (log.voice for log in logs))
    return [
        Row(log, events.get(log.pk), named.get(log.voice, log.voice), prices.get(log.pk))
        for log in logs
    ]
