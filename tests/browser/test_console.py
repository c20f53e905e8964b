"""The console as a person meets it: a real browser, and the real engine behind it."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from importlib import resources

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.chromium import DESK, PHONE, context, needs_chromium, sign_in
from tests.product.running import Running
from ttsapp.launch import access

pytestmark = [needs_chromium, pytest.mark.timeout(1200)]

ROOT = "/console/default"
PARTS = 8
DESK_LISTS = ("/platform/alerts", "/platform/tenants", "/platform/overview")
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


@pytest.mark.parametrize("width", [1280, 1440, 1920])
def test_no_list_is_scrolled_sideways_on_a_desk(page: Page, every: list[str], width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    wide = []
    for path in (*DESK_LISTS, *(f"{ROOT}/{name}" for name in ("keys", "requests", "alerts"))):
        page.goto(path)
        excess = page.evaluate(
            "Math.max(0, ...[...document.querySelectorAll('.scroll')]"
            ".map((each) => each.scrollWidth - each.clientWidth))"
        )
        wide += [(path, excess)] if excess else []
    assert wide == []


@pytest.mark.parametrize("page", [PHONE], ids=["phone"], indirect=True)
def test_one_day_of_costs_is_a_dot_that_is_seen(page: Page, every: list[str]) -> None:
    # Today may have seen no sale yet.
    day = datetime.now(UTC).date() - timedelta(days=3)
    page.goto(f"/platform/costs?since={day}&until={day}")
    inked = """() => {
        const ink = document.createElement("canvas").getContext("2d");
        ink.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--accent");
        ink.fillRect(0, 0, 1, 1);
        const [red, green, blue] = ink.getImageData(0, 0, 1, 1).data;
        const plot = document.querySelector("figure[data-table='days-table'] canvas");
        const all = plot.getContext("2d").getImageData(0, 0, plot.width, plot.height).data;
        return all.filter((value, place) => place % 4 === 0 && value === red
            && all[place + 1] === green && all[place + 2] === blue).length;
    }"""
    assert page.evaluate(inked) > 40
    # Its axis has half a day on both sides.
    where = f"/platform/costs?since={day}&until={day}"
    written: list[str] = []
    page.expose_function("write", lambda text: written.append(text))
    page.add_init_script(
        "const fill = CanvasRenderingContext2D.prototype.fillText;"
        "CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {"
        " if (/^\\d{4}-/.test(text)) write(text); fill.call(this, text, ...rest); }"
    )
    page.goto(where)
    page.wait_for_timeout(500)
    assert f"{day}" in written
    assert set(written) <= {f"{day + timedelta(days=beside)}" for beside in (-1, 0, 1)}


@pytest.mark.parametrize("page", [PHONE], ids=["phone"], indirect=True)
def test_what_opens_in_a_card_stands_beside_its_name(page: Page, every: list[str]) -> None:
    page.goto(next(path for path in every if re.fullmatch(rf"{ROOT}/webhooks/\d+", path)))
    page.get_by_role("button", name="Send a test").click()
    cell = page.locator("td[data-label=Sent]").first
    name, opens = cell.bounding_box(), cell.locator("details").bounding_box()
    assert name
    assert opens
    assert opens["x"] > name["x"] + 10


def test_a_request_opens_beside_the_list(page: Page, every: list[str]) -> None:
    page.goto(f"{ROOT}/requests?ended=stop&until=2099-12-31")
    page.locator("tbody a[data-drawer]").first.click()
    drawer = page.locator("dialog.drawer")
    expect(drawer.locator("h1")).to_have_text("Request")
    assert drawer.locator(".chunks rect.played").count() > 1


def test_fields_of_a_drawer_have_their_own_names(page: Page, every: list[str]) -> None:
    """Beside a page that has fields of the same ids: a role is chosen in both."""
    page.goto(f"{ROOT}/members")
    page.click("[aria-label='Change finn']")
    role = page.locator("dialog.drawer").get_by_role("combobox", name="Role")
    expect(role).to_have_value("viewer")
    role.select_option("developer")
    page.click("dialog.drawer button:text-is('Save')")
    expect(page.locator("tbody tr", has_text="finn").locator("td").first).to_have_text("developer")


@pytest.mark.parametrize(
    ("list_", "heading"),
    [("tenants", "Default"), ("invoices", "Invoice"), ("webhooks", "Webhook")],
)
def test_rows_of_the_installation_open_beside_their_list(
    page: Page, every: list[str], list_: str, heading: str
) -> None:
    page.goto(f"/platform/{list_}")
    page.locator("tbody a[data-drawer]").first.click()
    expect(page.locator("dialog.drawer h1").first).to_contain_text(heading)
    page.keyboard.press("Escape")
    expect(page.locator("dialog.drawer")).to_be_hidden()


def test_a_requests_audio_is_heard_again(page: Page, every: list[str]) -> None:
    """A second of it, which the pictures' tenant keeps."""
    page.goto(next(path for path in every if "/requests/" in path))
    seconds = page.evaluate(
        """() => new Promise((done, fail) => {
            const audio = document.querySelector("audio");
            audio.onended = () => done(audio.duration);
            audio.onerror = () => fail(audio.error.message);
            audio.play();
        })"""
    )
    assert seconds == 1.0


