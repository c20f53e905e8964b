"""What can be spoken with: the engine's catalogue, remembered for a few seconds by each
process, and each tenant's own voices, as of its last change."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from django.db.models import Count, Max, Q, QuerySet

from ttsapp import background, database
from ttsapp.engine.client import client
from ttsapp.errors import ApiError
from ttsapp.keys.authentication import Caller
from ttsapp.tenants.models import Tenant
from ttsapp.voices import artifacts
from ttsapp.voices.catalogue import Catalogue, read
from ttsapp.voices.models import (
    Alias,
    Consent,
    HiddenPreset,
    Removal,
    Shelf,
    Voice,
    VoiceVersion,
)
from ttsapp.voices.own import OwnVoice

FRESH_SECONDS = 2.0
USABLE_SECONDS = 30.0
# The engine is asked again once the request that found the copy old has its first audio.
BEHIND_SECONDS = 0.1
# Tenants whose voices a process remembers.
TENANTS = 1024
# Taken out of the engines' memory in one go.
MOST_REMOVALS = 100
ENGLISH = "english"
# What is known of engines while none is there.
_NOWHERE = Catalogue((), lacks_some=True)


@dataclass(slots=True)
class _Memory:
    """One loop's copy: used while fresh, renewed behind the request's back, dropped when old."""

    catalogue: Catalogue | None = None
    read_at: float = 0.0
    renewal: asyncio.Task[Catalogue | None] | None = None
    tenants: OrderedDict[int, _Known] = field(default_factory=OrderedDict)
    # Of each engine, by its address, the models that it last said it serves.
    told: dict[str, frozenset[str]] = field(default_factory=dict)

    @property
    def age(self) -> float:
        return time.monotonic() - self.read_at

    async def renew(self) -> Catalogue:
        asked_at = time.monotonic()
        models = await client().models()
        found = read(models, lacks_some=self._lacks_some({model.id for model in models}))
        # The same object while nothing has changed: what was made of it stays valid.
        if self.catalogue != found:
            self.catalogue = found
        self.read_at = asked_at
        assert self.catalogue is not None
        return self.catalogue

    def _lacks_some(self, served: set[str]) -> bool:
        """Whether an engine is away that served what nobody does now, or never said what it
        serves."""
        lacking = False
        for engine in client().engines:
            if now := frozenset(model.id for model in engine.served):
                self.told[engine.target] = now
            else:
                before = self.told.get(engine.target)
                lacking |= before is None or not before <= served
        return lacking

    async def renew_quietly(self) -> Catalogue | None:
        """While the engine is away the old copy serves; the synthesis itself says what is wrong."""
        await asyncio.sleep(BEHIND_SECONDS)
        try:
            return await self.renew()
        except ApiError:
            return None


@dataclass(frozen=True, slots=True)
class _Known:
    """A tenant's voices as of a change, and the catalogue that was made with them."""

    number: int
    rows: TenantVoices
    plain: Catalogue
    catalogue: Catalogue


@dataclass(frozen=True, slots=True)
class TenantVoices:
    voices: tuple[OwnVoice, ...]
    hidden: frozenset[str]
    aliases: Mapping[str, str]

    @property
    def artifacts(self) -> frozenset[str]:
        return frozenset(voice.artifact for voice in self.voices)


_memories: WeakKeyDictionary[asyncio.AbstractEventLoop, _Memory] = WeakKeyDictionary()


async def catalogue(caller: Caller | None = None) -> Catalogue:
    """What the engine serves, with the caller's own voices. Raises ApiError 503 while the engine
    is away and nothing is remembered, or the database is."""
    memory = _memories.setdefault(asyncio.get_running_loop(), _Memory())
    plain = await _plain(memory)
    return plain if caller is None else await _of_tenant(memory, plain, caller)


async def listed(caller: Caller) -> Catalogue:
    """The same without what the caller's key may not use."""
    return (await catalogue(caller)).listed(caller.rules)


async def visible(caller: Caller) -> Catalogue:
    """As `listed`, for who looks at voices and does not speak: while no engine is there, it has the
    tenant's own alone. Raises ApiError 503 while the database is away."""
    memory = _memories.setdefault(asyncio.get_running_loop(), _Memory())
    try:
        plain = await _plain(memory)
    except ApiError:
        plain = _NOWHERE
    return (await _of_tenant(memory, plain, caller)).listed(caller.rules)


