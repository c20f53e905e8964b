"""From nothing to the first sound, as the people of a new tenant go through it."""

from __future__ import annotations

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.chromium import DESK, context, needs_chromium
from tests.product.running import Running

pytestmark = [needs_chromium, pytest.mark.timeout(1200)]

PASSWORD = "a long enough password"


def test_a_new_tenant_is_heard(product: Running, browser: Browser, page: Page) -> None:
    """An operator makes the tenant; its owner joins, makes a key, hears a voice and calls."""
    page.goto("/platform/tenants")
    page.fill("#id_name", "Acme Audiobooks")
    page.fill("#id_slug", "acme")
    page.click("text=Create tenant")
    page.fill("#id_label", "Zoe")
    page.click("button:text('Invite an owner')")
    link = page.locator("pre", has_text="/account/invitation/").inner_text()

    with context(browser, product.base, DESK, "light") as visit:
        visit.set_default_timeout(120_000)
        owner = visit.new_page()
        owner.goto(link)
        owner.fill("#id_username", "zoe")
        owner.fill("#id_password", PASSWORD)
        owner.click("text=Make my account and join")
        expect(owner.locator("h1")).to_have_text("Acme Audiobooks")

        owner.click("nav >> text=Keys")
        owner.fill("#id_name", "First")
        owner.click("text=Create key")
        key = owner.locator("pre").first.inner_text()

        owner.click("nav >> text=Playground")
        owner.get_by_role("button", name="Speak A", exact=True).click()
        first = owner.locator("form[data-side='A'] [data-part='ended']")
        expect(first).to_have_text("stop")

        owner.click("nav >> text=Quick start")
        expect(owner.locator("main")).to_contain_text(f"export BASE={product.base}")
    body = {"model": "tts-1", "voice": "alloy", "input": "Hello from Parlance."}
    answer = httpx.post(
        f"{product.base}/v1/audio/speech",
        json=body,
        headers={"Authorization": f"Bearer {key}"},
        timeout=120,
    )
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "audio/mpeg"
