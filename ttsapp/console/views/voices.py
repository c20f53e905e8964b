"""The library: what can be spoken with, heard before it is chosen; changed, shared, deleted."""

from __future__ import annotations

from operator import attrgetter

from asgiref.sync import async_to_sync
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from ttsapp.audit.services import Actor
from ttsapp.console import exports
from ttsapp.console.access import member_page
from ttsapp.console.refused import page_of
from ttsapp.console.served_voices import of_voice, served_to
from ttsapp.console.shell import page
from ttsapp.dialects.dialect import retry_headers
from ttsapp.errors import ApiError
from ttsapp.tenants.models import Membership, Permission
from ttsapp.voices import artifacts, library, previews, selectors, tasks
from ttsapp.voices.catalogue import Catalogue, away
from ttsapp.voices.forms import CodeForm, DescriptionForm, RecordingForm, ReviewForm
from ttsapp.voices.models import Share, Voice
from ttsapp.voices.sentences import PREVIEWS, sentences
from ttsapp.voices.services import cloning, registry, reviews, sharing

NOTHING = Catalogue(())
OWNERS = ("own", "shared", "preset")
STATES = ("active", "away", "draft", "review", "refused", "withdrawn", "expired")
COLUMNS: exports.Columns = {
    **exports.fields("id", "name", "owner", "kind", "state", "version", "language", "description"),
    "tags": lambda card: " ".join(card.tags),
    "requests_30_days": attrgetter("use.requests"),
    "characters_30_days": attrgetter("use.characters"),
}


@require_safe
@member_page(Permission.VIEW)
def voices(request: HttpRequest, membership: Membership) -> HttpResponse:
    return show_library(request, membership, CodeForm())


@require_safe
@member_page(Permission.VIEW)
def voices_csv(request: HttpRequest, membership: Membership) -> HttpResponse:
    found = _cards(request, membership, served_to(membership))
    return exports.table(COLUMNS, found, f"voices-{membership.tenant.slug}")


def _cards(
    request: HttpRequest, membership: Membership, served: Catalogue | None
) -> list[library.Card]:
    """Those that match the address's filters."""
    found = library.cards(membership.tenant_id, served or NOTHING)
    text, owner = request.GET.get("q", "").casefold(), request.GET.get("owner", "")
    state = request.GET.get("state", "")
    return [card for card in found if _matches(card, text, owner) and state in ("", card.state)]


def show_library(
    request: HttpRequest, membership: Membership, form: CodeForm, status: int = 200
) -> HttpResponse:
    served = served_to(membership)
    content = {
        "cards": _cards(request, membership, served),
        "is_filtered": any(request.GET.get(name) for name in ("q", "owner", "state")),
        "states": STATES,
        "waiting": library.waiting(membership.tenant_id),
        "is_away": served is None,
        "may_clone": served is not None and served.maker(in_context=False) is not None,
        "may_design": served is not None and served.describer() is not None,
        "places": range(1, PREVIEWS + 1),
        "owners": OWNERS,
        "cache": artifacts.cache.counters(),
        "form": form,
    }
    return page(request, membership, "voices", content, status)


@require_http_methods(["GET", "HEAD", "POST"])
@member_page(Permission.VIEW)
def voice(request: HttpRequest, membership: Membership, name: str) -> HttpResponse:
    row = own_row(membership, name)
    if request.method == "POST":
        return _change(request, membership, row)
    return show_voice(request, membership, row, form_of(membership, row))


def show_voice(
    request: HttpRequest,
    membership: Membership,
    row: Voice,
    form: DescriptionForm,
    recording: RecordingForm | None = None,
    decision: ReviewForm | None = None,
) -> HttpResponse:
    used = library.uses(membership.tenant_id, [row.public_id])
    content = {
        "voice": row,
        "versions": row.versions.order_by("-number"),
        "form": form,
        "recording": recording or RecordingForm(),
        "use": used.get(row.public_id, library.Use()),
        "shares": library.shares(row),
        "names": library.names_for(row),
        "decision": decision or ReviewForm(),
        "must_wait": waits(membership) and row.kind in reviews.CLONES,
        "deleted_at": library.deleted_at(row.consent),
        "sample": sentences(row.language)[0],
        "code": sharing.share_code(row) if membership.may(Permission.MANAGE_VOICES) else "",
        "places": range(1, PREVIEWS + 1),
        "page": "voices",
    }
    return page_of(request, membership, "voice", content, form, recording, decision)


@require_http_methods(["GET", "HEAD", "POST"])
@member_page(Permission.MANAGE_VOICES)
def delete_voice(request: HttpRequest, membership: Membership, name: str) -> HttpResponse:
    row = own_row(membership, name)
    if request.method != "POST":
        content = {"voice": row, "names": library.names_for(row), "page": "voices"}
        return page(request, membership, "delete_voice", content)
    registry.delete_voice(Actor.of(request.user), row)
    return redirect("console:voices", slug=membership.tenant.slug)


