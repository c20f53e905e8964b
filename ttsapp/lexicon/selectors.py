"""Reading a tenant's words, ready to be used."""

from __future__ import annotations

from collections import OrderedDict

from django.db.models import Q, QuerySet

from ttsapp import database
from ttsapp.lexicon.models import Version, Word
from ttsapp.recent import Recent
from ttsapp.speech.text.lexicon import Entry, Lexicon, compiled
from ttsapp.tenants.models import Tenant

TENANTS = 4096
LEXICONS = 256


def _find_versions(tenant_ids: list[int]) -> dict[int, int]:
    """0 for a tenant that never had a word."""
    rows = Version.objects.filter(tenant_id__in=tenant_ids)
    return {**dict.fromkeys(tenant_ids, 0), **dict(rows.values_list("tenant_id", "number"))}


class Memory:
    """Lexicons for as long as their version holds."""

    def __init__(self) -> None:
        self._lexicons: OrderedDict[tuple[int, str], Lexicon] = OrderedDict()

    def lexicon(self, tenant_id: int, language: str, version: int) -> Lexicon | None:
        found = self._lexicons.get((tenant_id, language))
        return found if found is not None and found.version == version else None

    def note_lexicon(self, tenant_id: int, language: str, lexicon: Lexicon) -> None:
        self._lexicons[tenant_id, language] = lexicon
        self._lexicons.move_to_end((tenant_id, language))
        if len(self._lexicons) > LEXICONS:
            self._lexicons.popitem(last=False)


_versions = Recent(_find_versions, TENANTS)
_memory = Memory()


def version(tenant_id: int) -> int:
    """Counts the changes to its words; 0: it never had one."""
    return _find_versions([tenant_id])[tenant_id]


async def lexicon(tenant_id: int, language: str) -> Lexicon:
    """The tenant's words for that language (a code); at most half a second old."""
    version = await _versions.get(tenant_id) or 0
    if version == 0:
        return Lexicon(0)
    found = _memory.lexicon(tenant_id, language, version)
    if found is None:
        # In the reading thread: thousands of words take a while, and audio must not wait for it.
        found = await database.read(_compiled, tenant_id, language, version)
        _memory.note_lexicon(tenant_id, language, found)
    return found


def words(tenant: Tenant, containing: str = "") -> QuerySet[Word]:
    found = Word.objects.filter(tenant=tenant)
    if not database.can_hold(containing):
        return found.none()
    if containing:
        by_alias = Q(alias__icontains=containing)
        found = found.filter(by_alias | Q(word__icontains=containing))
    return found


def _compiled(tenant_id: int, language: str, version: int) -> Lexicon:
    entries = [
        Entry(row.word, row.alias, row.language, row.is_case_sensitive)
        for row in Word.objects.filter(tenant_id=tenant_id)
    ]
    return compiled(entries, language, version)
