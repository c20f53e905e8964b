from __future__ import annotations

from django.contrib import admin
from django.db.models import QuerySet
from django.forms import ModelForm
from django.http import HttpRequest

from ttsapp.audit.services import Actor
from ttsapp.lexicon import services
from ttsapp.lexicon.models import Word
from ttsapp.typed_admin import TypedAdmin


@admin.register(Word)
class WordAdmin(TypedAdmin[Word]):
    list_display = ("word", "alias", "language", "is_case_sensitive", "tenant")
    list_filter = ("language", "tenant")
    list_select_related = ("tenant",)
    search_fields = ("word", "alias")

    def get_readonly_fields(self, request: HttpRequest, obj: Word | None = None) -> tuple[str, ...]:
        return ("tenant", "word", "language") if obj else ()

    def save_model(
        self, request: HttpRequest, obj: Word, form: ModelForm[Word], change: bool
    ) -> None:
        actor = Actor.of(request.user)
        sensitive = obj.is_case_sensitive
        if change:
            services.change_word(actor, obj, obj.alias, is_case_sensitive=sensitive)
            return
        row = services.add_word(
            actor, obj.tenant, obj.word, obj.alias, obj.language, is_case_sensitive=sensitive
        )
        obj.pk = row.pk

    def delete_model(self, request: HttpRequest, obj: Word) -> None:
        services.remove_word(Actor.of(request.user), obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Word]) -> None:
        for row in queryset.select_related("tenant"):
            services.remove_word(Actor.of(request.user), row)
