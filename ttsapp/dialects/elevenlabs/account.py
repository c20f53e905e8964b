"""The account as documents: who it is, and what it may use and has used this month."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings

from ttsapp.keys.authentication import Caller
from ttsapp.limits import selectors
from ttsapp.limits.admission import with_defaults
from ttsapp.tenants.models import Tenant
from ttsapp.voices.catalogue import Catalogue
from ttsapp.voices.selectors import live_voices

# Clients show a share of it: what an account without a budget is told.
UNLIMITED = 2**31 - 1


def user(caller: Caller, served: Catalogue) -> dict[str, Any]:
    tenant = Tenant.objects.get(pk=caller.tenant_id)
    return {
        "user_id": tenant.slug,
        "workspace_id": tenant.slug,
        "first_name": tenant.name,
        "subscription": subscription(caller, served),
        "is_new_user": False,
        "can_use_delayed_payment_methods": False,
        "is_onboarding_completed": True,
        "is_onboarding_checklist_completed": True,
        "is_api_key_hashed": True,
        "xi_api_key_preview": None,
        "created_at": int(tenant.created_at.timestamp()),
        "seat_type": "workspace_member",
    }


def subscription(caller: Caller, served: Catalogue) -> dict[str, Any]:
    month = datetime.now(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    next_month = (month + timedelta(days=32)).replace(day=1)
    used, limit = _budget(caller, month)
    return {
        "tier": "self_hosted",
        "status": "active",
        "character_count": used,
        "character_limit": limit,
        "next_character_count_reset_unix": int(next_month.timestamp()),
        "max_character_limit_extension": 0,
        "max_credit_limit_extension": 0,
        "can_extend_character_limit": False,
        "allowed_to_extend_character_limit": False,
        "voice_slots_used": live_voices(caller.tenant_id).count(),
        "voice_limit": settings.VOICES,
        "voice_add_edit_counter": 0,
        "max_voice_add_edits": 0,
        "professional_voice_slots_used": 0,
        "professional_voice_slots_used_in_workspace": 0,
        "professional_voice_limit": 0,
        "can_extend_voice_limit": False,
        "can_use_instant_voice_cloning": served.maker(in_context=False) is not None,
        "can_use_professional_voice_cloning": False,
        "currency": "usd",
        "current_overage": {"amount": "0", "currency": "usd"},
        "billing_period": "monthly_period",
        "character_refresh_period": "monthly_period",
        "open_invoices": [],
        "has_open_invoices": False,
    }


def _budget(caller: Caller, month: datetime) -> tuple[int, int]:
    """Characters charged this month and their limit: the account's or the key's, whichever has
    less left."""
    whole = selectors.spent(month, caller.tenant_id, None)
    found = [(whole, UNLIMITED)]
    own = (with_defaults(caller.limits[0]), caller.limits[1]) if caller.limits else ()
    for limits, key_id in zip(own, (None, caller.key_id), strict=False):
        if (limit := limits.hard_monthly_characters) is not None:
            spent = whole if key_id is None else selectors.spent(month, caller.tenant_id, key_id)
            found.append((spent, limit))
    return min(found, key=lambda one: one[1] - one[0])
