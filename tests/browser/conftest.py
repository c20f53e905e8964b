"""One product and one browser for the tests of a file, and a person who is signed in."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.chromium import DESK, chromium, context, sign_in
from tests.product.running import Running
from ttsapp.launch import access
from ttsapp.launch.plan import ROOT

# Of a machine that has much else to do; what does not come at all comes no sooner.
PATIENCE = 120_000
expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="session")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with Running(tmp_path_factory.mktemp("browser")) as running:
        yield running


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """No longer than a file: its event loop runs in the tests' thread, where others want theirs."""
    with chromium() as running:
        yield running


@pytest.fixture(scope="session")
def every(product: Running) -> list[str]:
    """The addresses of all pages, with something to show on each."""
    run = subprocess.run(
        [sys.executable, "-m", "tests.browser.furnished"],
        cwd=ROOT,
        env={**product.environment, **product.plan.environment()},
        stdout=subprocess.PIPE,
        check=True,
    )
    return [*json.loads(run.stdout.splitlines()[-1]).values()]


@pytest.fixture(params=[DESK], ids=["desk"])
def page(product: Running, browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    """Signed in. Whatever the browser complains of, a broken policy above all, fails the test."""
    complaints: list[str] = []
    with context(browser, product.base, request.param, "light") as visit:
        visit.set_default_timeout(PATIENCE)
        page = visit.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        known = access.read(product.plan.data / access.FILE)
        assert known.password
        sign_in(page, known.username, known.password)
        yield page
    assert complaints == []
