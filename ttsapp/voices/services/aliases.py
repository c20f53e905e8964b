"""What OpenAI's names stand for in a tenant: its thirteen voices and its retired models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from ttsapp.audit.actions import Action
from ttsapp.audit.services import Actor, record
from ttsapp.errors import ApiError, invalid
from ttsapp.tenants.models import Tenant
from ttsapp.voices.catalogue import ALIASES, STOCK_VOICES, Catalogue, away, is_own_id, usual_voices
from ttsapp.voices.models import Alias
from ttsapp.voices.own import OwnVoice
from ttsapp.voices.services import shelves


@dataclass(frozen=True, slots=True)
class Standing:
    """`kind`: voice or model. `usual`: what the name stands for where `target` is empty, which is
    not known while no engine is there. `label`: what people call the target. `is_lost`: it is not
    there (any more), so requests for the name are refused."""

    name: str
    kind: str
    usual: str
    target: str
    label: str
    is_lost: bool


def standings(served: Catalogue) -> tuple[Standing, ...]:
    """Of every name, as the tenant has them."""
    return tuple(_standings(served))


def _standings(served: Catalogue) -> Iterator[Standing]:
    default = served.default()
    usual = {name: each.name for name, each in (usual_voices(default) if default else {}).items()}
    models = {model.id for model in served.models}
    for name in ALIASES:
        target = served.aliases.get(name, "")
        if name in STOCK_VOICES:
            found = served.made.get(target)
            label = found.label if found is not None else target
            is_lost = found is None and _is_lost(served, target, _presets(served))
            yield Standing(name, "voice", usual.get(name, ""), target, label, is_lost)
        else:
            is_lost = _is_lost(served, target, models)
            yield Standing(name, "model", default.id if default else "", target, target, is_lost)


def checked(served: Catalogue, name: str, target: str) -> str:
    """The target as it is kept; empty: as usual. Raises ApiError 404 on `name` for one that is not
    OpenAI's; 400 on `target` for what is not there, 503 where an engine is away that may have it.
    """
    if name not in ALIASES:
        message = f"{name[:50]!r} is none of OpenAI's names: they are {', '.join(ALIASES)}."
        raise ApiError(404, "unknown_name", message, field="name")
    if not target or target == served.aliases.get(name):
        return target
    return _voice(served, target) if name in STOCK_VOICES else _model(served, target)


@transaction.atomic
def change_aliases(actor: Actor, tenant: Tenant, wanted: Mapping[str, str]) -> int:
    """Checked ones, of any names; in force within a second. Returns how many were changed."""
    Tenant.objects.select_for_update(no_key=True).get(pk=tenant.pk)
    before = dict(Alias.objects.filter(tenant=tenant).values_list("name", "target"))
    changed = {name: to for name, to in wanted.items() if to != before.get(name, "")}
    for name, target in changed.items():
        if target:
            found: dict[str, Any] = {"tenant": tenant, "name": name}
            Alias.objects.update_or_create(**found, defaults={"target": target})
        else:
            Alias.objects.filter(tenant=tenant, name=name).delete()
        changes = {"target": (before.get(name), target or None)}
        record(actor, Action.ALIAS_CHANGED, tenant, name, changes=changes)
    if changed:
        shelves.note_tenants([tenant.pk])
    return len(changed)


def _voice(served: Catalogue, target: str) -> str:
    try:
        _, found = served.voice(target)
    except ApiError as error:
        if error.status >= 500:
            raise away("target") from None
        raise invalid(error.message, "target", "unknown_voice") from None
    if isinstance(found, OwnVoice):
        found.check_consent()
        found.check_stage()
    return found.name


def _model(served: Catalogue, target: str) -> str:
    known = [model.id for model in served.models]
    if target not in known:
        if served.lacks_some:
            raise away("target")
        message = f"No engine serves a model {target[:50]!r}: choose one of {', '.join(known)}."
        raise invalid(message, "target", "model_not_found")
    return target


def _presets(served: Catalogue) -> set[str]:
    return {preset.name for model in served.models for preset in model.presets}


def _is_lost(served: Catalogue, target: str, there_are: set[str]) -> bool:
    """Not what an engine may have that is away."""
    is_known = is_own_id(target) or not served.lacks_some
    return bool(target) and target not in there_are and is_known
