"""The audit log as pages show it and as it is exported: of one tenant, or of everything."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar
from uuid import UUID

import msgspec
from django import forms
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, StreamingHttpResponse
from django.http.response import HttpResponseBase

from ttsapp import database
from ttsapp.audit import selectors
from ttsapp.audit.actions import Action
from ttsapp.audit.models import AuditEntry
from ttsapp.audit.selectors import Search
from ttsapp.audit.services import Actor, record, scope_of
from ttsapp.console.periods import DatesForm
from ttsapp.console.places import Place

PAGE = 50
EXPORTED_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Change:
    field: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Row:
    entry: AuditEntry
    changes: tuple[Change, ...]
    facts: tuple[tuple[str, str], ...]


class AuditForm(DatesForm):
    FILTERS: ClassVar = ("action", "actor", "since", "until")

    action = forms.ChoiceField(required=False, label="Action")
    actor = forms.CharField(required=False, max_length=100, label="Who")
    before = forms.UUIDField(required=False, widget=forms.HiddenInput)

    def __init__(self, data: Any) -> None:
        super().__init__(data)
        field = self.fields["action"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [("", "any"), *selectors.actions()]

    def search(self) -> Search:
        wanted = self.cleaned_data
        return Search(
            action=wanted["action"],
            actor=wanted["actor"],
            since=self.start(),
            until=self.end(),
            before=wanted["before"],
        )


def audit(request: HttpRequest, place: Place) -> HttpResponseBase:
    form = AuditForm(request.GET)
    if not form.is_valid():
        return place.render("audit", {"form": form}, 400)
    content = _content(form, _entries(place, form))
    if "check" in request.GET:
        scope = scope_of(place.tenant_id) if place.tenant else None
        content |= {"breaks": list(selectors.breaks(scope)), "is_checked": True}
    return place.render("audit", content, 200)


def audit_export(request: HttpRequest, place: Place) -> HttpResponseBase:
    """Exporting is audited too."""
    form = AuditForm(request.GET)
    if not form.is_valid():
        return place.render("audit", {"form": form}, 400)
    entries = _entries(place, form)
    actor, filters = Actor.of(request.user), form.given()
    with transaction.atomic():
        record(actor, Action.AUDIT_EXPORTED, place.tenant, "audit", filters=filters)
    return _export(entries, f"audit-{place.tenant.slug}" if place.tenant else "audit")


def _entries(place: Place, form: AuditForm) -> QuerySet[AuditEntry]:
    """All that match, newest first."""
    search = form.search()
    if place.tenant is None:
        return selectors.everything(search)
    return selectors.of_tenant(place.tenant.pk, search)


def _content(form: AuditForm, entries: QuerySet[AuditEntry]) -> dict[str, Any]:
    found = list(entries[: PAGE + 1])
    shown, has_more = found[:PAGE], len(found) > PAGE
    return {
        "form": form,
        "rows": [_row(entry) for entry in shown],
        "query": form.query(),
        "older": form.query(before=str(shown[-1].pk)) if has_more else "",
        "is_older": form.cleaned_data["before"] is not None,
    }


def _export(entries: QuerySet[AuditEntry], name: str) -> StreamingHttpResponse:
    """One JSON object a line, newest first, read a few hundred at a time."""
    headers = {"Content-Disposition": f'attachment; filename="{name}.jsonl"'}
    return StreamingHttpResponse(_lines(entries), content_type="application/jsonl", headers=headers)


async def _lines(entries: QuerySet[AuditEntry]) -> AsyncIterator[bytes]:
    last: UUID | None = None
    while True:
        rest = entries if last is None else entries.filter(id__lt=last)
        part = await database.read(_rows, rest)
        for row in part:
            yield msgspec.json.encode(row) + b"\n"
        if len(part) < EXPORTED_AT_ONCE:
            return
        last = UUID(part[-1]["id"])


def _rows(entries: QuerySet[AuditEntry]) -> list[dict[str, Any]]:
    return [entry.as_row() for entry in entries[:EXPORTED_AT_ONCE]]


def _row(entry: AuditEntry) -> Row:
    changes = tuple(
        Change(name.replace("_", " "), _text(before), _text(after))
        for name, (before, after) in entry.changes.items()
    )
    return Row(entry, changes, _facts(entry.detail))


def _facts(detail: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple((name.replace("_", " "), _text(value)) for name, value in detail.items())


def _text(value: Any) -> str:
    if value in (None, "", [], {}):
        return "none"
    if isinstance(value, dict):
        return ", ".join(f"{name} {_text(each)}" for name, each in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
