"""What OpenAI's names stand for: seen by all, changed by whoever looks after the voices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from django import forms
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from ttsapp.audit.services import Actor
from ttsapp.console.access import member_page
from ttsapp.console.refused import page_of
from ttsapp.console.served_voices import known_to
from ttsapp.errors import ApiError
from ttsapp.tenants.models import Membership, Permission
from ttsapp.voices.catalogue import Catalogue
from ttsapp.voices.forms import RefusableForm
from ttsapp.voices.services import aliases
from ttsapp.voices.services.aliases import Standing

Choices = Sequence[tuple[str, Any]]


class AliasesForm(RefusableForm):
    """A choice for each name; what is chosen now can stay, whatever became of it."""

    def __init__(self, *args: Any, served: Catalogue, **kwargs: Any) -> None:
        self.standings = aliases.standings(served)
        kwargs["initial"] = {each.name: each.target for each in self.standings}
        super().__init__(*args, **kwargs)
        known = {"voice": _voices(served), "model": _models(served)}
        for each in self.standings:
            choices = [("", _usual(each)), *_kept(each, known[each.kind]), *known[each.kind]]
            self.fields[each.name] = forms.ChoiceField(choices=choices, required=False)

    def rows(self) -> Iterator[tuple[Standing, forms.BoundField]]:
        for each in self.standings:
            yield each, self[each.name]


@require_http_methods(["GET", "HEAD", "POST"])
@member_page(Permission.VIEW)
def names(request: HttpRequest, membership: Membership) -> HttpResponse:
    served = known_to(membership)
    if request.method != "POST":
        return _shown(request, membership, served, AliasesForm(served=served))
    if not membership.may(Permission.MANAGE_VOICES):
        raise PermissionDenied
    form = AliasesForm(request.POST, served=served)
    if form.is_valid() and _changed(request, membership, served, form):
        return redirect("console:names", slug=membership.tenant.slug)
    return _shown(request, membership, served, form)


def _changed(
    request: HttpRequest, membership: Membership, served: Catalogue, form: AliasesForm
) -> bool:
    wanted = {}
    for name, target in form.cleaned_data.items():
        try:
            wanted[name] = aliases.checked(served, name, target)
        except ApiError as error:
            error.field = name
            form.refuse(error)
    if form.errors:
        return False
    aliases.change_aliases(Actor.of(request.user), membership.tenant, wanted)
    return True


def _shown(
    request: HttpRequest, membership: Membership, served: Catalogue, form: AliasesForm
) -> HttpResponse:
    content = {"form": form, "is_away": served.lacks_some, "page": "voices"}
    return page_of(request, membership, "names", content, form)


def _usual(standing: Standing) -> str:
    return f"as usual: {standing.usual}" if standing.usual else "as usual"


def _kept(standing: Standing, choices: Choices) -> Iterator[tuple[str, str]]:
    """What it stands for now, where that could not be chosen."""
    groups = [group if isinstance(group, list) else [(name, group)] for name, group in choices]
    if standing.target and standing.target not in {name for group in groups for name, _ in group}:
        note = " (not there)" if standing.is_lost else ""
        yield standing.target, f"{standing.label}{note}"


def _voices(served: Catalogue) -> Choices:
    """Those that may be used, also while their engine is away."""
    own = [
        (voice.name, f"{voice.label} (shared)" if voice.is_shared else voice.label)
        for voice in served.every_own
        if voice.state in ("active", "away") or voice.aliases
    ]
    presets = [
        (model.id, [(preset.name, preset.name) for preset in served.shown(model)])
        for model in served.models
        if served.shown(model)
    ]
    return [*([("yours", own)] if own else []), *presets]


def _models(served: Catalogue) -> Choices:
    return [(model.id, model.id) for model in served.models]
