"""A tenant's pages where they have a behaviour of their own, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, FilePayload, Page, expect

from tests.browser.chromium import DESK, PHONE, context, needs_chromium, sign_in
from tests.product.running import Running
from ttsapp.launch import access

pytestmark = [needs_chromium, pytest.mark.timeout(1200)]

ROOT = "/console/default"
NOISE = FilePayload(name="ann.txt", mimeType="audio/wav", buffer=b"no sound at all " * 100)


@pytest.fixture
def refused(product: Running, browser: Browser) -> Iterator[Page]:
    """Signed in; what is refused is something that the browser complains of."""
    with context(browser, product.base, DESK, "light") as visit:
        page = visit.new_page()
        known = access.read(product.plan.data / access.FILE)
        assert known.password
        sign_in(page, known.username, known.password)
        yield page


def save(page: Page) -> None:
    with page.expect_navigation():
        page.locator("button:text-is('Save')").click()


def test_a_refused_form_keeps_its_file(refused: Page) -> None:
    """And all that was typed; mended, it goes on to where it leads."""
    page = refused
    page.goto(f"{ROOT}/consents/new")
    page.fill("#id_person", "Ann Archer")
    page.fill("#id_name", "Ann for the hotline")
    page.set_input_files("#id_recording", NOISE)
    page.click("text=Record the consent")
    problem = page.locator(".field", has=page.locator("#id_recording")).locator(".problem")
    expect(problem).to_be_visible()
    assert page.url.endswith("/consents/new")
    assert page.input_value("#id_person") == "Ann Archer"
    assert page.evaluate("document.getElementById('id_recording').files[0].name") == "ann.txt"

    signed = FilePayload(name="a.pdf", mimeType="application/pdf", buffer=b"%PDF-1.7 signed")
    page.set_input_files("#id_recording", signed)
    page.click("text=Record the consent")
    page.wait_for_url("**/voices/clone?consent=consent_*")


def test_a_form_whose_server_is_away_keeps_all(refused: Page) -> None:
    page = refused
    page.goto(f"{ROOT}/consents/new")
    page.fill("#id_person", "Ann Archer")
    page.fill("#id_name", "Ann")
    page.set_input_files("#id_recording", NOISE)
    page.route("**/consents/new", lambda route: route.abort())
    page.click("text=Record the consent")
    expect(page.locator("[data-refused]")).to_contain_text("The server did not answer.")
    assert page.input_value("#id_person") == "Ann Archer"
    expect(page.locator("button[type=submit]", has_text="Record the consent")).to_be_enabled()


@pytest.mark.parametrize("page", [PHONE, DESK], ids=["phone", "desk"], indirect=True)
def test_a_name_stands_for_another_voice(page: Page) -> None:
    page.goto(f"{ROOT}/names")
    chosen = page.locator("#id_alloy")
    other = chosen.locator("optgroup option").last.get_attribute("value")
    assert other
    chosen.select_option(other)
    save(page)
    assert page.input_value("#id_alloy") == other
    chosen.select_option("")
    save(page)
    assert page.input_value("#id_alloy") == ""


def test_a_text_is_shown_to_who_asks(page: Page) -> None:
    page.goto(f"{ROOT}/settings")
    page.fill("#id_text_days", "1")
    save(page)
    page.goto(f"{ROOT}/playground")
    page.fill("#text", "Call 42 now.")
    page.click("#both")
    taken = page.locator("#list a")
    expect(taken).to_have_count(2)
    page.goto(str(taken.first.get_attribute("href")))
    expect(page.locator(".kept-text")).to_have_text("•••• •• •••.")
    page.click("text=Show the text")
    expect(page.locator(".kept-text")).to_have_text("Call 42 now.")
    expect(page.locator("[aria-labelledby=again] pre")).to_contain_text("Call 42 now.")
    page.goto(f"{ROOT}/settings")
    page.fill("#id_text_days", "")
    save(page)
