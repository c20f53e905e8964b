"""The system's Chromium, driven headless; tests that need it are skipped where there is none."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

PHONE, DESK = {"width": 390, "height": 844}, {"width": 1440, "height": 900}
NAMES = ("chromium", "chromium-browser", "google-chrome")
# Containers run as root, where Chromium's own sandbox cannot start; it visits our pages only.
FLAGS = ("--no-sandbox", "--autoplay-policy=no-user-gesture-required", "--disable-gpu")


def executable() -> str | None:
    return next((path for name in NAMES if (path := shutil.which(name))), None)


needs_chromium = pytest.mark.skipif(
    executable() is None, reason=f"no Chromium is installed (looked for {', '.join(NAMES)})"
)


@contextmanager
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable(), args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()


def context(browser: Browser, base: str, size: dict[str, int], scheme: str) -> BrowserContext:
    return browser.new_context(
        base_url=base,
        viewport=size,
        color_scheme=scheme,
        timezone_id="UTC",
        locale="en-GB",
        reduced_motion="reduce",
    )


def sign_in(page: Page, username: str, password: str) -> None:
    page.goto("/console/login")
    page.fill("#id_login", username)
    page.fill("#id_password", password)
    page.click("button[type=submit]")
    page.wait_for_url("**/console/*")
