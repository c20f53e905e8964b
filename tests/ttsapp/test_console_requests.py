"""Requests and usage in the console: filters in the address, one request in full, CSV."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from billing.services import Metered, reserve
from tests.ttsapp.browser import browser
from tests.ttsapp.conftest import Party
from tests.ttsapp.seeded import use
from ttsapp import ids
from ttsapp.console.views.requests import PAGE
from ttsapp.keys.models import ApiKey

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
DAY = timedelta(days=1)


def listed(base: str, query: str = "") -> tuple[int, str]:
    with browser(base, "alice") as client:
        page = client.get(f"/console/alice/requests{query}")
    return page.status_code, page.text


def test_it_works(base: str, alice: Party) -> None:
    spoken = use(alice.tenant, alice.key, NOON, "cancelled", 80, charged=33)
    refused = use(alice.tenant, None, NOON + DAY, "refused")

    _, page = listed(base)

    assert page.index(str(refused)) < page.index(str(spoken))  # newest first
    assert '<td class="number">80</td><td class="number">33</td>' in page
    assert "<code>unknown_voice</code>" in page
    assert "alice&#x27;s key" in page


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("?ended=stop", "stop"),
        ("?ended=cancelled", "cancelled"),
        ("?ended=error", "error"),
        ("?ended=refused", "refused"),
        ("?ended=length", "length"),
        ("?code=unknown_voice", "refused"),
        ("?key=console", "length"),
        ("?since=2026-05-08", "length"),
        ("?until=2026-05-04", "stop"),
        ("?since=2026-05-06&until=2026-05-06", "error"),
        ("?ended=error&code=engine_unavailable&since=2026-05-01", "error"),
    ],
)
def test_a_filter_finds_its_own(base: str, alice: Party, query: str, found: str) -> None:
    endings = ("stop", "cancelled", "error", "refused", "length")
    made = {
        ended: use(alice.tenant, None if ended == "length" else alice.key, NOON + day * DAY, ended)
        for day, ended in enumerate(endings)
    }

    status, page = listed(base, query)

    assert status == 200
    assert [ended for ended, request in made.items() if str(request) in page] == [found]


def test_a_filter_by_key(base: str, alice: Party) -> None:
    mine, other = use(alice.tenant, alice.key, NOON), use(alice.tenant, None, NOON)
    _, page = listed(base, f"?key={alice.key.public_id}")
    assert str(mine) in page
    assert str(other) not in page


@pytest.mark.parametrize(
    "query",
    ["?ended=x", "?key=nobody", "?since=soon", "?since=2026-05-02&until=2026-05-01", "?before=x"],
)
def test_a_filter_that_makes_no_sense(base: str, alice: Party, query: str) -> None:
    request = use(alice.tenant, alice.key, NOON)
    status, page = listed(base, query)
    assert status == 400
    assert "This filter cannot be used" in page
    assert str(request) not in page


def test_nothing_found_differs_from_nothing_yet(base: str, alice: Party) -> None:
    assert "No request yet" in listed(base)[1]
    assert "No request matches" in listed(base, "?ended=stop")[1]


def test_pages_keep_the_filter_and_meet_without_a_gap(base: str, alice: Party) -> None:
    made = [use(alice.tenant, alice.key, NOON + timedelta(seconds=n)) for n in range(PAGE + 3)]
    use(alice.tenant, alice.key, NOON, "refused")

    with browser(base, "alice") as client:
        first = client.get("/console/alice/requests?ended=stop").text
        assert f"?ended=stop&amp;before={made[3]}" in first
        second = client.get(f"/console/alice/requests?ended=stop&before={made[3]}").text

    assert [str(request) in first for request in made] == [False] * 3 + [True] * PAGE
    assert [str(request) in second for request in made] == [True] * 3 + [False] * PAGE
    assert '<a class="button" href="?ended=stop">Newest</a>' in second
    assert "Older" not in second


def test_one_request_in_full(base: str, alice: Party) -> None:
    request = use(alice.tenant, alice.key, NOON, "cancelled", 80, charged=33, audio_ms=2400)
    with browser(base, "alice") as client:
        page = client.get(f"/console/alice/requests/{request}").text
    assert "<strong>33</strong> (cancelled)" in page
    assert "2.40 s delivered, 30 frames of 80 ms made" in page
    assert 'until first audio</th><td class="number">140</td>' in page
    assert "and seed 42 are known" in page


def test_a_refused_request_says_what_was_wrong(base: str, alice: Party) -> None:
    request = use(alice.tenant, alice.key, NOON, "refused")
    with browser(base, "alice") as client:
        page = client.get(f"/console/alice/requests/{request}").text
    assert "400 <code>unknown_voice</code> on the field <code>voice</code>" in page
    assert "Nothing: it was refused before the engine worked for it." in page


def test_a_request_that_is_still_running(base: str, alice: Party) -> None:
    request = ids.uuid7()
    reserve(Metered(request, alice.tenant.pk, alice.key.pk, "model", "Anna"))
    with browser(base, "alice") as client:
        page = client.get(f"/console/alice/requests/{request}")
    assert page.status_code == 200
    assert "Still running." in page.text


def test_a_request_that_never_was(base: str, alice: Party) -> None:
    with browser(base, "alice") as client:
        assert client.get(f"/console/alice/requests/{uuid4()}").status_code == 404


MAY = "?since=2026-05-01&until=2026-05-31"


@pytest.fixture
def may(alice: Party) -> None:
    use(alice.tenant, alice.key, datetime(2026, 4, 30, 23, 59, 59, tzinfo=UTC), characters=9000)
    use(alice.tenant, alice.key, datetime(2026, 5, 1, tzinfo=UTC), characters=100, audio_ms=6500)
    use(alice.tenant, alice.key, NOON, "cancelled", 80, charged=30, audio_ms=2000)
    use(alice.tenant, None, NOON, "error", 50, audio_ms=500)
    use(alice.tenant, None, datetime(2026, 5, 31, 23, 59, 59, tzinfo=UTC), characters=7)
    use(alice.tenant, alice.key, datetime(2026, 6, 1, tzinfo=UTC), characters=9000)


def test_usage_of_a_period(base: str, alice: Party, may: None) -> None:
    with browser(base, "alice") as client:
        page = client.get(f"/console/alice/usage{MAY}").text

    assert "<dt>Characters charged</dt><dd>137</dd><dd>of 237 sent</dd>" in page
    assert "<dt>Requests</dt><dd>4</dd><dd>2026-05-01 to 2026-05-31</dd>" in page
    assert page.count('<th scope="row">2026-05-') == 31
    assert "100 characters on the highest day" in page


def test_usage_as_csv(base: str, alice: Party, may: None) -> None:
    with browser(base, "alice") as client:
        answer = client.get(f"/console/alice/usage.csv{MAY}")

    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert 'filename="usage-alice-2026-05-01.csv"' in answer.headers["content-disposition"]
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    key = alice.key.public_id
    assert [tuple(row.values()) for row in rows] == [
        ("2026-05-01", "alice's key", key, "1", "100", "100", "6.500", "0", "0"),
        ("2026-05-04", "alice's key", key, "1", "80", "30", "2.000", "0", "0"),
        ("2026-05-04", "console", "", "1", "50", "0", "0.500", "1", "0"),
        ("2026-05-31", "console", "", "1", "7", "7", "6.000", "0", "0"),
    ]


def test_a_key_named_like_a_formula_is_none(base: str, alice: Party) -> None:
    ApiKey.objects.update(name="=1+1")
    use(alice.tenant, alice.key, NOON)
    with browser(base, "alice") as client:
        assert ",'=1+1," in client.get(f"/console/alice/usage.csv{MAY}").text


@pytest.mark.parametrize("path", ["usage", "usage.csv"])
@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("?since=2024-01-01&until=2026-05-01", "At most 366 days at once."),
        ("?since=2026-05-02&until=2026-05-01", "Must not be before From."),
        ("?since=yesterday", "Enter a valid date."),
    ],
)
def test_a_period_that_makes_no_sense(
    base: str, alice: Party, path: str, query: str, said: str
) -> None:
    with browser(base, "alice") as client:
        page = client.get(f"/console/alice/{path}{query}")
    assert page.status_code == 400
    assert said in page.text


@pytest.mark.parametrize("path", ["requests", "usage", "usage.csv"])
@pytest.mark.parametrize(("name", "label"), [("since", "From"), ("until", "To")])
@pytest.mark.parametrize("day", ["9999-12-31", "2100-01-01", "1999-12-31", "0001-01-01"])
def test_a_day_that_no_request_can_have(
    base: str, alice: Party, path: str, name: str, label: str, day: str
) -> None:
    with browser(base, "alice") as client:
        page = client.get(f"/console/alice/{path}?{name}={day}")
    assert page.status_code == 400
    assert f"{label} must be from 2000-01-01 to 2099-12-31." in page.text


@pytest.mark.parametrize("path", ["requests", "usage", "usage.csv"])
@pytest.mark.parametrize("query", ["?until=2000-01-01", "?until=2099-12-31", "?since=2099-12-31"])
def test_the_first_and_the_last_day(base: str, alice: Party, path: str, query: str) -> None:
    with browser(base, "alice") as client:
        assert client.get(f"/console/alice/{path}{query}").status_code == 200
