"""Reading a tenant's words, ready to be used."""

from __future__ import annotations

import time
from collections import OrderedDict

from ttsapp import database
from ttsapp.lexicon.models import Version, Word
from ttsapp.speech.text.lexicon import Entry, Lexicon, compiled

# A change must be heard within one second everywhere: half of that may be spent here.
FRESH_SECONDS = 0.5
TENANTS = 4096
LEXICONS = 256


class Memory:
    """Versions for half a second, lexicons for as long as their version holds."""

    def __init__(self) -> None:
        self._versions: OrderedDict[int, tuple[float, int]] = OrderedDict()
        self._lexicons: OrderedDict[tuple[int, str], Lexicon] = OrderedDict()

    def version(self, tenant_id: int) -> int | None:
        found = self._versions.get(tenant_id)
        is_fresh = found is not None and time.monotonic() - found[0] <= FRESH_SECONDS
        return found[1] if found is not None and is_fresh else None

    def note_version(self, tenant_id: int, asked_at: float, version: int) -> None:
        """`asked_at`: before the query, or a slow one would stretch the half second."""
        self._versions[tenant_id] = (asked_at, version)
        self._versions.move_to_end(tenant_id)
        if len(self._versions) > TENANTS:
            self._versions.popitem(last=False)

    def lexicon(self, tenant_id: int, language: str, version: int) -> Lexicon | None:
        found = self._lexicons.get((tenant_id, language))
        return found if found is not None and found.version == version else None

    def note_lexicon(self, tenant_id: int, language: str, lexicon: Lexicon) -> None:
        self._lexicons[tenant_id, language] = lexicon
        self._lexicons.move_to_end((tenant_id, language))
        if len(self._lexicons) > LEXICONS:
            self._lexicons.popitem(last=False)


_memory = Memory()


async def lexicon(tenant_id: int, language: str) -> Lexicon:
    """The tenant's words for that language (a code); at most half a second old."""
    version = _memory.version(tenant_id)
    if version is None:
        asked_at = time.monotonic()
        version = await database.read(_version, tenant_id)
        _memory.note_version(tenant_id, asked_at, version)
    if version == 0:
        return Lexicon(0)
    found = _memory.lexicon(tenant_id, language, version)
    if found is None:
        found = compiled(await database.read(_entries, tenant_id), language, version)
        _memory.note_lexicon(tenant_id, language, found)
    return found


def _version(tenant_id: int) -> int:
    found = Version.objects.filter(tenant_id=tenant_id).values_list("number", flat=True).first()
    return found or 0


def _entries(tenant_id: int) -> list[Entry]:
    return [
        Entry(row.word, row.alias, row.language, row.is_case_sensitive)
        for row in Word.objects.filter(tenant_id=tenant_id)
    ]
