"""A tenant's keys: what there is, made, changed, rotated, revoked."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from django.http import Http404
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from ttsapp.api.base import TenantView
from ttsapp.api.fields import LimitsFields, MomentField, Strict
from ttsapp.errors import ApiError
from ttsapp.keys import rules, selectors, services
from ttsapp.keys.models import ApiKey, Environment
from ttsapp.keys.rules import USUAL_SCOPES, KeyScope
from ttsapp.tenants.models import Permission
from ttsapp.tenants.names import check_line
from ttsapp.voices.bound import check_models, check_names

LONGEST_OVERLAP_HOURS = 24 * 90


class Names(serializers.ListField):
    child = serializers.CharField(max_length=100)

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=100, required=False, **options)


class Networks(Names):
    def to_internal_value(self, data: Any) -> list[str]:
        try:
            return [one for word in super().to_internal_value(data) for one in rules.networks(word)]
        except ValueError as error:
            raise serializers.ValidationError(str(error)) from None


class KeyRules(LimitsFields):
    """What a key may do, from where, until when and how much. Empty lists allow any."""

    scopes = serializers.ListField(
        child=serializers.ChoiceField([scope.value for scope in KeyScope]),
        required=False,
        min_length=1,
        help_text="manage is this API's own; a key that has it can make keys like itself.",
    )
    allowed_voices = Names()
    allowed_models = Names()
    allowed_networks = Networks(help_text="Addresses and networks, as 192.0.2.7 or 192.0.2.0/24.")
    expires_at = MomentField(required=False, allow_null=True)

    def validate_scopes(self, scopes: list[str]) -> list[str]:
        """A key gives no more than it has."""
        if missing := self.context["access"].lacks(scopes):
            raise serializers.ValidationError(f"You have no {missing} to give: leave it out.")
        return list(dict.fromkeys(scopes))


class NewKey(KeyRules):
    name = serializers.CharField(max_length=100, validators=[check_line])
    environment = serializers.ChoiceField(
        Environment.choices,
        default=Environment.LIVE,
        help_text="What its text begins with. A test key is limited and charged like a live one.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """The usual scopes are given as well."""
        attrs = super().validate(attrs)
        if "scopes" not in attrs and (missing := self.context["access"].lacks(USUAL_SCOPES)):
            message = f"A key has {' and '.join(USUAL_SCOPES)} unless told otherwise, and you have "
            message += f"no {missing} to give: say which it is to have."
            raise serializers.ValidationError({"scopes": message})
        return attrs


class Rotation(Strict):
    overlap_hours = serializers.IntegerField(
        min_value=0,
        max_value=LONGEST_OVERLAP_HOURS,
        default=24,
        help_text="How long the secret before this one still works.",
    )


class Key(KeyRules):
    """A key as it is kept: never its secret."""

    id = serializers.CharField(
        source="public_id", help_text="The part of the key between its underscores."
    )
    name = serializers.CharField()
    environment = serializers.ChoiceField(Environment.choices)
    state = serializers.ChoiceField(["active", "expired", "revoked"])
    hint = serializers.CharField()
    created_at = serializers.DateTimeField()
    created_by = serializers.CharField(source="created_by.username", default=None, allow_null=True)
    revoked_at = serializers.DateTimeField(allow_null=True)
    previous_until = serializers.DateTimeField(allow_null=True)
    last_used_at = serializers.DateTimeField(allow_null=True)
    last_used_address = serializers.CharField()
    last_used_agent = serializers.CharField()


class MadeKey(Key):
    key = serializers.CharField(help_text="The key itself, shown this once.")


@extend_schema(tags=["keys"])
class Keys(TenantView):
    paged_actions = frozenset({"list"})
    permissions = dict.fromkeys(
        ("create", "partial_update", "rotate", "revoke"), Permission.MANAGE_KEYS
    )
    lookup_field = "id"
    lookup_value_converter = "slug"

    @extend_schema(summary="List keys, newest first", responses=Key(many=True))
    def list(self, request: Request) -> Response:
        return self.paged(selectors.of_tenant(self.access.tenant), _documents)

    @extend_schema(summary="Make a key", request=NewKey, responses={201: MadeKey})
    def create(self, request: Request) -> Response:
        wanted = NewKey.of_body(request, context={"access": self.access})
        _check_future(wanted)
        check_names(self.access.tenant.pk, wanted.get("allowed_voices", ()))
        check_models(self.access.tenant.pk, wanted.get("allowed_models", ()))
        key, secret = services.create_key(self.access.actor, self.access.tenant, **wanted)
        return _shown(key, secret, status.HTTP_201_CREATED)

    @extend_schema(summary="Look at a key", responses=Key)
    def retrieve(self, request: Request, id: str) -> Response:
        return Response(Key(self._key(id)).data)

    @extend_schema(summary="Change what a key may do", request=KeyRules, responses=Key)
    def partial_update(self, request: Request, id: str) -> Response:
        key = self._key(id)
        if key.pk == self.access.key_id:
            message = "A key does not change what it may do itself: ask a person, or another key."
            raise ApiError(403, "key_out_of_scope", message, field="id")
        options: dict[str, Any] = {"instance": key, "context": {"access": self.access}}
        wanted = KeyRules.of_body(request, partial=True, **options)
        _check_future(wanted)
        check_names(self.access.tenant.pk, wanted.get("allowed_voices", ()), key.allowed_voices)
        check_models(self.access.tenant.pk, wanted.get("allowed_models", ()), key.allowed_models)
        services.change_key(self.access.actor, key, **wanted)
        return Response(Key(self._key(id)).data)

    @extend_schema(summary="Give a key a new secret", request=Rotation, responses=MadeKey)
    @action(detail=True, methods=["post"])
    def rotate(self, request: Request, id: str) -> Response:
        key = self._key(id)
        if missing := self.access.lacks(key.scopes):
            message = f"This key may {missing}, and you have no {missing} to give: ask a person to."
            raise ApiError(403, "key_out_of_scope", message, field="id")
        overlap = timedelta(hours=Rotation.of_body(request)["overlap_hours"])
        secret = services.rotate_key(self.access.actor, key, overlap)
        if secret is None:
            message = f"This key is {key.state}: make another."
            raise ApiError(409, "key_not_active", message, field="id")
        return _shown(self._key(id), secret, status.HTTP_200_OK)

    @extend_schema(summary="End a key, within a second", request=None, responses=Key)
    @action(detail=True, methods=["post"])
    def revoke(self, request: Request, id: str) -> Response:
        services.revoke_key(self.access.actor, self._key(id))
        return Response(Key(self._key(id)).data)

    def _key(self, public_id: str) -> ApiKey:
        key = selectors.of_tenant(self.access.tenant).filter(public_id=public_id).first()
        if key is None:
            raise Http404
        return key


def _documents(keys: Iterable[ApiKey]) -> Any:
    return Key(keys, many=True).data


def _shown(key: ApiKey, secret: str, code: int) -> Response:
    return Response({**Key(key).data, "key": secret}, code)


def _check_future(wanted: dict[str, Any]) -> None:
    expires_at = wanted.get("expires_at")
    if expires_at is not None and expires_at <= timezone.now():
        raise serializers.ValidationError({"expires_at": "Choose a moment to come, or revoke it."})
