"""What `make run` promises about its processes: they come back, and they go."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.product.running import PATIENCE, Running, launch, outside
from tests.ttsapp.conftest import eventually
from ttsapp.launch import access
from ttsapp.launch.plan import ROOT


@pytest.fixture(autouse=True)
def whole(product: Running) -> Iterator[None]:
    """Every test leaves a product that serves."""
    yield
    if product.process.poll() is None:
        eventually(product.is_ready, PATIENCE)


def test_it_works(product: Running) -> None:
    said = product.said()

    assert f"{product.base}/v1" in said
    assert product.key in said
    assert f"export BASE={product.base} KEY={product.key}" in said
    assert "admin / " in said
    assert stat.S_IMODE((product.plan.data / access.FILE).stat().st_mode) == 0o600


def test_the_console_lets_the_printed_user_in(product: Running) -> None:
    known = access.read(product.plan.data / access.FILE)
    with httpx.Client(base_url=product.base, follow_redirects=True) as browser:
        page = browser.get("/console/").text
        token = page.split('name="csrfmiddlewaretoken" value="')[1].split('"')[0]
        form = {
            "login": known.username,
            "password": known.password,
            "csrfmiddlewaretoken": token,
        }
        page = browser.post("/console/login", data=form).text
    assert "Default" in page
    assert browser.cookies.get("sessionid")


def test_a_killed_core_means_503_and_comes_back_by_itself(product: Running) -> None:
    os.kill(product.find("gpu_engine.server.core"), signal.SIGKILL)

    def refused() -> httpx.Response | None:
        response = product.say()
        return response if response.status_code == 503 else None

    response = eventually(refused, PATIENCE)
    assert isinstance(response, httpx.Response)
    assert int(response.headers["Retry-After"]) >= 1
    assert response.json()["error"]["type"] == "server_error"
    eventually(lambda: product.say().status_code == 200, PATIENCE)


@pytest.mark.parametrize(
    ("name", "word"), [("engine", "gpu_engine serve"), ("web", "manage.py serve")]
)
def test_a_killed_part_is_reported_and_started_again(
    product: Running, name: str, word: str
) -> None:
    killed = product.find(word)
    os.kill(killed, signal.SIGKILL)

    eventually(lambda: f"{name} ended with status -9: starting it again" in product.said())
    eventually(lambda: product.is_ready() and product.find(word) != killed, PATIENCE)
    assert product.say().status_code == 200


def test_another_start_in_the_same_folder_is_refused(product: Running) -> None:
    run = second("--data", str(product.plan.data), "--port", "0")
    assert run.returncode == 1
    assert f"runs already in {product.plan.data} (process {product.process.pid})" in run.stderr


def test_a_taken_port_is_refused_before_anything_starts(product: Running, tmp_path: Path) -> None:
    run = second("--data", str(tmp_path), "--port", str(product.plan.port))
    assert run.returncode == 1
    assert f"Try PORT={product.plan.port + 1}" in run.stderr
    assert not (tmp_path / "parlance.sqlite3").exists()


def test_a_second_start_keeps_key_and_login_and_a_stop_leaves_nothing(product: Running) -> None:
    before = access.read(product.plan.data / access.FILE)
    assert product.stop(signal.SIGINT) == 0
    assert product.processes() == {}
    assert product.said().endswith("Stopping…\nParlance has stopped.\n")

    product.start()
    product.until_ready()

    assert access.read(product.plan.data / access.FILE) == before
    assert before.key is not None
    assert before.key in product.said()
    assert product.say().status_code == 200


def test_sigterm_stops_it_as_well(product: Running) -> None:
    assert product.stop(signal.SIGTERM) == 0
    assert product.processes() == {}
    product.start()
    product.until_ready()


def test_a_launcher_that_is_killed_takes_its_parts_along(product: Running) -> None:
    assert product.stop(signal.SIGKILL) == -9
    eventually(lambda: product.processes() == {}, PATIENCE)
    product.start()
    product.until_ready()


def test_launcher_and_worker_killed_together_leave_no_beat(product: Running) -> None:
    def celery() -> list[int]:
        return [pid for pid, command in product.processes().items() if "celery" in command]

    eventually(lambda: len(celery()) == 2, PATIENCE)  # the worker, and the beat that it forked
    worker = product.find("celery")
    product.process.send_signal(signal.SIGSTOP)  # or it would start another
    os.kill(worker, signal.SIGKILL)
    assert product.stop(signal.SIGKILL) == -9
    eventually(lambda: product.processes() == {}, PATIENCE)
    product.start()
    product.until_ready()


def second(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Another `run`, expected to give up at once."""
    return subprocess.run(
        launch("run", *arguments),
        cwd=ROOT,
        env=outside(),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
