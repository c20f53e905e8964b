"""`make screenshots`: the console's pages with a month of made-up use and one real take.

Runs beside a product (`python -m ttsapp.launch with`); the few that the README shows go to
docs/screenshots, all of them, both widths and schemes, to a folder given as an argument."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path

import django
from PIL import Image
from playwright.sync_api import Page

from tests.browser.chromium import DESK, PHONE, chromium, context, sign_in

TENANT = "default"
SHOWN = {  # docs/screenshots/NAME.png: page, size, scheme
    "overview": ("overview", DESK, "light"),
    "playground": ("playground", DESK, "dark"),
    "requests-phone": ("requests", PHONE, "light"),
}
PAGES = (
    *("overview", "playground", "requests", "request", "keys", "revoke", "usage", "billing"),
    *("start", "prices", "costs", "invoices", "members", "webhooks", "settings"),
    *("engines", "tenants", "alerts", "audit", "platform"),
)
OF_PLATFORM = ("prices", "costs", "invoices", "engines", "tenants", "alerts", "audit")
LARGEST = 60_000


def main(everything: Path | None) -> None:
    username, password = seed()
    folder = Path("docs/screenshots")
    folder.mkdir(exist_ok=True)
    with chromium() as browser:
        for size, width in ((DESK, 1440), (PHONE, 390)):
            for scheme in ("light", "dark"):
                with context(browser, os.environ["PARLANCE_URL"], size, scheme) as visit:
                    page = visit.new_page()
                    sign_in(page, username, password)
                    for name in PAGES:
                        show(page, name)
                        if everything:
                            file = everything / f"{name}-{width}-{scheme}.png"
                            page.screenshot(path=file, full_page=True)
                        for kept, wanted in SHOWN.items():
                            if wanted == (name, size, scheme):
                                keep(page, folder / f"{kept}.png")


def show(page: Page, name: str) -> None:
    """Leaves the page as a person would find it useful."""
    root = f"/console/{TENANT}"
    if name == "overview":
        page.goto(root)
    elif name == "request":
        page.goto(f"{root}/requests?ended=stop")
        page.click("tbody a")
    elif name == "revoke":
        page.goto(f"{root}/keys")
        page.click("text=revoke…")
    elif name == "platform":
        page.goto("/platform/overview")
    elif name in OF_PLATFORM:
        page.goto(f"/platform/{name}")
    else:
        page.goto(f"{root}/{name}")
    if name == "playground":
        page.click("text=Speak")
        page.wait_for_selector("#list a", timeout=60_000)


def keep(page: Page, file: Path) -> None:
    """Small enough for a repository: our pages have few colours."""
    with Image.open(io.BytesIO(page.screenshot())) as picture:
        picture.convert("RGB").quantize(48, dither=Image.Dither.NONE).save(file, optimize=True)
    if file.stat().st_size > LARGEST:
        raise SystemExit(f"{file} is larger than {LARGEST} bytes")


def seed() -> tuple[str, str]:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ttsapp.settings")
    django.setup()
    from tests.billing.sold import months
    from tests.ttsapp.seeded import weeks
    from ttsapp.audit.services import SYSTEM
    from ttsapp.keys.services import create_key
    from ttsapp.tenants.models import Tenant

    tenant = Tenant.objects.get(slug=TENANT)
    if not tenant.keys.filter(name="Audiobooks"):
        keys = [create_key(SYSTEM, tenant, name)[0] for name in ("Audiobooks", "Phone menu")]
        weeks(tenant, keys)
        months(tenant)
    return os.environ["PARLANCE_USERNAME"], os.environ["PARLANCE_PASSWORD"]


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
