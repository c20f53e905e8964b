"""What a tenant is billed: the month so far, its credit, and its documents."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.db.models import prefetch_related_objects
from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from billing.credit import prepaid
from billing.credit import selectors as credit
from billing.invoices import selectors
from billing.invoices.drafts import Draft, Line
from billing.invoices.models import Document, Kind
from ttsapp.api.base import TenantView
from ttsapp.api.fields import MicrosField
from ttsapp.tenants.models import Permission


class ChargedLine(serializers.Serializer[Any]):
    text = serializers.CharField()
    model = serializers.CharField(help_text="Empty: any.")
    voice_kind = serializers.CharField(help_text="Empty: any.")
    price_version = serializers.IntegerField(allow_null=True)
    characters = serializers.IntegerField()
    per_million = MicrosField(source="per_million_micros")
    amount = MicrosField(
        source="amount_micros",
        help_text="Exact in the month so far; of a document rounded to what can be paid.",
    )


class Balance(serializers.Serializer[Any]):
    currency = serializers.CharField()
    balance = MicrosField()


class MonthSoFar(serializers.Serializer[Any]):
    month = serializers.DateField(help_text="Its first day, UTC.")
    currency = serializers.CharField(allow_null=True, help_text="Null: no price book holds.")
    total = MicrosField(allow_null=True, help_text="Exact. Null: no price book holds.")
    invoice_total = MicrosField(
        allow_null=True,
        help_text="What an invoice would have: each line rounded to what can be paid.",
    )
    lines = ChargedLine(many=True)
    prepaid_credit = Balance(many=True)
    credit_left = Balance(
        allow_null=True,
        help_text="After what is not invoiced yet; null unless it speaks on credit alone.",
    )


class IssuedDocument(serializers.Serializer[Any]):
    """Amounts of credit notes are positive too."""

    id = serializers.UUIDField()
    number = serializers.CharField(source="label")
    kind = serializers.ChoiceField(Kind.choices)
    corrects = serializers.UUIDField(source="corrects_id", allow_null=True)
    reason = serializers.CharField()
    month = serializers.DateField()
    issued_at = serializers.DateTimeField()
    due_on = serializers.DateField()
    currency = serializers.CharField()
    total = MicrosField(source="total_micros")
    prepaid_credit = MicrosField(source="credit_micros", help_text="Drawn, or put back.")
    still_due = MicrosField(
        source="still_due_micros", help_text="After all credit notes; of one of those nothing is."
    )
    lines = ChargedLine(source="lines.all", many=True)


@extend_schema(tags=["billing"])
class BillingView(TenantView):
    permissions = {"list": Permission.VIEW_BILLING}  # noqa: RUF012

    @extend_schema(summary="What the month comes to so far", responses=MonthSoFar)
    def list(self, request: Request) -> Response:
        tenant, now = self.access.tenant, datetime.now(UTC)
        month, account = now.date().replace(day=1), prepaid.account(self.access.tenant.pk, now)
        draft = selectors.month_so_far(tenant, month)
        balances = [
            {"currency": code, "balance": micros}
            for code, micros in credit.balances(tenant).items()
        ]
        return Response(
            MonthSoFar(
                {
                    "month": month,
                    "currency": draft.currency if draft else None,
                    "total": draft.exact_micros if draft else None,
                    "invoice_total": draft.total_micros if draft else None,
                    "lines": _lines(draft),
                    "prepaid_credit": balances,
                    "credit_left": _left(account),
                }
            ).data
        )


@extend_schema(tags=["billing"])
class DocumentsView(TenantView):
    paged_actions = frozenset({"list"})
    permissions = dict.fromkeys(("list", "retrieve"), Permission.VIEW_BILLING)
    lookup_field = "id"
    lookup_value_converter = "uuid"

    @extend_schema(
        summary="List invoices and credit notes, newest first",
        responses=IssuedDocument(many=True),
    )
    def list(self, request: Request) -> Response:
        return self.paged(selectors.documents(self.access.tenant), _documents)

    @extend_schema(summary="Look at an invoice or a credit note", responses=IssuedDocument)
    def retrieve(self, request: Request, id: UUID) -> Response:
        document = selectors.document(self.access.tenant, id)
        if document is None:
            raise Http404
        return Response(IssuedDocument(document).data)


def _documents(documents: list[Document]) -> Iterable[dict[str, Any]]:
    prefetch_related_objects(documents, "lines")
    return IssuedDocument(documents, many=True).data


def _left(account: prepaid.Account | None) -> dict[str, Any] | None:
    return {"currency": account.currency, "balance": account.left} if account else None


def _lines(draft: Draft | None) -> list[dict[str, Any]]:
    return [_line(line) for line in draft.lines] if draft else []


def _line(line: Line) -> dict[str, Any]:
    return {
        "text": line.text,
        "model": line.rate.model,
        "voice_kind": line.rate.voice_kind,
        "price_version": line.version,
        "characters": line.share.characters,
        "per_million_micros": line.share.tier.per_million,
        "amount_micros": line.exact_micros,
    }
