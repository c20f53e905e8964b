"""Rows that are written once: documents, their lines, entries of an account."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

from django.db import models


class Immutable(Exception):
    """Code of ours tried to change a fact."""


class FactQuerySet(models.QuerySet[Any, Any]):
    def update(self, **fields: Any) -> NoReturn:
        raise Immutable(f"{self.model.__name__} is never edited")

    def delete(self) -> NoReturn:
        raise Immutable(f"{self.model.__name__} is never deleted")


class Fact(models.Model):
    """Inserted, never updated, never deleted."""

    objects = FactQuerySet.as_manager()

    class Meta:
        abstract = True

    def save(
        self,
        *,
        force_insert: Any = False,
        force_update: bool = False,
        using: str | None = None,
        update_fields: Iterable[str] | None = None,
    ) -> None:
        if not self._state.adding or force_update or update_fields:
            raise Immutable(f"{type(self).__name__} is never edited")
        super().save(force_insert=True, using=using)

    def delete(self, using: Any = None, keep_parents: bool = False) -> NoReturn:
        raise Immutable(f"{type(self).__name__} is never deleted")