def test_keys_that_nobody_uses_are_shown_before_they_expire(page: Page, every: list[str]) -> None:
    page.goto(f"{ROOT}/keys")
    page.click("text=Expire keys that nobody uses…")
    drawer = page.locator("dialog.drawer")
    expect(drawer.locator("tbody th")).to_contain_text("Prototype")
    drawer.get_by_role("button", name="Expire 1 key").click()
    row = page.locator("tbody tr", has_text="Prototype")
    expect(row.locator(".pill")).to_have_text("expired")


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


# Looking at a page takes axe seconds where the machine is busy: a test does not look at all.
@pytest.mark.parametrize("part", range(PARTS))
def test_axe_finds_nothing_serious(page: Page, every: list[str], part: int) -> None:
    axe = (resources.files("axe_playwright_python") / "axe.min.js").read_text("utf-8")
    # Targets of 24 pixels are asked by WCAG 2.2, and not usually looked at.
    serious = """(only) => axe.run({ resultTypes: ["violations"], ...only,
        rules: { "target-size": { enabled: true } } }).then((found) =>
        found.violations.filter((each) => ["serious", "critical"].includes(each.impact))
        .map((each) => [each.id, each.nodes[0].html]))"""
    for path in every[part::PARTS]:
        page.emulate_media(color_scheme="light")
        page.goto(path)
        page.evaluate(axe)
        assert page.evaluate(serious, {}) == [], path
        page.emulate_media(color_scheme="dark")
        assert page.evaluate(serious, {"runOnly": ["color-contrast"]}) == [], f"{path}, dark"


def test_under_every_chart_is_its_table(page: Page, every: list[str]) -> None:
    bare = """[...document.querySelectorAll('main figure.chart')]
        .filter((each) => !each.closest('section')?.querySelector('table')
            && !each.closest('.pair')?.nextElementSibling?.querySelector('table'))
        .map((each) => each.outerHTML.slice(0, 200))"""
    charts = 0
    for path in every:
        page.goto(path)
        charts += page.locator("main figure.chart").count()
        assert page.evaluate(bare) == [], path
    assert charts >= 8


def test_times_are_the_viewers(product: Running, browser: Browser, every: list[str]) -> None:
    known = access.read(product.plan.data / access.FILE)
    assert known.password
    with browser.new_context(
        base_url=product.base, timezone_id="Asia/Kolkata", locale="en-GB"
    ) as visit:
        visit.set_default_timeout(120_000)
        page = visit.new_page()
        sign_in(page, known.username, known.password)
        page.goto(f"{ROOT}/requests")
        shown = page.locator("tbody time").first
        at = datetime.fromisoformat(str(shown.get_attribute("datetime")))
        there = at + timedelta(hours=5, minutes=30)
        expect(shown).to_have_text(f"{there:%-d %b %Y, %H:%M}")
        assert shown.get_attribute("title") == f"{at:%Y-%m-%d %H:%M:%S} UTC"


def test_the_engines_page_is_live(page: Page) -> None:
    page.goto("/platform/engines")
    expect(page.locator("#how")).to_have_text("every second, live")
    expect(page.locator("[data-live$='.state']")).to_have_text("ready")
    expect(page.locator("[data-trace]").first).to_have_attribute("d", re.compile(r"^M\d+,"))
    weights = page.locator("tr", has_text="weights").locator("[data-live$='.bytes']")
    expect(weights).to_have_text(re.compile(r"^\d+\.\d MiB$"))
    expect(page.locator("rect.weights")).to_have_attribute("width", re.compile(r"^[1-9]"))
    expect(page.locator("tr", has_text="predictor → codec")).to_have_count(1)


def test_a_capture_tells_how_far_it_is_and_gives_its_file(page: Page) -> None:
    page.goto("/platform/engines")
    page.click("text=Capture a trace…")
    form = page.locator("form[action$='/trace']")
    form.locator("[name=reason]").fill("To see how busy it is.")
    with page.expect_download() as made:
        form.locator("button").click()
        expect(form.locator("[role=status]")).to_have_text(
            re.compile(r"^Capturing: \d+ of 10 s\.$")
        )
        expect(form.locator("button")).to_be_disabled()
        expect(form.locator("progress")).to_be_visible()
    assert made.value.suggested_filename.endswith(".json.gz")
    expect(form.locator("[role=status]")).to_have_text(re.compile(r"^Captured: trace-"))
    expect(form.locator("progress")).to_be_hidden()


@pytest.mark.parametrize("page", [PHONE], ids=["phone"], indirect=True)
def test_no_table_is_scrolled_on_a_phone(page: Page, every: list[str]) -> None:
    wider = """[...document.querySelectorAll('.scroll')]
        .filter((each) => each.scrollWidth > each.clientWidth)
        .map((each) => each.getAttribute('aria-label') ?? each.getAttribute('aria-labelledby'))"""
    for path in every:
        page.goto(path)
        assert page.evaluate(wider) == [], path


@pytest.mark.parametrize("page", [PHONE], ids=["phone"], indirect=True)
def test_cells_of_a_card_have_the_names_of_their_columns(page: Page, every: list[str]) -> None:
    page.goto(f"{ROOT}/members")
    cells = page.locator("tbody tr", has_text="finn").locator("td")
    labels = [cell.get_attribute("data-label") for cell in cells.all()]
    assert labels == ["Role", "Since", "Last signed in", None]


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
        visit.set_default_timeout(120_000)
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
