"""The console as a person meets it: a real browser, and the real engine behind it."""

from __future__ import annotations

import re
from importlib import resources

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.chromium import DESK, PHONE, context, needs_chromium, sign_in
from tests.product.running import Running
from ttsapp.launch import access

pytestmark = [needs_chromium, pytest.mark.timeout(300)]

ROOT = "/console/default"
AUTHENTICATOR = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


def test_a_key_is_made_shown_once_and_revoked(page: Page) -> None:
    page.goto(f"{ROOT}/keys")
    page.fill("#id_name", "Browser")
    page.click("text=Create key")
    expect(page.locator("h1")).to_have_text("Browser")
    shown = page.locator("pre").first.text_content()
    assert shown is not None
    assert shown.startswith("parl_live_")
    page.reload()
    assert shown not in page.content()

    page.goto(f"{ROOT}/keys")
    assert page.locator("tbody tr", has_text="Browser").count() == 1
    page.click("[aria-label='Revoke Browser']")
    page.click("button:text('Revoke Browser')")
    row = page.locator("tbody tr", has_text="Browser")
    expect(row.locator(".pill")).to_have_text("revoked")


def test_filters_stay_in_the_address(page: Page) -> None:
    page.goto(f"{ROOT}/requests")
    page.select_option("#id_ended", "refused")
    page.click("text=Filter")
    assert "ended=refused" in page.url
    assert page.input_value("#id_ended") == "refused"


@pytest.mark.parametrize("page", [PHONE, DESK], ids=["phone", "desk"], indirect=True)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_is_wider_than_the_screen(page: Page, every: list[str], scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)
    for path in every:
        page.goto(path)
        excess = page.evaluate("document.scrollingElement.scrollWidth - innerWidth")
        assert excess <= 0, path


def test_the_keyboard_skips_the_navigation(page: Page) -> None:
    page.goto(f"{ROOT}/requests")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "id_ended"


def test_everything_that_can_be_used_has_a_name(page: Page, every: list[str]) -> None:
    unnamed = """[...document.querySelectorAll('a,button,input,select,textarea')]
        .filter((e) => !e.hidden && e.type !== 'hidden')
        .filter((e) => !(e.textContent.trim() || e.labels?.length || e.ariaLabel))
        .map((e) => e.outerHTML)"""
    for path in every:
        page.goto(path)
        assert page.evaluate(unnamed) == [], path


def test_sliders_say_what_a_million_would_cost(page: Page) -> None:
    page.goto("/platform/costs")
    page.fill("#whatif-fixed", "0")
    page.fill("#whatif-speed", "594")
    page.fill("#whatif-revenue", "10")
    page.fill("#whatif-price", "6.5")
    page.fill("#whatif-slider", "50")

    expect(page.locator("#whatif-cost")).to_have_text("6.08 USD")
    expect(page.locator("#whatif-margin")).to_have_text("39.2 %")
    expect(page.locator("#whatif-even")).to_have_text("30.4 %")
    page.fill("#whatif-slider", "100")
    expect(page.locator("#whatif-cost")).to_have_text("3.04 USD")
    assert page.locator("figure[data-table='whatif-table'] canvas").count() == 1


def test_axe_finds_nothing_serious(page: Page, every: list[str]) -> None:
    axe = (resources.files("axe_playwright_python") / "axe.min.js").read_text("utf-8")
    serious = """axe.run().then((found) => found.violations
        .filter((each) => ['serious', 'critical'].includes(each.impact))
        .map((each) => [each.id, each.nodes[0].html]))"""
    for path in every:
        page.goto(path)
        page.evaluate(axe)
        assert page.evaluate(serious) == [], path


def test_the_engines_page_is_live(page: Page) -> None:
    page.goto("/platform/engines")
    expect(page.locator("#how")).to_have_text("every second, live")
    expect(page.locator("[data-live$='.state']")).to_have_text("ready")
    expect(page.locator("polyline").first).to_have_attribute("points", re.compile(r"^\d+,"))


def test_the_engines_page_asks_where_there_is_no_socket(page: Page) -> None:
    page.add_init_script("window.WebSocket = class extends EventTarget {}")
    page.goto("/platform/engines")
    expect(page.locator("#how")).to_have_text("every second, by asking")


def test_a_passkey_signs_in(product: Running, browser: Browser) -> None:
    """Browsers know passkeys for names alone: localhost, not 127.0.0.1."""
    known = access.read(product.plan.data / access.FILE)
    assert known.password
    base = product.base.replace("127.0.0.1", "localhost")
    with context(browser, base, DESK, "light") as visit:
        visit.set_default_timeout(60_000)
        page = visit.new_page()
        keys = visit.new_cdp_session(page)
        keys.send("WebAuthn.enable")
        keys.send("WebAuthn.addVirtualAuthenticator", {"options": AUTHENTICATOR})
        sign_in(page, known.username, known.password)
        page.goto("/account/passkeys/add")
        page.fill("#id_password", known.password)
        page.click("button:text('Confirm')")
        page.check("#id_passwordless")
        page.click("button:text('Add it')")
        expect(page.locator("h1")).to_have_text("Recovery codes")

        visit.clear_cookies()
        page.goto("/console/login")
        page.click("text=Sign in with a passkey")
        expect(page.locator("h1")).to_have_text("Default")

        page.goto("/account/passkeys")
        page.click("text=remove…")
        if "/confirm" in page.url:
            page.fill("#id_password", known.password)
            page.click("button:text('Confirm')")
        page.click("button:text('Remove it')")
        expect(page.locator("main")).to_contain_text("No passkey yet")
