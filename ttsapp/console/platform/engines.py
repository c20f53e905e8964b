"""The engines as they are now: a page, and what its script gets where no socket can be had."""

from __future__ import annotations

from asgiref.sync import async_to_sync
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from ttsapp.console.access import platform_fetch, platform_page
from ttsapp.console.live import cells
from ttsapp.console.live.sampler import look
from ttsapp.console.shell import platform_page as page
from ttsapp.http import json_response
from ttsapp.tenants.models import PlatformPermission, PlatformRole


@require_safe
@platform_page(PlatformPermission.VIEW)
def engines(request: HttpRequest, role: PlatformRole) -> HttpResponse:
    return page(request, role, "engines", cells.snapshot(async_to_sync(look)()))


@platform_fetch(PlatformPermission.VIEW)
async def engines_now(request: HttpRequest) -> HttpResponse:
    return json_response(cells.snapshot(await look()))
