"""The OpenAPI documents, and the page that shows what the console does."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from drf_spectacular.generators import SchemaGenerator

from ttsapp.api.reference import sections
from ttsapp.dialects.document import speech_document

MEDIA_TYPE = "application/vnd.oai.openapi+json"


@require_safe
def schema(request: HttpRequest) -> HttpResponse:
    return HttpResponse(msgspec.json.encode(document()), MEDIA_TYPE)


@require_safe
def speech_schema(request: HttpRequest) -> HttpResponse:
    return HttpResponse(msgspec.json.encode(speech_document()), MEDIA_TYPE)


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    found = document()
    content = {
        "openapi": found["openapi"],
        "sections": sections(found),
        "base": request.build_absolute_uri("/").rstrip("/"),
    }
    return render(request, "api/docs.html", content)


@cache
def document() -> dict[str, Any]:
    """The same for everybody: who may do what is told in it, and is no secret."""
    generator: Any = SchemaGenerator
    found: dict[str, Any] = generator().get_schema(request=None, public=True)
    return found