def without_engines(tenant_id: int) -> Catalogue:
    """What is known of a tenant's voices while no engine is there."""
    return _with(_NOWHERE, tenant_voices(tenant_id))


async def own_voice_now(caller: Caller, name: str) -> OwnVoice | None:
    """As of the caller's state of the voices, whether or not it can be spoken with; None for one
    that was deleted, or is shared no more. Raises ApiError 503 as `catalogue` does."""
    await catalogue(caller)
    known = _memories[asyncio.get_running_loop()].tenants.get(caller.tenant_id)
    found = known.rows.voices if known is not None else ()
    return next((voice for voice in found if voice.name == name), None)


async def _plain(memory: _Memory) -> Catalogue:
    if memory.catalogue is None or memory.age > USABLE_SECONDS:
        return await memory.renew()
    renewing = memory.renewal is not None and not memory.renewal.done()
    if memory.age > FRESH_SECONDS and not renewing:
        memory.renewal = background.spawn(memory.renew_quietly())
    return memory.catalogue


async def _of_tenant(memory: _Memory, plain: Catalogue, caller: Caller) -> Catalogue:
    """The number of the last change came with the look-up of the key: no query while it holds."""
    tenant_id, number = caller.tenant_id, caller.shelf
    if number is None:
        number = await database.read(shelf_number, tenant_id)
    if number == 0:
        return plain
    known = memory.tenants.get(tenant_id)
    if known is None or known.number != number:
        rows = await database.read(tenant_voices, tenant_id)
        if known is not None:
            # Another process may have deleted some.
            artifacts.cache.forget(*(known.rows.artifacts - rows.artifacts))
        known = _note(memory, tenant_id, _Known(number, rows, plain, _with(plain, rows)))
    elif known.plain is not plain:
        known = _Known(number, known.rows, plain, _with(plain, known.rows))
        _note(memory, tenant_id, known)
    return known.catalogue


def _with(plain: Catalogue, rows: TenantVoices) -> Catalogue:
    return plain.of_tenant(rows.voices, rows.hidden, rows.aliases)


def _note(memory: _Memory, tenant_id: int, known: _Known) -> _Known:
    memory.tenants[tenant_id] = known
    memory.tenants.move_to_end(tenant_id)
    if len(memory.tenants) > TENANTS:
        memory.tenants.popitem(last=False)
    return known


# ---- rows


def shelf_number(tenant_id: int) -> int:
    found = Shelf.objects.filter(tenant_id=tenant_id).values_list("number", flat=True).first()
    return found or 0


def tenant_voices(tenant_id: int) -> TenantVoices:
    """All that it may name, those whose consent has ended too: they are refused with the reason."""
    rows = live_voices(tenant_id)
    voices = tuple(own for row in rows if (own := own_voice(row, tenant_id)) is not None)
    hidden = HiddenPreset.objects.filter(tenant_id=tenant_id).values_list("name", flat=True)
    return TenantVoices(voices, frozenset(name.casefold() for name in hidden), aliases(tenant_id))


def aliases(tenant_id: int) -> dict[str, str]:
    """What OpenAI's names stand for, those that are not as usual."""
    found = Alias.objects.filter(tenant_id=tenant_id)
    return dict(found.values_list("name", "target"))


def live_voices(tenant_id: int) -> QuerySet[Voice]:
    """A tenant's own and those shared with it."""
    found = Voice.objects.filter(_visible(tenant_id), deleted_at=None).distinct()
    return found.select_related("consent").prefetch_related("versions")


def own_voice(row: Voice, tenant_id: int) -> OwnVoice | None:
    """None before its first version."""
    version = _last(row)
    if version is None:
        return None
    consent = row.consent
    return OwnVoice(
        name=row.public_id,
        native_language=ENGLISH if row.language == "auto" else row.language,
        description=row.description,
        label=row.name,
        kind=row.kind,
        model=version.model,
        fingerprint=version.fingerprint,
        artifact=version.artifact,
        language=row.language,
        speed=row.speed,
        tags=tuple(row.tags),
        created_at=row.created_at,
        is_shared=row.tenant_id != tenant_id,
        refusal=row.ended,
        stage=row.stage,
        ends_at=consent.expires_at if consent is not None else None,
    )


