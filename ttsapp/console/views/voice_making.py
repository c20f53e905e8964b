"""New voices: cloned from a recording, designed from a description, recorded once more."""

from __future__ import annotations

from typing import Any

from asgiref.sync import async_to_sync
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_POST

from ttsapp.audit.services import Actor
from ttsapp.console.access import member_fetch, member_page
from ttsapp.console.refused import page_of
from ttsapp.console.served_voices import caller_of, of_clones, of_designs
from ttsapp.console.views.voices import form_of, own_row, show_voice, waits
from ttsapp.errors import ApiError, invalid
from ttsapp.http import json_response
from ttsapp.tenants.models import Membership, Permission
from ttsapp.voices.forms import CloneForm, DesignForm, RecordingForm, RefusableForm
from ttsapp.voices.models import Voice
from ttsapp.voices.services import cloning, designing

NAMES = cloning.Names(recording="recording", text="text", consent="consent")


@require_http_methods(["GET", "HEAD", "POST"])
@member_page(Permission.MANAGE_VOICES)
def clone(request: HttpRequest, membership: Membership) -> HttpResponse:
    known: dict[str, Any] = {"tenant": membership.tenant, "languages": of_clones(membership)}
    if request.method != "POST":
        form = CloneForm(**known, initial={"consent": request.GET.get("consent")})
        return _form(request, membership, "clone", form)
    form = CloneForm(request.POST, request.FILES, **known)
    if form.is_valid():
        try:
            return _to(membership, _clone(request, membership, form))
        except ApiError as error:
            form.refuse(error)
    return _form(request, membership, "clone", form)


@require_http_methods(["GET", "HEAD", "POST"])
@member_page(Permission.MANAGE_VOICES)
def design(request: HttpRequest, membership: Membership) -> HttpResponse:
    given = request.POST if request.method == "POST" else None
    form = DesignForm(given, languages=of_designs(membership))
    if request.method == "POST" and form.is_valid():
        try:
            actor, caller = Actor.of(request.user), caller_of(membership)
            prompt, make = form.cleaned_data["prompt"], async_to_sync(designing.design)
            return _to(membership, make(actor, caller, membership.tenant, form.described(), prompt))
        except ApiError as error:
            form.refuse(error)
    return _form(request, membership, "design", form)


@require_POST
@member_page(Permission.MANAGE_VOICES)
def renew(request: HttpRequest, membership: Membership, name: str) -> HttpResponse:
    """Another recording of the same speaker: the voice's next version."""
    row = own_row(membership, name)
    form = RecordingForm(request.POST, request.FILES)
    if form.is_valid():
        try:
            sample, text = content_of(form.cleaned_data["recording"]), form.cleaned_data["text"]
            async_to_sync(cloning.renew)(Actor.of(request.user), row, sample, text, NAMES)
            return _to(membership, row)
        except ApiError as error:
            form.refuse(error)
    return show_voice(request, membership, row, form_of(membership, row), form)


@member_fetch("POST", Permission.MANAGE_VOICES)
async def check(request: HttpRequest, membership: Membership) -> HttpResponse:
    """What is found in a recording; nothing is kept."""
    sent = request.FILES.get("recording")
    if sent is None:
        raise invalid("recording is required: choose a file.", "recording", "missing_field")
    text = request.POST.get("text", "")
    found = await cloning.referenced(content_of(sent), text, NAMES, membership.tenant_id)
    return json_response(found.report)


def content_of(file: Any) -> bytes:
    """Of an uploaded file."""
    content: bytes = file.read()
    return content


def _form(
    request: HttpRequest, membership: Membership, name: str, form: RefusableForm
) -> HttpResponse:
    must_wait = name == "clone" and waits(membership)
    content = {"form": form, "must_wait": must_wait, "page": "voices"}
    return page_of(request, membership, name, content, form)


def _clone(request: HttpRequest, membership: Membership, form: CloneForm) -> Voice:
    given = form.cleaned_data
    return async_to_sync(cloning.clone)(
        Actor.of(request.user),
        membership.tenant,
        form.described(),
        given["consent"],
        content_of(given["recording"]),
        given["text"],
        names=NAMES,
        is_draft=given["is_draft"],
    )


def _to(membership: Membership, voice: Voice) -> HttpResponse:
    return redirect("console:voice", slug=membership.tenant.slug, name=voice.public_id)
