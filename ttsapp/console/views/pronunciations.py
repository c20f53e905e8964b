"""Words that are said otherwise than they are written: listed, added, changed, removed."""

from __future__ import annotations

from django import forms
from django.core.exceptions import PermissionDenied
from django.db import IntegrityError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from ttsapp.audit.services import Actor
from ttsapp.console import exports
from ttsapp.console.access import member_page
from ttsapp.console.shell import page
from ttsapp.errors import ApiError
from ttsapp.lexicon import selectors, services
from ttsapp.lexicon.models import Word
from ttsapp.tenants.models import Membership, Permission

# A lexicon may have thousands: more are found by what they contain.
SHOWN = 100
COLUMNS = exports.fields("word", "alias", "language", "is_case_sensitive", "created_at")


class ChangeForm(forms.ModelForm):  # type: ignore[type-arg]
    class Meta:
        model = Word
        fields: tuple[str, ...] = ("alias", "is_case_sensitive")


class WordForm(ChangeForm):
    class Meta(ChangeForm.Meta):
        fields = ("word", "alias", "language", "is_case_sensitive")


@require_http_methods(["GET", "HEAD", "POST"])
@member_page(Permission.VIEW)
def pronunciations(request: HttpRequest, membership: Membership) -> HttpResponse:
    if request.method != "POST":
        return _list(request, membership, WordForm())
    _require(membership)
    form = WordForm(request.POST)
    if form.is_valid() and _added(request, membership, form):
        return _back(membership)
    return _list(request, membership, form, 400)


@require_safe
@member_page(Permission.VIEW)
def pronunciations_csv(request: HttpRequest, membership: Membership) -> HttpResponse:
    tenant = membership.tenant
    found = selectors.words(tenant, request.GET.get("q", ""))
    return exports.table(COLUMNS, found, f"pronunciations-{tenant.slug}")


@require_POST
@member_page(Permission.MANAGE_VOICES)
def change_word(request: HttpRequest, membership: Membership, word_id: int) -> HttpResponse:
    row = _word(membership, word_id)
    form = ChangeForm(request.POST, auto_id=_ids(row))
    if not form.is_valid():
        return _list(request, membership, WordForm(), 400, (row.pk, form))
    services.change_word(Actor.of(request.user), row, **form.cleaned_data)
    return _back(membership)


@require_POST
@member_page(Permission.MANAGE_VOICES)
def remove_word(request: HttpRequest, membership: Membership, word_id: int) -> HttpResponse:
    services.remove_word(Actor.of(request.user), _word(membership, word_id))
    return _back(membership)


def _added(request: HttpRequest, membership: Membership, form: WordForm) -> bool:
    try:
        services.add_word(Actor.of(request.user), membership.tenant, **form.cleaned_data)
    except IntegrityError:
        form.add_error("word", "It is there already for that language: change it below.")
    except ApiError as error:
        form.add_error("word", error.message)
    return not form.errors


def _list(
    request: HttpRequest,
    membership: Membership,
    form: WordForm,
    status: int = 200,
    refused: tuple[int, ChangeForm] | None = None,
) -> HttpResponse:
    """`refused`: what was to become of one of the words, with what is wrong about it."""
    found = selectors.words(membership.tenant, request.GET.get("q", ""))
    shown = [
        (row, refused[1] if refused and refused[0] == row.pk else _change_form(row))
        for row in found[:SHOWN]
    ]
    content = {
        "words": shown,
        "more": max(0, found.count() - SHOWN),
        "is_filtered": bool(request.GET.get("q")),
        "form": form,
        "page": "voices",
    }
    return page(request, membership, "pronunciations", content, status)


def _change_form(row: Word) -> ChangeForm:
    return ChangeForm(instance=row, auto_id=_ids(row))


def _ids(row: Word) -> str:
    """Each row has a form of its own, beside the one that adds."""
    return f"id_%s_{row.pk}"


def _word(membership: Membership, word_id: int) -> Word:
    row = selectors.words(membership.tenant).filter(pk=word_id).first()
    if row is None:
        raise Http404
    return row


def _require(membership: Membership) -> None:
    if not membership.may(Permission.MANAGE_VOICES):
        raise PermissionDenied


def _back(membership: Membership) -> HttpResponse:
    return redirect("console:pronunciations", slug=membership.tenant.slug)
