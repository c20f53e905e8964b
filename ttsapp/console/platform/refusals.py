"""Services refuse by ApiError; forms show it at the field that it names."""

from __future__ import annotations

from collections.abc import Callable

from django import forms

from ttsapp.errors import ApiError


def refused(form: forms.Form | forms.BaseModelForm, act: Callable[[], object]) -> bool:  # type: ignore[type-arg]
    """Does it; True where it was refused, with the reason in the form."""
    try:
        act()
    except ApiError as error:
        field = error.field if error.field in form.fields else None
        form.add_error(field, error.message)
        return True
    return False
