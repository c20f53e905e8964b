"""No route ends in a slash, and none redirects to one that does: a redirected POST is lost."""

from __future__ import annotations

import sys

from allauth.account.decorators import secure_admin_login
from django.contrib import admin
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.urls import include, path
from django.views.generic import RedirectView

from ttsapp import database, health
from ttsapp.api.problems import MANAGEMENT
from ttsapp.dialects import registry
from ttsapp.dialects.cartesia import urls as cartesia
from ttsapp.dialects.cartesia import views as cartesia_views
from ttsapp.dialects.dashscope import urls as dashscope
from ttsapp.dialects.deepgram import urls as deepgram
from ttsapp.dialects.elevenlabs import urls as elevenlabs
from ttsapp.errors import ApiError
from ttsapp.http import error_response, is_api
from ttsapp.keys import credentials
from ttsapp.voices.metrics import metrics

# One door for people, with its second factor and its limit on guesses.
setattr(admin.site, "login", secure_admin_login(admin.site.login))  # noqa: B010
admin.site.site_header = admin.site.site_title = "Parlance administration"
admin.site.index_title = "Tenants, keys, usage"
admin.site.site_url = "/console/"

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="console:home")),
    path("api/", include("ttsapp.api.urls")),
    path("livez", health.livez),
    path("readyz", health.readyz),
    path("metrics", metrics),
    path("cartesia", cartesia_views.status),
    path("cartesia/", include("ttsapp.dialects.cartesia.urls")),
    path("dashscope/", include("ttsapp.dialects.dashscope.urls")),
    path("deepgram/", include("ttsapp.dialects.deepgram.urls")),
    path("elevenlabs/", include("ttsapp.dialects.elevenlabs.urls")),
    # At the root OpenAI's catch-all comes last.
    path("", include(cartesia.routes)),
    path("", include(dashscope.at_root)),
    path("", include(deepgram.routes)),
    path("", include(elevenlabs.at_root)),
    path("v1", include("ttsapp.dialects.openai.urls")),
    path("openai/v1", include("ttsapp.dialects.openai.urls")),
    path("", include("ttsapp.accounts.urls")),
    path("console", RedirectView.as_view(pattern_name="console:home")),
    path("console/", include("ttsapp.console.urls")),
    path("platform", RedirectView.as_view(pattern_name="platform:overview")),
    path("platform/", RedirectView.as_view(pattern_name="platform:overview")),
    path("platform/", include("ttsapp.console.platform_urls")),
    path("favicon.ico", RedirectView.as_view(url="/static/console/icon.svg")),
    path("admin/", admin.site.urls),
]


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    error = ApiError(404, "unknown_url", "There is nothing at this address.")
    return _page(request, error)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Who refuses for another reason than the role says which."""
    message = str(exception) or (
        "Your role does not allow this: ask an owner of the account, or whoever runs this "
        "installation."
    )
    return _page(request, ApiError(403, "forbidden", message))


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _page(request, ApiError(400, "bad_request", "This request cannot be understood."))


def server_error(request: HttpRequest) -> HttpResponse:
    if isinstance(sys.exception(), (OperationalError, InterfaceError)):
        return _page(request, database.unavailable())
    return _page(request, ApiError(500, "internal_error", "Something went wrong on our side."))


handler400 = bad_request
handler403 = forbidden
handler404 = not_found
handler500 = server_error


def _page(request: HttpRequest, error: ApiError) -> HttpResponse:
    """JSON for programs, which send a key where people's browsers have cookies. A page asks nothing
    of the session or the database: either may be what is broken."""
    path, has_key = request.path_info, credentials.of_request(request) != ""
    if has_key or is_api(path) or MANAGEMENT.owns(path):
        return error_response(error, registry.of_request(request))
    content = {"message": error.message, "status": error.status}
    response = HttpResponse(render_to_string("error.html", content), status=error.status)
    if error.retry_after_ms is not None:
        response["Retry-After"] = str(-(-error.retry_after_ms // 1000))
    return response
