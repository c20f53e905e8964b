"""The engines as they are now, and what operators do with them: a page, and what its script gets
where no socket can be had."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from asgiref.sync import async_to_sync
from django import forms
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from ttsapp.audit.services import Actor
from ttsapp.console.access import platform_fetch, platform_page
from ttsapp.console.live import cells, kept
from ttsapp.console.live.sampler import look, look_again
from ttsapp.console.platform.refusals import refused
from ttsapp.console.shell import platform_page as page
from ttsapp.engine import operations
from ttsapp.engine.operations import Keep, Trace
from ttsapp.http import json_response
from ttsapp.speech import history
from ttsapp.tenants.models import PlatformPermission, PlatformRole
from ttsapp.tenants.names import check_line


class ReasonForm(forms.Form):
    """Why it is done, for the audit log."""

    reason = forms.CharField(max_length=300, validators=[check_line])


class VoiceForm(ReasonForm):
    field_order = ("voice", "reason")

    voice = forms.CharField(
        max_length=200, label="Voice: a preset's name, or a tenant's voice's id"
    )


@require_safe
@platform_page(PlatformPermission.VIEW)
def engines(request: HttpRequest, role: PlatformRole) -> HttpResponse:
    return _show(request, role)


@platform_fetch(PlatformPermission.VIEW)
async def engines_now(request: HttpRequest) -> HttpResponse:
    return json_response(cells.snapshot(await look()))


@require_POST
@platform_page(PlatformPermission.MANAGE_ENGINES)
def act(request: HttpRequest, role: PlatformRole, number: int, action: str) -> HttpResponse:
    """A trace is answered with its file once it is made; all else shows the page again."""
    if action not in ACTS:
        raise Http404
    form_class, do = ACTS[action]
    form = form_class(request.POST)
    made: list[object] = []
    if not form.is_valid() or refused(
        form, lambda: made.append(do(Actor.of(request.user), number, form.cleaned_data))
    ):
        return _show(request, role, form, number, action)
    if isinstance(made[0], Trace):
        return _file(made[0])
    async_to_sync(look_again)()
    return redirect(f"{reverse('platform:engines')}#engine-{number - 1}")


def _drain(drained: bool) -> Act:
    return lambda actor, number, given: operations.drain(actor, number, drained, given["reason"])


def _keep(keep: Keep) -> Act:
    return lambda actor, number, given: operations.keep_voice(
        actor, number, given["voice"], keep, given["reason"]
    )


def _trace(actor: Actor, number: int, given: dict[str, Any]) -> Trace:
    return operations.trace(actor, number, operations.TRACE_SECONDS, given["reason"])


Act = Callable[[Actor, int, dict[str, Any]], object]
ACTS: dict[str, tuple[type[ReasonForm], Act]] = {
    "drain": (ReasonForm, _drain(True)),
    "undrain": (ReasonForm, _drain(False)),
    "trace": (ReasonForm, _trace),
    **{keep.value: (VoiceForm, _keep(keep)) for keep in Keep},
}


def _show(
    request: HttpRequest,
    role: PlatformRole,
    form: ReasonForm | None = None,
    number: int = 0,
    action: str = "",
) -> HttpResponse:
    """With a form that was refused, above the engine that it is about."""
    content = {**cells.snapshot(async_to_sync(look)()), "trace_seconds": operations.TRACE_SECONDS}
    past = kept.past([engine["id"] for engine in content["engines"]], timezone.now())
    failures = history.last_failures(timezone.now() - kept.HOUR)
    for engine in content["engines"]:
        engine["past"] = cells.past(past[engine["id"]])
        engine["failure"] = failures.get(engine["id"])
    if role.may(PlatformPermission.MANAGE_ENGINES):
        for engine, presets in zip(
            content["engines"], async_to_sync(operations.presets)(), strict=True
        ):
            engine["presets"] = presets
    refusal = {"form": form, "refused": number - 1, "action": action} if form is not None else {}
    return page(request, role, "engines", content | refusal, 400 if form is not None else 200)


def _file(made: Trace) -> HttpResponse:
    headers = {"Content-Disposition": f'attachment; filename="{made.name}"'}
    return HttpResponse(made.content, "application/gzip", headers=headers)