@require_safe
@member_page(Permission.VIEW)
def preview(request: HttpRequest, membership: Membership, name: str, place: int) -> HttpResponse:
    """The sound, or 202 while a worker makes it, or 503 and why it could not."""
    served = served_to(membership)
    model = served.default() if served is not None else None
    if not 1 <= place <= PREVIEWS:
        raise Http404
    if model is None:
        return _cannot_be_heard(away("voice"))
    try:
        wanted = model.preset(name)
    except ApiError as error:
        if error.status < 500:
            raise Http404 from None
        return _cannot_be_heard(error)
    speaker = previews.model_of(served or NOTHING, wanted)
    content = previews.find(speaker, wanted, place - 1) if speaker is not None else None
    if content is None and speaker and (why := previews.failure(speaker, wanted)):
        return HttpResponse(f"It could not be spoken: {why}", "text/plain", status=503)
    if content is None:
        tasks.make_previews.delay(membership.tenant_id, name)
        message = "The preview is being made: try again in a moment."
        return HttpResponse(message, "text/plain", status=202)
    return HttpResponse(content, "audio/mpeg")


@require_POST
@member_page(Permission.MANAGE_VOICES)
def hide(request: HttpRequest, membership: Membership) -> HttpResponse:
    """A preset, or shows it again."""
    name, actor = request.POST.get("name", "")[:100], Actor.of(request.user)
    served = served_to(membership) or NOTHING
    if name not in {preset.name for model in served.models for preset in model.presets}:
        if served is NOTHING or served.lacks_some:
            return show_library(request, membership, CodeForm(), status=503)
        raise Http404
    if request.POST.get("show"):
        sharing.show_preset(actor, membership.tenant, name)
    else:
        sharing.hide_preset(actor, membership.tenant, name)
    return redirect("console:voices", slug=membership.tenant.slug)


@require_POST
@member_page(Permission.MANAGE_VOICES)
def accept_share(request: HttpRequest, membership: Membership) -> HttpResponse:
    form = CodeForm(request.POST)
    if form.is_valid():
        try:
            code = form.cleaned_data["code"]
            sharing.accept_share(Actor.of(request.user), membership.tenant, code)
            return redirect("console:voices", slug=membership.tenant.slug)
        except ApiError as error:
            form.refuse(error)
    return show_library(request, membership, form, status=400)


@require_POST
@member_page(Permission.MANAGE_VOICES)
def end_share(request: HttpRequest, membership: Membership, name: str) -> HttpResponse:
    """By the owner for one account (`share`), or by whom it is shared with."""
    found = Share.objects.filter(voice__public_id=name, voice__deleted_at=None)
    number = request.POST.get("share", "")
    if number:
        is_number = number.isdecimal() and len(number) < 19
        found = found.filter(voice__tenant=membership.tenant, pk=number if is_number else 0)
    else:
        found = found.filter(tenant=membership.tenant)
    share = found.select_related("voice__tenant", "tenant").first()
    if share is None:
        raise Http404
    sharing.end_share(Actor.of(request.user), membership.tenant, share)
    if number:
        return redirect("console:voice", slug=membership.tenant.slug, name=name)
    return redirect("console:voices", slug=membership.tenant.slug)


def waits(membership: Membership) -> bool:
    """Whether the clones of this member do, until somebody approves them."""
    may = membership.may(Permission.APPROVE_VOICES)
    return membership.tenant.reviews_voices and not may


def _cannot_be_heard(error: ApiError) -> HttpResponse:
    """Now: the voice is there."""
    headers = retry_headers(error)
    return HttpResponse(error.message, "text/plain", status=error.status, headers=headers)


def own_row(membership: Membership, name: str) -> Voice:
    row = selectors.voice_of(membership.tenant_id, name)
    if row is None:
        raise Http404
    return row


def _change(request: HttpRequest, membership: Membership, row: Voice) -> HttpResponse:
    if not membership.may(Permission.MANAGE_VOICES):
        raise PermissionDenied
    form = DescriptionForm(request.POST, languages=of_voice(membership, row))
    if form.is_valid():
        try:
            said = form.described()
            changed = {name: getattr(said, name) for name in registry.CHANGEABLE}
            changed["tags"] = list(said.tags)
            async_to_sync(cloning.check_name)(said.name, row.name)
            async_to_sync(cloning.check_language)(said.language, row.language)
            registry.change_voice(Actor.of(request.user), row, **changed)
            return redirect("console:voice", slug=membership.tenant.slug, name=row.public_id)
        except ApiError as error:
            form.refuse(error)
    return show_voice(request, membership, row, form)


def form_of(membership: Membership, row: Voice) -> DescriptionForm:
    now = {name: getattr(row, name) for name in registry.CHANGEABLE}
    now["tags"] = ", ".join(row.tags)
    return DescriptionForm(initial=now, languages=of_voice(membership, row))


def _matches(card: library.Card, text: str, owner: str) -> bool:
    words = " ".join((card.name, card.description, card.language, card.kind, *card.tags))
    return text in words.casefold() and owner in ("", card.owner)
