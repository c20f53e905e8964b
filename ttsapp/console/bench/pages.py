"""Every page of the console that a person can open, read from its routes: none is forgotten."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.urls import URLPattern, reverse

from ttsapp.console import platform_urls, urls

# What only a script or a form asks for.
NOT_PAGES = frozenset(
    (
        *("speak", "take", "check_recording", "hide_preset", "accept_share", "engines_now", "home"),
        *("renew_voice", "end_share", "preview", "evidence", "limit_consent", "mute_alert"),
        *("webhook_act", "resend", "remove_member", "withdraw_invitation", "make_default"),
        *("add_cost", "remove_cost", "save_details", "save_agreement", "book_credit", "suspend"),
        *("invite", "restore", "recording", "new_key", "save_view", "remove_view", "engine_act"),
        *("change_word", "remove_word", "take_of_voice", "publish_voice", "review_voice"),
        "request_text",
    )
)
DOWNLOADS = (".csv", ".jsonl", ".pdf")


@dataclass(frozen=True, slots=True)
class Known:
    """What there is to show: arguments of routes by their name, and those of single routes.
    `missing`: pages of what there is none of."""

    arguments: Mapping[str, Any]
    arguments_of: Mapping[str, Mapping[str, Any]]
    missing: frozenset[str] = field(default=frozenset())


def addresses(known: Known) -> dict[str, str]:
    """By route, in their order. Raises KeyError for an argument that is not known."""
    tenant = _of("console", urls.urlpatterns, known)
    platform = _of("platform", platform_urls.urlpatterns, known)
    return dict((*tenant, *platform))


def _of(namespace: str, patterns: list[URLPattern], known: Known) -> Iterator[tuple[str, str]]:
    for pattern in patterns:
        name = pattern.name or ""
        is_page = name not in NOT_PAGES and not str(pattern.pattern).endswith(DOWNLOADS)
        if is_page and name not in known.missing:
            route = f"{namespace}:{name}"
            have = {**known.arguments, **known.arguments_of.get(route, {})}
            wanted = {each: have[each] for each in pattern.pattern.converters}
            yield route, reverse(route, kwargs=wanted)
