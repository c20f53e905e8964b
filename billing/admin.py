from django.contrib import admin

from billing.models import Reservation, UsageEvent
from ttsapp.typed_admin import ReadOnlyAdmin


@admin.register(UsageEvent)
class UsageEventAdmin(ReadOnlyAdmin[UsageEvent]):
    list_display = (
        "id",
        "tenant",
        "started_at",
        "outcome",
        "characters",
        "billed_characters",
        "audio_ms",
        "model",
        "voice",
    )
    list_filter = ("outcome", "tenant")
    list_select_related = ("tenant",)
    date_hierarchy = "started_at"


@admin.register(Reservation)
class ReservationAdmin(ReadOnlyAdmin[Reservation]):
    list_display = ("id", "tenant", "created_at", "model", "voice")
    list_filter = ("tenant",)
    list_select_related = ("tenant",)
