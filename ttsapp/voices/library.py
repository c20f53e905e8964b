"""What people are shown of voices and consents: cards, use, and the register of what was made."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Count, QuerySet, Sum
from django.utils import timezone

from ttsapp import ids
from ttsapp.keys.models import ApiKey
from ttsapp.speech.models import RequestLog
from ttsapp.voices.catalogue import Catalogue, SpeechModel
from ttsapp.voices.models import Alias, Consent, Share, Stage, Voice
from ttsapp.voices.own import Preset
from ttsapp.voices.selectors import live_voices

USE_DAYS = 30
PAGE = 50


@dataclass(frozen=True, slots=True)
class Use:
    """Of a voice in the last thirty days."""

    requests: int = 0
    characters: int = 0


@dataclass(frozen=True, slots=True)
class Card:
    """`owner`: preset, own or shared. `state`: as the voice's, or `away` while no engine has its
    model. `kind` and `language` as people read them. `version`: that speaks, of the tenant's
    own."""

    id: str
    name: str
    owner: str
    kind: str
    state: str
    language: str
    description: str
    tags: tuple[str, ...]
    use: Use
    is_hidden: bool = False
    version: int | None = None


def cards(tenant_id: int, served: Catalogue) -> list[Card]:
    """The tenant's own and shared voices, newest first, then the checkpoints'."""
    rows = list(live_voices(tenant_id))
    presets = [(preset, model) for model in served.models for preset in model.presets]
    used = uses(tenant_id, (*(row.public_id for row in rows), *(each.name for each, _ in presets)))
    usable = {voice.name: voice.served_by for voice in served.own}
    made = [_made(row, tenant_id, used, usable.get(row.public_id)) for row in rows]
    return made + [_preset(each, model, used, not served.shows(each)) for each, model in presets]


def _made(row: Voice, tenant_id: int, used: dict[str, Use], model: SpeechModel | None) -> Card:
    state = row.state if model is not None or row.state != "active" else "away"
    return Card(
        id=row.public_id,
        name=row.name,
        owner="own" if row.tenant_id == tenant_id else "shared",
        kind=row.get_kind_display(),
        state=state,
        language=_language(row.language, model),
        description=row.description,
        tags=tuple(row.tags),
        use=used.get(row.public_id, Use()),
        version=max((each.number for each in row.versions.all()), default=None),
    )


def _preset(preset: Preset, model: SpeechModel, used: dict[str, Use], is_hidden: bool) -> Card:
    return Card(
        id=preset.name,
        name=preset.name,
        owner="preset",
        kind="preset",
        state="active",
        language=_language(preset.native_language, model),
        description=preset.description,
        tags=(),
        use=used.get(preset.name, Use()),
        is_hidden=is_hidden,
    )


def _language(name: str, model: SpeechModel | None) -> str:
    """Without one of its own a voice has those of its model."""
    if name not in ("", "auto"):
        return name.title()
    languages = model.languages if model is not None else ()
    return ", ".join(each.title() for each in languages) or "languages of its model"


def uses(tenant_id: int, names: Iterable[str]) -> dict[str, Use]:
    since = ids.lowest(timezone.now() - timedelta(days=USE_DAYS))
    found = RequestLog.objects.filter(tenant_id=tenant_id, id__gte=since, voice__in=set(names))
    rows = found.order_by().values("voice").annotate(n=Count("pk"), sum=Sum("characters"))
    return {row["voice"]: Use(row["n"], row["sum"]) for row in rows}


def deleted_at(consent: Consent | None) -> datetime | None:
    """When its voices are deleted, once it has ended."""
    ended = consent.ended_at if consent is not None else None
    return ended + timedelta(days=settings.ENDED_VOICE_DAYS) if ended is not None else None


def waiting(tenant_id: int) -> int:
    """How many voices wait for approval."""
    found = Voice.objects.filter(tenant_id=tenant_id, stage=Stage.REVIEW, deleted_at=None)
    return found.count()


def bound_keys(voices: Iterable[Voice]) -> list[ApiKey]:
    """Of their tenant, those that are bound to any of them by its id or name."""
    rows = list(voices)
    names = {name.casefold() for row in rows for name in (row.public_id, row.name)}
    keys = ApiKey.objects.filter(tenant__in={row.tenant_id for row in rows}, revoked_at=None)
    return [key for key in keys if not names.isdisjoint(map(str.casefold, key.allowed_voices))]


def names_for(voice: Voice) -> list[str]:
    """OpenAI's names that stand for it, in its own tenant: requests for them are refused once it
    may not be used."""
    found = Alias.objects.filter(tenant=voice.tenant_id, target=voice.public_id)
    return list(found.values_list("name", flat=True))


def shares(voice: Voice) -> list[Share]:
    """Who they are is not told: one account learns nothing of another."""
    return list(Share.objects.filter(voice=voice).select_related("voice__tenant", "tenant"))


def made_under(consent: Consent) -> QuerySet[RequestLog]:
    """All of the tenant's own requests that made audio under it, newest first."""
    return _made_under(consent).filter(tenant_id=consent.tenant_id).select_related("key")


def _made_under(consent: Consent) -> QuerySet[RequestLog]:
    names = list(consent.voices.values_list("public_id", flat=True))
    return RequestLog.objects.filter(voice__in=names, audio_ms__gt=0)


@dataclass(frozen=True, slots=True)
class Register:
    """What audio was made under a consent: the tenant's own latest requests, each with its voice's
    name, and how many others made with a voice that was shared with them."""

    requests: int
    characters: int
    audio_ms: int
    by_others: int
    rows: tuple[tuple[RequestLog, str], ...]


def register(consent: Consent) -> Register:
    names = dict(consent.voices.values_list("public_id", "name"))
    sums = _made_under(consent).aggregate(
        n=Count("pk"), characters=Sum("characters", default=0), ms=Sum("audio_ms", default=0)
    )
    own = made_under(consent)
    return Register(
        requests=sums["n"],
        characters=sums["characters"],
        audio_ms=sums["ms"],
        by_others=sums["n"] - own.count(),
        rows=tuple((log, names[log.voice]) for log in own[:PAGE]),
    )