def _last(row: Voice) -> VoiceVersion | None:
    return max(row.versions.all(), key=lambda each: each.number, default=None)


def labels(tenant_id: int, names: Iterable[str]) -> dict[str, str]:
    """What people call these voices, the deleted ones too; presets are called what they are."""
    found = Voice.objects.filter(_visible(tenant_id), public_id__in=set(names))
    return dict(found.values_list("public_id", "name"))


def _visible(tenant_id: int) -> Q:
    return Q(tenant_id=tenant_id) | Q(shares__tenant_id=tenant_id)


def labels_of_all(names: Iterable[str]) -> dict[str, str]:
    """The same for who runs the installation, with whose each is: two tenants may have an Ann."""
    found = Voice.objects.filter(public_id__in=set(names)).select_related("tenant")
    return {voice.public_id: f"{voice.name} ({voice.tenant})" for voice in found}


def voice_of(tenant_id: int, public_id: str) -> Voice | None:
    """One of the tenant's own, not deleted; None for anybody else's."""
    if not database.can_hold(public_id):
        return None
    found = Voice.objects.filter(tenant_id=tenant_id, public_id=public_id, deleted_at=None)
    return found.select_related("consent", "tenant").first()


def is_deleted(public_id: str) -> bool:
    return Voice.objects.filter(public_id=public_id, deleted_at__isnull=False).exists()


def voice_of_any(public_id: str) -> OwnVoice | None:
    """Whoever's it is, for who runs the installation; None once it is deleted."""
    rows = Voice.objects.filter(public_id=public_id, deleted_at=None)
    row = rows.select_related("consent").prefetch_related("versions").first()
    return own_voice(row, row.tenant_id) if row is not None else None


def artifacts_of(public_id: str) -> list[str]:
    """Of all versions of a voice, whoever's it is; none of a deleted one."""
    found = VoiceVersion.objects.filter(voice__public_id=public_id)
    return list(found.values_list("artifact", flat=True))


def unused(artifacts: Iterable[str]) -> list[str]:
    """Those that no voice has any more."""
    wanted = set(artifacts)
    found = VoiceVersion.objects.filter(artifact__in=wanted)
    return sorted(wanted.difference(found.values_list("artifact", flat=True)))


def removals_under_way() -> list[Removal]:
    return list(
        Removal.objects.filter(done_at=None).select_related("voice__tenant")[:MOST_REMOVALS]
    )


def removals_mark() -> tuple[int, int]:
    """Another one after every deletion."""
    found = Removal.objects.aggregate(n=Count("pk"), last=Max("pk"))
    return found["n"], found["last"] or 0


def outdated(served: Mapping[str, str]) -> list[tuple[Voice, VoiceVersion]]:
    """Voices that may be used but were made for other weights than their model (by name, with its
    fingerprint) has now, and the version to make anew: those that have a clip."""
    rows = Voice.objects.filter(deleted_at=None).select_related("tenant", "consent")
    last = ((row, _last(row)) for row in rows.prefetch_related("versions"))
    return [
        (row, version)
        for row, version in last
        if version is not None
        and version.clip
        and served.get(version.model, version.fingerprint) != version.fingerprint
        and not row.ended
    ]


def voices_named(tenant_id: int, prefix: str) -> QuerySet[Voice]:
    """Those of the tenant's own whose name begins so."""
    if not database.can_hold(prefix):
        return Voice.objects.none()
    found = Voice.objects.filter(tenant_id=tenant_id, deleted_at=None, name__startswith=prefix)
    return found.select_related("consent")


def consents(tenant: Tenant | int) -> QuerySet[Consent]:
    return Consent.objects.filter(tenant=tenant, deleted_at=None)


def consent_of(tenant_id: int, public_id: str) -> Consent | None:
    found = recorded_consent(tenant_id, public_id)
    return found if found is not None and found.deleted_at is None else None


def recorded_consent(tenant_id: int, public_id: str) -> Consent | None:
    """Also a deleted one: what was made under it stays on record."""
    if not database.can_hold(public_id):
        return None
    found = Consent.objects.filter(tenant=tenant_id, public_id=public_id)
    return found.select_related("tenant").first()
