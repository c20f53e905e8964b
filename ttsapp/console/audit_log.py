"""The audit log as pages show it and as it is exported: of one tenant, or of everything."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import msgspec
from django import forms
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from ttsapp.audit import selectors
from ttsapp.audit.actions import Action
from ttsapp.audit.models import AuditEntry
from ttsapp.audit.selectors import Search
from ttsapp.audit.services import Actor, record, scope_of
from ttsapp.console import exports, lists
from ttsapp.console.periods import DatesForm
from ttsapp.console.places import Place

PAGE = 50
COLUMNS: exports.Columns = {
    **exports.fields("at", "tenant", "actor", "action", "target"),
    "changes": lambda entry: _json(entry.changes),
    "detail": lambda entry: _json(entry.detail),
    **exports.fields("reason", "address", "request_id", "hash"),
}


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
    FILTERS: ClassVar = lists.OF_TENANT["audit"]

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
    """All that match as JSON lines, newest first. Exporting is audited too."""
    return _export(request, place, exports.Format("jsonl", "application/jsonl", _lines))


def audit_csv(request: HttpRequest, place: Place) -> HttpResponseBase:
    """The same for a spreadsheet; the chain is checked by the JSON lines."""
    return _export(request, place, exports.csv_of(COLUMNS))


def _export(request: HttpRequest, place: Place, format: exports.Format) -> HttpResponseBase:
    form = AuditForm(request.GET)
    if not form.is_valid():
        return place.render("audit", {"form": form}, 400)
    entries = _entries(place, form)
    actor, filters = Actor.of(request.user), form.given()
    with transaction.atomic():
        record(actor, Action.AUDIT_EXPORTED, place.tenant, "audit", filters=filters)
    return exports.stream(
        entries, f"audit-{place.tenant.slug}" if place.tenant else "audit", format
    )


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


def _lines(entries: Sequence[AuditEntry]) -> Iterator[bytes]:
    """One JSON object each."""
    for entry in entries:
        yield msgspec.json.encode(entry.as_row()) + b"\n"


def _row(entry: AuditEntry) -> Row:
    changes = tuple(
        Change(name.replace("_", " "), _text(before), _text(after))
        for name, (before, after) in entry.changes.items()
    )
    return Row(entry, changes, _facts(entry.detail))


def _facts(detail: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple((name.replace("_", " "), _text(value)) for name, value in detail.items())


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode() if value else ""


def _text(value: Any) -> str:
    if value in (None, "", [], {}):
        return "none"
    if isinstance(value, dict):
        return ", ".join(f"{name} {_text(each)}" for name, each in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
