"""Consents: recorded, looked up with all that was made under them, withdrawn, deleted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from functools import partial
from typing import NamedTuple

from asgiref.sync import async_to_sync
from django.conf import settings
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from billing import reports
from ttsapp.audit.actions import Action
from ttsapp.audit.services import Actor, record
from ttsapp.console import exports
from ttsapp.console.access import member_page
from ttsapp.console.filters import ConsentFilters
from ttsapp.console.refused import page_of
from ttsapp.console.shell import page
from ttsapp.console.views.voice_making import content_of
from ttsapp.errors import ApiError
from ttsapp.speech.models import RequestLog
from ttsapp.tenants.models import Membership, Permission
from ttsapp.voices import library, selectors, storage
from ttsapp.voices.clips.evidence import RECORDING, evidence_of
from ttsapp.voices.forms import ConsentForm, ExpiryForm, WithdrawForm, end_of
from ttsapp.voices.models import Consent
from ttsapp.voices.services import consents as services
from ttsapp.voices.storage import Blob, DamagedError

USED_LATELY = timedelta(days=30)
COLUMNS = exports.fields(
    *("public_id", "name", "state", "person", "relation", "purposes", "territory"),
    *("created_at", "expires_at", "live_voices"),
)


class Made(NamedTuple):
    """A request that made audio, and what its voice is called."""

    log: RequestLog
    voice: str


REGISTER: exports.Columns = {
    **exports.fields("id", "at", of="log"),
    **exports.fields("voice"),
    "key": lambda row: row.log.key.name if row.log.key else reports.CONSOLE,
    **exports.fields("ended", "characters", of="log"),
    "audio_seconds": lambda row: f"{row.log.audio_seconds:.3f}",
}


@require_safe
@member_page(Permission.VIEW)
def consents(request: HttpRequest, membership: Membership) -> HttpResponse:
    search = ConsentFilters(request.GET)
    rows = search.found(membership.tenant)
    content = {"consents": rows, "search": search, "page": "voices"}
    return page(request, membership, "consents", content, 400 if search.errors else 200)


@require_safe
@member_page(Permission.VIEW)
def consents_csv(request: HttpRequest, membership: Membership) -> HttpResponse:
    tenant = membership.tenant
    found = ConsentFilters(request.GET).found(tenant)
    return exports.table(COLUMNS, found, f"consents-{tenant.slug}")


@require_http_methods(["GET", "HEAD", "POST"])
@member_page(Permission.MANAGE_VOICES)
def new_consent(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Leads on to the voice that is cloned under it."""
    is_sent = request.method == "POST"
    form = ConsentForm(request.POST, request.FILES) if is_sent else ConsentForm()
    if is_sent and form.is_valid():
        try:
            made = _record(request, membership, form)
            clone = reverse("console:clone", args=(membership.tenant.slug,))
            return redirect(f"{clone}?consent={made.public_id}")
        except ApiError as error:
            form.refuse(error)
    return page_of(request, membership, "new_consent", {"form": form, "page": "voices"}, form)


@require_safe
@member_page(Permission.VIEW)
def consent(request: HttpRequest, membership: Membership, name: str) -> HttpResponse:
    """A deleted one is shown too: the register stays."""
    row = _recorded(membership, name)
    ends = row.expires_at.date() if row.expires_at else None
    return _show(request, membership, row, ExpiryForm(initial={"expires_on": ends}))


@require_safe
@member_page(Permission.VIEW)
def register_csv(request: HttpRequest, membership: Membership, name: str) -> HttpResponseBase:
    """All of it, newest first."""
    row = _recorded(membership, name)
    format = exports.csv_of(REGISTER, partial(_named, membership))
    return exports.stream(library.made_under(row), f"register-{row.public_id}", format)


