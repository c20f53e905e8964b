"""`make screenshots`: every page of the console with a month of made-up use and real takes.

Runs beside a product (`python -m ttsapp.launch with`). The few that the README shows go to
docs/screenshots, all of them to docs/screenshots/SIZE-SCHEME, both widths and schemes."""

from __future__ import annotations

import io
import os
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, expect

from tests.browser.chromium import DESK, PHONE, chromium, context, sign_in
from tests.browser.furnished import furnish

FOLDER = Path("docs/screenshots")
SHOWN = {  # docs/screenshots/NAME.png: page, width, scheme; and how high, down to what it is about
    "overview": (("overview", 1440, "light"), 900),
    "playground": (("playground", 1440, "dark"), 1160),
    "requests-phone": (("requests", 390, "light"), 844),
}
LATELY = ("/usage", "/costs", "/costs/whose")
SETTINGS = [(size, scheme) for size in (DESK, PHONE) for scheme in ("light", "dark")]
COLOURS, LARGEST = 64, 80_000
ALL_OF_THEM = 4_400_000
# Of a long page its beginning.
HIGHEST = 1800


def main() -> None:
    pages = {
        route.removeprefix("console:").replace(":", "-"): address
        for route, address in furnish().items()
    }
    for size, scheme in SETTINGS:
        folder = FOLDER / f"{size['width']}-{scheme}"
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.iterdir():
            old.unlink()
        with chromium() as browser, context(browser, os.environ["PARLANCE_URL"], size, scheme) as v:
            page = v.new_page()
            sign_in(page, os.environ["PARLANCE_USERNAME"], os.environ["PARLANCE_PASSWORD"])
            for name, address in pages.items():
                page.set_viewport_size(size)
                show(page, address)
                for shown, (wanted, height) in SHOWN.items():
                    if wanted == (name, size["width"], scheme):
                        page.set_viewport_size({**size, "height": height})
                        keep(page, FOLDER / f"{shown}.png")
                # What sticks to the edges of a screen is as high as the page then.
                high = page.evaluate("document.scrollingElement.scrollHeight")
                page.set_viewport_size({**size, "height": min(high, HIGHEST)})
                keep(page, folder / f"{name}.webp")
    check_sizes()


def show(page: Page, address: str) -> None:
    """Leaves the page as a person would find it useful."""
    page.goto(address + (_month() if address.endswith(LATELY) else ""))
    if address.endswith("/playground"):
        page.click("#both")
        expect(page.locator("#list a")).to_have_count(2, timeout=120_000)
    if address.endswith("/engines"):
        expect(page.locator("#how")).to_contain_text("every second")
        page.wait_for_timeout(3000)


def _month() -> str:
    """Thirty days: what is usual, the month so far, may have just begun. Made-up sales end before
    the last of days."""
    until = datetime.now(UTC).date() - timedelta(days=3)
    return f"?since={until - timedelta(days=29)}&until={until}"


def keep(page: Page, file: Path) -> None:
    """Small enough for a repository: our pages have few colours."""
    with Image.open(io.BytesIO(page.screenshot())) as picture:
        few = picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
        if file.suffix == ".png":
            few.save(file, optimize=True)
        else:
            few.convert("RGB").save(file, lossless=True, quality=80, method=4)


def check_sizes() -> None:
    for name in SHOWN:
        if (FOLDER / f"{name}.png").stat().st_size > LARGEST:
            raise SystemExit(f"{name}.png is larger than {LARGEST} bytes")
    together = sum(each.stat().st_size for each in FOLDER.rglob("*.*"))
    if together > ALL_OF_THEM:
        raise SystemExit(f"the pictures have {together} bytes, {ALL_OF_THEM} are enough")


if __name__ == "__main__":
    sys.exit(main())
