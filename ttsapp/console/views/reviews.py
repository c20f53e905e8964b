"""A voice on its way to be used: test takes, publishing, approval."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from ttsapp import database
from ttsapp.audit.services import Actor
from ttsapp.console.access import member_fetch, member_page
from ttsapp.console.served_voices import speaker_of
from ttsapp.console.views.voices import form_of, own_row, show_voice
from ttsapp.errors import ApiError
from ttsapp.http import request_id
from ttsapp.keys.authentication import Caller
from ttsapp.speech import answers
from ttsapp.speech.order import Order, check_text, fresh_seed
from ttsapp.speech.prepared import TextWish, whole_text
from ttsapp.speech.session import Session
from ttsapp.tenants.models import Membership, Permission
from ttsapp.voices import selectors
from ttsapp.voices.forms import ReviewForm
from ttsapp.voices.own import OwnVoice
from ttsapp.voices.services import reviews

MOST_CHARACTERS = 500


@member_fetch("POST", Permission.SPEAK)
async def take(request: HttpRequest, membership: Membership, name: str) -> HttpResponseBase:
    """Of a voice that may not be published yet: metered like any request."""
    text = request.POST.get("text", "")
    check_text(text, MOST_CHARACTERS, "text")
    caller = speaker_of(membership)
    voice = await _voice(caller, name)
    assert voice.served_by is not None, "it was looked at"
    order = Order(
        id=request_id(),
        caller=caller,
        transport="console",
        model=voice.served_by,
        voice=voice,
        response_format="mp3",
        language="auto",
        instructions="",
        seed=fresh_seed(),
        whole=True,
        text_field="text",
    )
    prepared = await whole_text(order, text, TextWish())
    return await answers.whole(Session(order, text, prepared))


@require_POST
@member_page(Permission.MANAGE_VOICES)
def publish(request: HttpRequest, membership: Membership, name: str) -> HttpResponse:
    reviews.publish(Actor.of(request.user), own_row(membership, name))
    return redirect("console:voice", slug=membership.tenant.slug, name=name)


@require_POST
@member_page(Permission.APPROVE_VOICES)
def review(request: HttpRequest, membership: Membership, name: str) -> HttpResponse:
    row, form = own_row(membership, name), ReviewForm(request.POST)
    if form.is_valid():
        try:
            given = form.cleaned_data
            is_approved = given["decision"] == "approve"
            actor = Actor.of(request.user)
            reviews.decide(actor, row, is_approved=is_approved, reason=given["reason"])
            return redirect("console:voice", slug=membership.tenant.slug, name=name)
        except ApiError as error:
            form.refuse(error)
    row.refresh_from_db()
    return show_voice(request, membership, row, form_of(membership, row), decision=form)


async def _voice(caller: Caller, name: str) -> OwnVoice:
    """The tenant's own. Raises ApiError 404; 403 once its consent has ended; 503 while no engine
    speaks it."""
    row = await database.read(selectors.voice_of, caller.tenant_id, name)
    found = (await selectors.catalogue(caller)).made.get(name) if row is not None else None
    if found is None:
        raise ApiError(404, "voice_not_found", "There is no such voice of yours.", field="voice")
    found.check_consent()
    found.check_served()
    return found
