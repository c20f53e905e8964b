"""Serializers that know their fields: whatever else is sent is refused by name."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, date, datetime
from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request

from billing import dates
from billing.money import to_decimal


class Strict(serializers.Serializer[Any]):
    """A body, or a query by `of_query`."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, dict):
            self.check_known(data)
        return super().to_internal_value(data)

    @classmethod
    def check_known(cls, names: Iterable[Any], beside: Iterable[str] = ()) -> None:
        """Raises ValidationError for names that are neither its own nor `beside` them."""
        own = (name for name, field in cls().fields.items() if not field.read_only)
        known = (*own, *beside)
        if unknown := [str(name)[:50] for name in names if name not in known]:
            message = "Unknown: leave it out."
            message += f" Known are {', '.join(known)}." if known else ""
            faults = {name: [message] for name in unknown}
            raise serializers.ValidationError(faults, code="unknown_field")

    @classmethod
    def of_query(cls, request: Request, *paging: str) -> dict[str, Any]:
        """What the query asks for; `paging`: parameters that somebody else reads."""
        given = {name: value for name, value in request.query_params.items() if name not in paging}
        return cls.checked(given)

    @classmethod
    def of_body(cls, request: Request, **options: Any) -> dict[str, Any]:
        return cls.checked(request.data, **options)

    @classmethod
    def checked(cls, data: Any, **options: Any) -> dict[str, Any]:
        """Raises ValidationError, which names each field at fault."""
        serializer = cls(data=data, **options)
        serializer.is_valid(raise_exception=True)
        return dict(serializer.validated_data)


@extend_schema_field({"type": "string", "format": "decimal", "example": "3.040000"})
class MicrosField(serializers.ReadOnlyField):
    """Money, exactly: a decimal as text, since no program should read it as a float."""

    def to_representation(self, micros: Any) -> str:
        return str(to_decimal(round(micros)))


@extend_schema_field({"type": "number"})
class ShareField(serializers.ReadOnlyField):
    """A number that is a fraction here, rounded to six places."""

    def to_representation(self, value: Any) -> float:
        return round(float(value), 6)


class WholeNumber(serializers.IntegerField):
    """A limit: empty is null."""

    def __init__(self, **options: Any) -> None:
        super().__init__(min_value=1, max_value=2**60, allow_null=True, **options)


def limit(help_text: str) -> WholeNumber:
    return WholeNumber(required=False, help_text=help_text)


class LimitsFields(Strict):
    """The five limits that a tenant and a key may have; null is none of its own."""

    requests_per_minute = limit("Requests to speak that may begin in any minute.")
    characters_per_minute = limit("Characters of text in any minute.")
    concurrent_streams = limit("Speech made at the same time.")
    soft_monthly_characters = limit("Charged characters a calendar month (UTC): only warns.")
    hard_monthly_characters = limit("Charged characters a calendar month (UTC): then 429.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        soft, hard = (self._after(attrs, f"{name}_monthly_characters") for name in ("soft", "hard"))
        if soft is not None and hard is not None and soft > hard:
            message = "The soft budget warns before the hard one ends: choose a smaller number."
            raise serializers.ValidationError({"soft_monthly_characters": message})
        return attrs

    def _after(self, attrs: dict[str, Any], name: str) -> int | None:
        """The value once this change is made."""
        return attrs.get(name, getattr(self.instance, name, None))


class MomentField(serializers.DateTimeField):
    """One that a caller may name."""

    default_error_messages: ClassVar[Any] = {"bounds": f"Choose a moment {dates.DAYS}, UTC."}

    def to_internal_value(self, value: Any) -> Any:
        found = super().to_internal_value(value)
        if not dates.may_be_named(found.date()):
            self.fail("bounds")
        return found


class DayField(serializers.DateField):
    """One that a caller may name."""

    default_error_messages: ClassVar[Any] = {"bounds": f"Choose a day {dates.DAYS}."}

    def to_internal_value(self, value: Any) -> Any:
        found = super().to_internal_value(value)
        if not dates.may_be_named(found):
            self.fail("bounds")
        return found


class Moments(Strict):
    """A range of time, in a query."""

    since = MomentField(required=False, help_text="In it.")
    until = MomentField(required=False, help_text="Not in it.")


class Days(Strict):
    """UTC dates, both in the range; the month so far unless told otherwise."""

    since = DayField(required=False)
    until = DayField(required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        until: date = attrs.setdefault("until", datetime.now(UTC).date())
        since: date = attrs.setdefault("since", until.replace(day=1))
        if since > until:
            raise serializers.ValidationError({"until": "It must not be before since."})
        return attrs
