from __future__ import annotations

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from ttsapp.audit.services import Actor
from ttsapp.keys import services
from ttsapp.keys.models import ApiKey
from ttsapp.typed_admin import ReadOnlyAdmin


@admin.register(ApiKey)
class ApiKeyAdmin(ReadOnlyAdmin[ApiKey]):
    """Keys are made in the console, where they are shown once; here they can be revoked."""

    list_display = ("name", "tenant", "hint", "state", "created_at", "last_used_at")
    list_filter = ("environment", "tenant")
    search_fields = ("name", "public_id")
    exclude = ("secret_hash",)
    actions = ("revoke",)

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("keys.change_apikey")

    @admin.action(
        description="Revoke: the key stops working within a second", permissions=["revoke"]
    )
    def revoke(self, request: HttpRequest, keys: QuerySet[ApiKey]) -> None:
        actor = Actor.of(request.user)
        done = sum(services.revoke_key(actor, key) for key in keys.select_related("tenant"))
        self.message_user(request, f"{done} revoked")
