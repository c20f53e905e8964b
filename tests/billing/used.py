"""Requests of any moment in the ledger, written by the services that always write them."""

from __future__ import annotations

import random
from datetime import datetime
from typing import Any
from uuid import UUID

from billing.prices.rates import VoiceKind
from billing.rating import Outcome
from billing.services import Metered, Usage, settle
from ttsapp import ids
from ttsapp.tenants.models import Tenant


def use(tenant: Tenant, at: datetime, characters: int = 100, **fields: Any) -> UUID:
    """One request that was spoken to its end, unless `fields` say otherwise; its id."""
    request = UUID(int=ids.lowest(at).int | random.getrandbits(62))
    about: dict[str, Any] = {"key_id": None, "model": "tiny", "voice": "anna"}
    about["voice_kind"] = VoiceKind.PRESET
    about |= {name: fields.pop(name) for name in list(fields) if name in about}
    usage = Usage(fields.pop("outcome", Outcome.COMPLETED), characters, characters, **fields)
    assert settle(Metered(request, tenant.pk, **about), usage)
    return request
