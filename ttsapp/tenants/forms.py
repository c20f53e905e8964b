"""What people fill in about a tenant."""

from __future__ import annotations

from typing import Any

from django import forms

from ttsapp.limits.forms import LimitsForm
from ttsapp.tenants.models import RESERVED_SLUGS, Tenant


class TenantForm(LimitsForm):
    name = forms.CharField(max_length=100)


class NewTenantForm(forms.Form):
    name = forms.CharField(max_length=100, label="Name of the new tenant")
    slug = forms.SlugField(max_length=50, label="Its name in addresses")

    def clean_slug(self) -> Any:
        slug = self.cleaned_data["slug"]
        if slug in RESERVED_SLUGS:
            raise forms.ValidationError("The console has a page of this name: choose another.")
        if Tenant.objects.filter(slug=slug).exists():
            raise forms.ValidationError("Another tenant has it: choose another.")
        return slug
