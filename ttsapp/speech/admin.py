from django.contrib import admin

from ttsapp.speech.models import RequestLog
from ttsapp.typed_admin import ReadOnlyAdmin, rounded


@admin.register(RequestLog)
class RequestLogAdmin(ReadOnlyAdmin[RequestLog]):
    list_display = (
        "id",
        "tenant",
        "at",
        "transport",
        "status",
        "voice",
        "characters",
        "audio",
        "first_audio_ms",
        "finish_reason",
        "error_code",
    )
    audio = rounded("audio_ms", "audio delivered, s", 1000)
    list_filter = ("status", "transport", "tenant")
    list_select_related = ("tenant",)
    search_fields = ("id",)