@require_http_methods(["GET", "HEAD", "POST"])
@member_page(Permission.MANAGE_VOICES)
def withdraw(request: HttpRequest, membership: Membership, name: str) -> HttpResponse:
    row = _row(membership, name)
    form = WithdrawForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        services.withdraw_consent(Actor.of(request.user), row, form.cleaned_data["reason"])
        return redirect("console:consent", slug=membership.tenant.slug, name=name)
    voices = list(row.voices.filter(deleted_at=None))
    now = timezone.now()
    used = [voice.public_id for voice in voices]
    content = {
        "consent": row,
        "voices": voices,
        "keys": reports.by_key(membership.tenant, now - USED_LATELY, now, used),
        "bound": library.bound_keys(voices),
        "names": [name for voice in voices for name in library.names_for(voice)],
        "deleted_after": settings.ENDED_VOICE_DAYS,
        "form": form,
        "page": "voices",
    }
    return page(request, membership, "withdraw_consent", content, 400 if form.errors else 200)


@require_POST
@member_page(Permission.MANAGE_VOICES)
def limit(request: HttpRequest, membership: Membership, name: str) -> HttpResponse:
    row, form = _row(membership, name), ExpiryForm(request.POST)
    if form.is_valid():
        try:
            until = end_of(form.cleaned_data["expires_on"])
            services.limit_consent(Actor.of(request.user), row, until)
            return redirect("console:consent", slug=membership.tenant.slug, name=name)
        except ApiError as error:
            form.add_error("expires_on", error.message)
    return _show(request, membership, row, form)


@require_http_methods(["GET", "HEAD", "POST"])
@member_page(Permission.MANAGE_VOICES)
def delete_consent(request: HttpRequest, membership: Membership, name: str) -> HttpResponse:
    row = _row(membership, name)
    if request.method == "POST":
        services.delete_consent(Actor.of(request.user), row)
        return redirect("console:consent", slug=membership.tenant.slug, name=name)
    voices = row.voices.filter(deleted_at=None)
    content = {"consent": row, "voices": voices, "page": "voices"}
    return page(request, membership, "delete_consent", content)


@require_safe
@member_page(Permission.MANAGE_VOICES)
def evidence(request: HttpRequest, membership: Membership, name: str) -> HttpResponse:
    """As a file to keep, never shown in the page; who opened it is audited."""
    row = _row(membership, name)
    try:
        content = storage.get(Blob.EVIDENCE, row.evidence or "0")
    except DamagedError:
        raise Http404 from None
    with transaction.atomic():
        record(Actor.of(request.user), Action.EVIDENCE_OPENED, membership.tenant, row.public_id)
    is_sound = row.evidence_type == RECORDING
    media_type = "application/octet-stream" if is_sound else row.evidence_type
    response = HttpResponse(content, media_type)
    response["Content-Disposition"] = f'attachment; filename="{row.public_id}"'
    return response


def _show(
    request: HttpRequest, membership: Membership, row: Consent, form: ExpiryForm
) -> HttpResponse:
    content = {
        "consent": row,
        "voices": row.voices.filter(deleted_at=None),
        "register": library.register(row),
        "deleted_at": library.deleted_at(row),
        "expiry": form,
        "page": "voices",
    }
    return page(request, membership, "consent", content, 400 if form.errors else 200)


def _record(request: HttpRequest, membership: Membership, form: ConsentForm) -> Consent:
    terms = form.terms().checked()
    proof = content_of(form.cleaned_data["recording"])
    found = async_to_sync(evidence_of)(proof, "recording", membership.tenant_id)
    return services.record_consent(Actor.of(request.user), membership.tenant, terms, found)


def _named(membership: Membership, logs: Sequence[RequestLog]) -> Iterator[Made]:
    names = selectors.labels(membership.tenant_id, (log.voice for log in logs))
    return (Made(log, names.get(log.voice, log.voice)) for log in logs)


def _row(membership: Membership, name: str) -> Consent:
    row = _recorded(membership, name)
    if row.deleted_at is not None:
        raise Http404
    return row


def _recorded(membership: Membership, name: str) -> Consent:
    row = selectors.recorded_consent(membership.tenant_id, name)
    if row is None:
        raise Http404
    return row
