from __future__ import annotations

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.helpers import ActionForm
from django.db.models import QuerySet
from django.forms import ModelForm
from django.http import HttpRequest

from ttsapp.audit.services import Actor
from ttsapp.errors import ApiError
from ttsapp.tenants import selectors, services
from ttsapp.tenants.models import Membership, Role, Tenant
from ttsapp.typed_admin import KeptAdmin, TypedAdmin


class ReasonForm(ActionForm):
    """Beside the choice of an action: what the tenant's people will read."""

    reason = forms.CharField(required=False, max_length=300, label="Reason, if you suspend:")


@admin.register(Tenant)
class TenantAdmin(KeptAdmin[Tenant]):
    list_display = ("name", "slug", "created_at", "suspended_at", "suspended_because")
    action_form = ReasonForm
    search_fields = ("name", "slug")
    actions = ("suspend", "restore")

    def get_readonly_fields(
        self, request: HttpRequest, obj: Tenant | None = None
    ) -> tuple[str, ...]:
        facts = ("created_at", "suspended_at", "suspended_because")
        return ("slug", *facts) if obj else facts

    def save_model(
        self, request: HttpRequest, obj: Tenant, form: ModelForm[Tenant], change: bool
    ) -> None:
        actor = Actor.of(request.user)
        limits, share = obj.limits, obj.engine_share
        if change and "name" in form.changed_data:
            services.rename_tenant(actor, obj, obj.name)
        if not change:
            obj.pk = services.create_tenant(actor, obj.name, obj.slug).pk
        services.limit_tenant(actor, obj, limits, share)

    @admin.action(description="Suspend: their keys stop working", permissions=["change"])
    def suspend(self, request: HttpRequest, tenants: QuerySet[Tenant]) -> None:
        actor, reason = Actor.of(request.user), request.POST.get("reason", "").strip()[:300]
        done = sum(services.suspend_tenant(actor, tenant, reason) for tenant in tenants)
        self.message_user(request, f"{done} suspended")

    @admin.action(description="Restore", permissions=["change"])
    def restore(self, request: HttpRequest, tenants: QuerySet[Tenant]) -> None:
        done = sum(services.restore_tenant(Actor.of(request.user), tenant) for tenant in tenants)
        self.message_user(request, f"{done} restored")


@admin.register(Membership)
class MembershipAdmin(TypedAdmin[Membership]):
    list_display = ("user", "tenant", "role", "created_at")
    list_filter = ("role", "tenant")
    list_select_related = ("user", "tenant")

    def get_readonly_fields(
        self, request: HttpRequest, obj: Membership | None = None
    ) -> tuple[str, ...]:
        return ("tenant", "user") if obj else ()

    def has_delete_permission(self, request: HttpRequest, obj: Membership | None = None) -> bool:
        if obj is not None and selectors.is_last_owner(obj):
            return False
        return super().has_delete_permission(request, obj)

    def save_model(
        self, request: HttpRequest, obj: Membership, form: ModelForm[Membership], change: bool
    ) -> None:
        actor = Actor.of(request.user)
        if change:
            services.change_role(actor, obj, Role(obj.role))
        else:
            obj.pk = services.add_member(actor, obj.tenant, obj.user, Role(obj.role)).pk

    def delete_model(self, request: HttpRequest, obj: Membership) -> None:
        services.remove_member(Actor.of(request.user), obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Membership]) -> None:
        for membership in queryset:
            try:
                services.remove_member(Actor.of(request.user), membership)
            except ApiError as error:
                self.message_user(request, f"{membership}: {error.message}", messages.ERROR)
