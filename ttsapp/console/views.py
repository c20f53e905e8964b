"""The signed-in page: usage, keys, the last requests, and a sentence to hear."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from asgiref.sync import async_to_sync
from django import forms
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from billing import selectors as billing
from ttsapp import strict
from ttsapp.audit.services import Actor
from ttsapp.console.access import member_page, member_stream
from ttsapp.errors import ApiError
from ttsapp.http import request_id
from ttsapp.keys import selectors as keys
from ttsapp.keys import services as key_services
from ttsapp.keys.authentication import Caller
from ttsapp.keys.models import Environment
from ttsapp.speech import answers
from ttsapp.speech import selectors as speech
from ttsapp.speech.order import Order, check_text, fresh_seed
from ttsapp.speech.session import Session
from ttsapp.tenants import selectors as tenants
from ttsapp.tenants.models import Membership, Permission
from ttsapp.voices.catalogue import Preset
from ttsapp.voices.selectors import catalogue

REQUESTS_SHOWN = 20
TEST_SENTENCE_LIMIT = 500


class KeyForm(forms.Form):
    name = forms.CharField(max_length=100)
    environment = forms.ChoiceField(choices=Environment.choices)
    days = forms.IntegerField(min_value=1, max_value=3650, required=False)

    def expires_at(self) -> datetime | None:
        days = self.cleaned_data["days"]
        return timezone.now() + timedelta(days=days) if days else None


@never_cache
@require_GET
@login_required
def home(request: HttpRequest) -> HttpResponse:
    first = tenants.memberships(request.user).first()
    if first is None:
        return render(request, "console/empty.html")
    return redirect("console:overview", slug=first.tenant.slug)


@never_cache
@require_GET
@member_page(Permission.VIEW)
def overview(request: HttpRequest, membership: Membership) -> HttpResponse:
    return _overview(request, membership, KeyForm())


@never_cache
@require_POST
@member_page(Permission.MANAGE_KEYS)
def create_key(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Answers with the page itself, not a redirect: the key is in this answer and nowhere else."""
    form = KeyForm(request.POST)
    if not form.is_valid():
        return _overview(request, membership, form, status=400)
    _, secret = key_services.create_key(
        Actor.of(request.user),
        membership.tenant,
        form.cleaned_data["name"],
        Environment(form.cleaned_data["environment"]),
        form.expires_at(),
    )
    return _overview(request, membership, KeyForm(), new_key=secret)


@never_cache
@require_POST
@member_page(Permission.MANAGE_KEYS)
def revoke_key(request: HttpRequest, membership: Membership, public_id: str) -> HttpResponse:
    key = keys.of_tenant(membership.tenant).filter(public_id=public_id).first()
    if key is None:
        raise Http404
    key_services.revoke_key(Actor.of(request.user), key)
    return redirect("console:overview", slug=membership.tenant.slug)


@member_stream(Permission.SPEAK)
async def speak(request: HttpRequest, membership: Membership) -> HttpResponseBase:
    """The test sentence as raw PCM, streamed; metered like any other request."""
    if request.method != "POST":
        raise ApiError(405, "method_not_allowed", "Use POST here.")
    wanted = strict.fields(request.body, {"text": str, "voice": str}, ("text", "voice"))
    check_text(wanted["text"], TEST_SENTENCE_LIMIT, "text")
    order = await _test_order(membership, wanted["voice"])
    return await answers.streamed(Session(order, wanted["text"]))


async def _test_order(membership: Membership, voice: str) -> Order:
    model = (await catalogue()).default()
    if model is None:
        raise ApiError(404, "model_not_found", "No model with voices is served.", field="model")
    return Order(
        id=request_id(),
        caller=Caller(membership.tenant_id, None, f"user:{membership.user_id}"),
        transport="console",
        model=model,
        voice=model.preset(voice),
        response_format="pcm",
        language="auto",
        instructions="",
        seed=fresh_seed(),
    )


async def _voices() -> tuple[Preset, ...]:
    """None while the engine is away: the rest of the page does without."""
    try:
        model = (await catalogue()).default()
    except ApiError:
        return ()
    return model.presets if model else ()


def _overview(
    request: HttpRequest,
    membership: Membership,
    form: KeyForm,
    *,
    new_key: str | None = None,
    status: int = 200,
) -> HttpResponse:
    tenant = membership.tenant
    page: dict[str, Any] = {
        "tenant": tenant,
        "memberships": tenants.memberships(request.user),
        "may_speak": membership.may(Permission.SPEAK),
        "may_manage_keys": membership.may(Permission.MANAGE_KEYS),
        "periods": [("Today", billing.today(tenant)), ("This month", billing.this_month(tenant))],
        "voices": async_to_sync(_voices)(),
        "keys": keys.of_tenant(tenant),
        "requests": speech.newest(tenant, REQUESTS_SHOWN),
        "form": form,
        "new_key": new_key,
        "base_url": request.build_absolute_uri("/v1"),
    }
    return render(request, "console/overview.html", page, status=status)
