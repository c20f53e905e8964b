"""What people fill in about a tenant."""

from __future__ import annotations

from typing import Any

from django import forms

from ttsapp.limits.forms import LimitsForm
from ttsapp.tenants.models import Role, Tenant
from ttsapp.tenants.names import check_line, check_slug


class TenantForm(LimitsForm):
    name = forms.CharField(max_length=100, validators=[check_line])


class NewTenantForm(forms.Form):
    name = forms.CharField(max_length=100, label="Name of the new tenant", validators=[check_line])
    slug = forms.CharField(max_length=50, label="Its name in addresses", validators=[check_slug])

    def clean_slug(self) -> Any:
        slug = self.cleaned_data["slug"]
        if Tenant.objects.filter(slug=slug).exists():
            raise forms.ValidationError("Another tenant has it: choose another.")
        return slug


class RoleForm(forms.Form):
    """`giver`: the role of whoever fills it in, who gives no higher one."""

    role = forms.ChoiceField(initial=Role.DEVELOPER)

    def __init__(self, *args: Any, giver: Role, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["role"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [(role.value, role.value) for role in Role if giver.may_give(role)]

    def chosen(self) -> Role:
        return Role(self.cleaned_data["role"])


class InvitationForm(RoleForm):
    label = forms.CharField(
        max_length=200, label="Whom: a name or an address", validators=[check_line]
    )
    field_order = ("label", "role")
