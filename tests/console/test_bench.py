"""`make bench-console` opens what people open."""

from __future__ import annotations

from uuid import UUID

import pytest

from ttsapp.console import platform_urls, urls
from ttsapp.console.bench.pages import NOT_PAGES, Known, addresses

ONE = UUID("01900000-0000-7000-8000-000000000000")
ANY = {
    **dict.fromkeys(("slug", "public_id", "code", "name"), "alice"),
    **dict.fromkeys(("member_id", "webhook_id", "seller_id"), 1),
}
REQUEST = {"console:request": {"wanted": ONE}, "platform:invoice": {"wanted": ONE}}


def test_it_works() -> None:
    found = addresses(Known(ANY, {**REQUEST, "platform:price_book": {"slug": "list"}}))
    assert found["console:overview"] == "/console/alice"
    assert found["console:request"] == f"/console/alice/requests/{ONE}"
    assert found["platform:price_book"] == "/platform/prices/list"


def test_downloads_and_forms_are_no_pages() -> None:
    found = addresses(Known(ANY, REQUEST))
    assert "console:usage_csv" not in found
    assert "console:speak" not in found


def test_what_there_is_none_of_can_be_left_out() -> None:
    assert "console:voice" not in addresses(Known(ANY, REQUEST, frozenset(("voice",))))


def test_a_page_whose_argument_nobody_knows_is_not_forgotten() -> None:
    with pytest.raises(KeyError, match="wanted"):
        addresses(Known(ANY, {}))


def test_what_is_no_page_is_a_route() -> None:
    routes = {pattern.name for pattern in (*urls.urlpatterns, *platform_urls.urlpatterns)}
    assert set(NOT_PAGES) - routes == set()
