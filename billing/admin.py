from django.contrib import admin

from billing.models import Reservation, UsageEvent
from ttsapp.typed_admin import ReadOnlyAdmin, rounded


@admin.register(UsageEvent)
class UsageEventAdmin(ReadOnlyAdmin[UsageEvent]):
    list_display = (
        "id",
        "tenant",
        "started_at",
        "outcome",
        "characters",
        "billed_characters",
        "audio",
        "model",
        "voice",
    )
    fields = (
        "id",
        "tenant",
        "key",
        "model",
        "voice",
        "started_at",
        "settled_at",
        "outcome",
        "finish_reason",
        "characters",
        "billed_characters",
        "price_version",
        "audio",
        "first_audio_ms",
        "underruns",
        "engine",
        "frames",
        "text_tokens",
        "talker",
        "predictor",
        "codec",
    )
    readonly_fields = ("audio", "talker", "predictor", "codec")
    audio = rounded("audio_ms", "audio delivered, s", 1000)
    talker = rounded("talker_ms", "Talker, ms")
    predictor = rounded("predictor_ms", "Code Predictor, ms")
    codec = rounded("codec_ms", "codec, ms")
    list_filter = ("outcome", "tenant")
    list_select_related = ("tenant",)
    date_hierarchy = "started_at"


@admin.register(Reservation)
class ReservationAdmin(ReadOnlyAdmin[Reservation]):
    list_display = ("id", "tenant", "created_at", "model", "voice")
    list_filter = ("tenant",)
    list_select_related = ("tenant",)
