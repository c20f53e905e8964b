"""Changes to a tenant's words, each with its audit row and a new version in one transaction."""

from __future__ import annotations

from django.conf import settings
from django.db import transaction
from django.db.models import F

from ttsapp.audit.actions import Action
from ttsapp.audit.services import Actor, record
from ttsapp.errors import invalid
from ttsapp.lexicon.models import Version, Word
from ttsapp.tenants.models import Tenant


@transaction.atomic
def add_word(
    actor: Actor,
    tenant: Tenant,
    word: str,
    alias: str,
    language: str = "",
    *,
    is_case_sensitive: bool = False,
) -> Word:
    """Raises ApiError 400 once the tenant has as many words as it may."""
    _next_version(tenant)
    if Word.objects.filter(tenant=tenant).count() >= settings.LEXICON_WORDS:
        message = f"A lexicon may have {settings.LEXICON_WORDS} words: remove one first."
        raise invalid(message, "word", "lexicon_full")
    row = Word.objects.create(
        tenant=tenant,
        word=word,
        alias=alias,
        language=language,
        is_case_sensitive=is_case_sensitive,
    )
    record(actor, Action.WORD_ADDED, tenant, word, alias=alias, language=language)
    return row


@transaction.atomic
def change_word(actor: Actor, row: Word, alias: str, *, is_case_sensitive: bool) -> None:
    _next_version(row.tenant)
    locked = Word.objects.select_for_update().get(pk=row.pk)
    before, locked.alias = locked.alias, alias
    locked.is_case_sensitive = is_case_sensitive
    locked.save(update_fields=["alias", "is_case_sensitive"])
    changes = {"alias": (before, alias)}
    record(actor, Action.WORD_CHANGED, row.tenant, row.word, changes=changes)


@transaction.atomic
def remove_word(actor: Actor, row: Word) -> None:
    _next_version(row.tenant)
    locked = Word.objects.select_for_update().get(pk=row.pk)
    record(actor, Action.WORD_REMOVED, row.tenant, locked.word, alias=locked.alias)
    locked.delete()


def _next_version(tenant: Tenant) -> None:
    """First, so that changes to one lexicon wait for each other."""
    Version.objects.get_or_create(tenant=tenant)
    Version.objects.filter(tenant=tenant).update(number=F("number") + 1)
