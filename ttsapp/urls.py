"""No route ends in a slash, and none redirects to one that does: a redirected POST is lost."""

from __future__ import annotations

from allauth.account.decorators import secure_admin_login
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import include, path
from django.views.generic import RedirectView

from ttsapp import health
from ttsapp.api.problems import MANAGEMENT
from ttsapp.dialects import registry
from ttsapp.dialects.cartesia import urls as cartesia
from ttsapp.dialects.cartesia import views as cartesia_views
from ttsapp.dialects.dashscope import urls as dashscope
from ttsapp.dialects.deepgram import urls as deepgram
from ttsapp.dialects.elevenlabs import urls as elevenlabs
from ttsapp.errors import ApiError
from ttsapp.http import error_response, is_api
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
    path("platform/", include("ttsapp.console.platform_urls")),
    path("favicon.ico", RedirectView.as_view(url="/static/console/icon.svg")),
    path("admin/", admin.site.urls),
]


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _page(request, 404, "unknown_url", "There is nothing at this address.")


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _page(request, 403, "forbidden", "You may not do this.")


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _page(request, 400, "bad_request", "This request cannot be understood.")


def server_error(request: HttpRequest) -> HttpResponse:
    return _page(request, 500, "internal_error", "Something went wrong on our side.")


handler400 = bad_request
handler403 = forbidden
handler404 = not_found
handler500 = server_error


def _page(request: HttpRequest, status: int, code: str, message: str) -> HttpResponse:
    if is_api(request.path_info) or MANAGEMENT.owns(request.path_info):
        return error_response(ApiError(status, code, message), registry.of(request.path_info))
    return render(request, "error.html", {"message": message, "status": status}, status=status)
