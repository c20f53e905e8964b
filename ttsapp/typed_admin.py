"""Bases for the stock admin: generic for the type checker, and read-only where rows are facts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest

Row = TypeVar("Row", bound=Model)

if TYPE_CHECKING:
    TypedAdmin = admin.ModelAdmin
else:

    class TypedAdmin(admin.ModelAdmin):
        def __class_getitem__(cls, row: Any) -> type:
            return cls


def rounded(
    field: str, description: str, per: float = 1.0, digits: int = 1
) -> Callable[[Any, Any], str]:
    """A column that shows a number field divided by `per`, with so many digits, and sorts by it."""

    @admin.display(description=description, ordering=field)
    def column(_: Any, row: Any) -> str:
        value = getattr(row, field)
        return "-" if value is None else f"{value / per:,.{digits}f}"

    return column


class KeptAdmin(TypedAdmin[Row]):
    """Rows that are never deleted."""

    def has_delete_permission(self, request: HttpRequest, obj: Row | None = None) -> bool:
        return False


class ReadOnlyAdmin(KeptAdmin[Row]):
    """Rows that nobody adds or edits by hand either."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Row | None = None) -> bool:
        return False
