"""The launcher's small parts, without a product."""

from __future__ import annotations

import os
import signal
import stat
import sys
from pathlib import Path

import pytest

from ttsapp.launch import access
from ttsapp.launch.demo import Spoken, check_ledger, check_length, save
from ttsapp.launch.errors import LaunchError, Stopped
from ttsapp.launch.part import Part
from ttsapp.launch.plan import LONGEST_SOCKET_PATH, Plan
from ttsapp.launch.signals import Signals

MADE = {"tenant": "default", "username": "admin", "password": "p", "key": "k", "key_hint": "k…"}
FOUND = MADE | {"password": None, "key": None}
TEXT = "Hello there."
SPOKEN = Spoken(b"\1\0" * 24_000, 0.1, 0.5, "request")
ROW = {"billed_characters": 12, "audio_ms": 1000, "finish_reason": "stop"}


def test_what_was_made_is_kept_for_later_starts(tmp_path: Path) -> None:
    file = tmp_path / access.FILE
    access.remember(file, MADE)
    access.remember(file, FOUND)

    assert access.read(file) == access.Access("default", "admin", "p", "k", "k…")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_what_nobody_kept_is_unknown(tmp_path: Path) -> None:
    access.remember(tmp_path / access.FILE, FOUND)
    assert access.read(tmp_path / access.FILE).key is None


def test_a_new_key_takes_the_old_ones_place(tmp_path: Path) -> None:
    file = tmp_path / access.FILE
    access.remember(file, MADE)
    access.remember(file, FOUND | {"key": "another"})
    assert (access.read(file).key, access.read(file).password) == ("another", "p")


def test_a_long_data_folder_has_its_socket_elsewhere(tmp_path: Path) -> None:
    deep = tmp_path / ("x" * LONGEST_SOCKET_PATH)
    assert Plan(tmp_path).engine == f"unix:{tmp_path}/engine.sock"
    assert len(Plan(deep).engine) < LONGEST_SOCKET_PATH
    assert Plan(deep).engine != Plan(deep / "y").engine


def test_an_embedded_product_leaves_services_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgres://somewhere/else")
    assert "DATABASE_URL" in Plan(tmp_path).environment()
    assert "DATABASE_URL" not in Plan(tmp_path, embedded=True).environment()


def test_a_signal_is_an_end() -> None:
    with Signals() as signals:
        os.kill(os.getpid(), signal.SIGTERM)
        with pytest.raises(Stopped):
            signals.wait(10.0)


def test_a_childs_end_wakes_the_waiter(tmp_path: Path) -> None:
    with Signals() as signals:
        part = Part("child", [sys.executable, "-c", "print('bye')"], dict(os.environ), tmp_path)
        part.start()
        while part.is_running:
            signals.wait(60.0)
    assert (part.status, part.last_words()) == (0, "bye")


def test_a_part_that_dies_over_and_over_is_given_up(tmp_path: Path) -> None:
    part = Part("child", [sys.executable, "-c", "raise SystemExit(3)"], {}, tmp_path)
    answers = []
    for _ in range(4):
        part.start()
        part.kill()
        answers.append(part.may_restart())
    assert answers == [True, True, True, False]


def test_a_plausible_length() -> None:
    check_length("x" * 100, 6.5)


@pytest.mark.parametrize("seconds", [1.9, 17.6])
def test_an_implausible_length(seconds: float) -> None:
    with pytest.raises(LaunchError, match=r"2\.0 to 17\.5 s expected"):
        check_length("x" * 100, seconds)


def test_a_ledger_that_agrees() -> None:
    check_ledger(TEXT, SPOKEN, ROW)


@pytest.mark.parametrize(
    ("field", "value"),
    [("billed_characters", 11), ("audio_ms", 999), ("finish_reason", "length")],
)
def test_a_ledger_that_does_not(field: str, value: object) -> None:
    with pytest.raises(LaunchError, match=f"{field} is {value}"):
        check_ledger(TEXT, SPOKEN, ROW | {field: value})


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(LaunchError, match="Cannot write"):
        save(SPOKEN, tmp_path / "missing" / "x.wav")
