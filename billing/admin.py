from __future__ import annotations

from django.contrib import admin
from django.forms import ModelForm
from django.http import HttpRequest

from billing.models import Finding, Reservation, Retention, UsageEvent
from billing.upkeep.retention import keep_for
from ttsapp.audit.services import Actor
from ttsapp.typed_admin import KeptAdmin, ReadOnlyAdmin, rounded


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
        "top_up_characters",
        "price_book",
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


@admin.register(Finding)
class FindingAdmin(ReadOnlyAdmin[Finding]):
    list_display = ("found_at", "check_name", "subject", "detail", "seen_at", "resolved_at")
    list_filter = ("check_name", ("resolved_at", admin.EmptyFieldListFilter))


@admin.register(Retention)
class RetentionAdmin(KeptAdmin[Retention]):
    list_display = ("tenant", "days", "kept_from")
    list_select_related = ("tenant",)

    def get_readonly_fields(
        self, request: HttpRequest, obj: Retention | None = None
    ) -> tuple[str, ...]:
        return ("tenant", "kept_from") if obj else ("kept_from",)

    def save_model(
        self, request: HttpRequest, obj: Retention, form: ModelForm[Retention], change: bool
    ) -> None:
        keep_for(Actor.of(request.user), obj.tenant, obj.days)
