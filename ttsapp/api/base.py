"""What all views share: who may do what, and how long lists are read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar

from django.core.exceptions import ValidationError
from django.db.models import Model, QuerySet
from django.http.response import HttpResponseBase
from rest_framework import viewsets
from rest_framework.exceptions import NotFound
from rest_framework.exceptions import ValidationError as RefusedError
from rest_framework.pagination import Cursor, CursorPagination
from rest_framework.request import Request
from rest_framework.response import Response

from ttsapp.api.access import Access, in_platform, in_tenant
from ttsapp.api.fields import Strict
from ttsapp.tenants.models import Permission, PlatformPermission


class Pages(CursorPagination):
    """Newest first; a page says where the next one is."""

    ordering = "-pk"
    page_size = 50
    max_page_size = 200
    page_size_query_param = "page_size"
    parameters: ClassVar[tuple[str, ...]] = ("cursor", "page_size")

    def paginate_queryset(
        self, queryset: Any, request: Request, view: Any = None
    ) -> list[Any] | None:
        self._model: type[Model] = queryset.model
        return super().paginate_queryset(queryset, request, view)

    def get_page_size(self, request: Request) -> int:
        """Raises ValidationError for what the framework would take for something else."""
        text = request.query_params.get(self.page_size_query_param)
        if text is None:
            return self.page_size
        is_whole = text.isascii() and text.isdigit() and len(text) <= 3
        if not (is_whole and 1 <= int(text) <= self.max_page_size):
            message = f"Choose a whole number from 1 to {self.max_page_size}."
            raise RefusedError({self.page_size_query_param: message})
        return int(text)

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        """The framework's says `nullable`, which OpenAPI 3.1 does not know."""
        found: dict[str, Any] = super().get_paginated_response_schema(schema)
        for name in ("next", "previous"):
            part = {key: of for key, of in found["properties"][name].items() if key != "nullable"}
            found["properties"][name] = part | {"type": ["string", "null"]}
        return found

    def decode_cursor(self, request: Request) -> Cursor | None:
        """The caller's to send: one that was tampered with never reaches the database."""
        cursor = super().decode_cursor(request)
        if cursor is not None and cursor.position is not None:
            try:
                self._model._meta.pk.to_python(cursor.position)
            except ValidationError:
                raise NotFound("There is no such page: begin again without cursor.") from None
        return cursor


class ApiView(viewsets.ViewSet):
    """Nothing of it is kept by anybody on the way. `queries`: by action, the serializer that reads
    the query; the others have none. `paged_actions` have a page's parameters beside it."""

    pagination_class = Pages
    queries: ClassVar[Mapping[str, type[Strict]]] = {}
    paged_actions: ClassVar[frozenset[str]] = frozenset()

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        paging = Pages.parameters if self.action in self.paged_actions else ()
        self.queries.get(self.action, Strict).check_known(request.query_params, paging)

    @property
    def default_response_headers(self) -> dict[str, str]:
        return {**super().default_response_headers, "Cache-Control": "no-store"}

    def paged(
        self, rows: QuerySet[Any], documents: Callable[[list[Any]], Iterable[Mapping[str, Any]]]
    ) -> Response:
        pages = self.pagination_class()
        page = pages.paginate_queryset(rows, self.request, view=self)
        assert page is not None
        return pages.get_paginated_response(list(documents(page)))


class TenantView(ApiView):
    """Below `tenants/<tenant>/`. `permissions`: by action; reading needs no more than a role."""

    permissions: ClassVar[Mapping[str, Permission]] = {}
    access: Access

    def dispatch(self, request: Any, *args: Any, tenant: str, **kwargs: Any) -> HttpResponseBase:
        """The tenant is everybody's parameter, so no view has it as one of its own."""
        self._slug = tenant
        return super().dispatch(request, *args, **kwargs)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        self.access = in_tenant(request, self._slug)
        self.access.check(self.permissions.get(self.action, Permission.VIEW))


class PlatformView(ApiView):
    """Below `platform/`: for people who run the installation, and for no key."""

    permissions: ClassVar[Mapping[str, PlatformPermission]] = {}

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        in_platform(request, self.permissions.get(self.action, PlatformPermission.VIEW))
