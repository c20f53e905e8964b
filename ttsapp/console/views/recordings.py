"""A request's audio, heard again where its tenant wanted it kept."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from ttsapp.audit.actions import Action
from ttsapp.audit.services import Actor, record
from ttsapp.console.access import member_page
from ttsapp.speech import kept
from ttsapp.speech import selectors as speech
from ttsapp.speech.models import RequestLog
from ttsapp.tenants.models import Membership, Permission
from ttsapp.voices.models import Voice


@require_safe
@member_page(Permission.HEAR_REQUESTS)
def recording(request: HttpRequest, membership: Membership, wanted: UUID) -> HttpResponse:
    """Who listened is audited."""
    log = speech.request(membership.tenant_id, wanted)
    content = kept.read(kept.RECORDINGS, log.recording) if log and is_allowed(log) else None
    if content is None:
        raise Http404
    with transaction.atomic():
        record(Actor.of(request.user), Action.REQUEST_HEARD, membership.tenant, str(wanted))
    return HttpResponse(content, "audio/wav")


def kept_until(log: RequestLog) -> datetime | None:
    """None for what cannot be heard, or not any more."""
    if not is_allowed(log) or not kept.is_there(kept.RECORDINGS, log.recording):
        return None
    return datetime.fromtimestamp(kept.expires_at(log.recording), UTC)


def is_allowed(log: RequestLog) -> bool:
    """Not of a voice that is gone, or whose speaker's consent has ended."""
    voice = Voice.objects.filter(public_id=log.voice).select_related("consent").first()
    return voice is None or not voice.ended
