"""The launcher's small parts, without a product."""

from __future__ import annotations

import fcntl
import io
import os
import signal
import stat
import sys
import tempfile
from pathlib import Path

import pytest
from rich.console import Console

from ttsapp.launch import access
from ttsapp.launch.__main__ import parser
from ttsapp.launch.demo import Spoken, check_ledger, check_length, save
from ttsapp.launch.errors import LaunchError, Stopped
from ttsapp.launch.part import Part
from ttsapp.launch.plan import LONGEST_SOCKET_PATH, Plan, check_port, free_port
from ttsapp.launch.product import TEMPORARY, remove_abandoned
from ttsapp.launch.signals import Signals
from ttsapp.launch.welcome import welcome

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
    assert Plan(tmp_path).engines == {f"unix:{tmp_path}/engine.sock": ""}
    [target] = Plan(deep).engines
    assert len(target) < LONGEST_SOCKET_PATH
    assert [target] != list(Plan(deep / "y").engines)


def test_each_checkpoint_has_an_engine(tmp_path: Path) -> None:
    plan = Plan(tmp_path, more_checkpoints=("/models/base", "/models/design"))
    sockets = [f"unix:{tmp_path}/{name}.sock" for name in ("engine", "engine-2", "engine-3")]
    assert plan.environment()["PARLANCE_ENGINE"] == ",".join(sockets)
    assert [command[-1] for command in plan.engine_commands()] == [
        sockets[0],
        "/models/base",
        "/models/design",
    ]


def test_an_embedded_product_leaves_services_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgres://somewhere/else")
    assert "DATABASE_URL" in Plan(tmp_path).environment()
    assert "DATABASE_URL" not in Plan(tmp_path, embedded=True).environment()


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:8000"),
        ("0.0.0.0", "http://127.0.0.1:8000"),
        ("::1", "http://[::1]:8000"),
        ("::", "http://[::1]:8000"),
    ],
)
def test_the_address_that_people_are_told(tmp_path: Path, host: str, url: str) -> None:
    assert Plan(tmp_path, host).url == url


def test_a_free_port_on_each_kind_of_address() -> None:
    assert free_port("127.0.0.1") > 0


@pytest.mark.parametrize(
    ("host", "said"),
    [
        ("", "HOST is empty"),
        ("nowhere.invalid", "HOST=nowhere.invalid cannot be listened on"),
        ("x" * 300, "Try HOST=127.0.0.1"),
        ("2001:db8::1", "HOST=2001:db8::1 cannot be listened on"),
    ],
)
def test_a_host_that_is_not_here(host: str, said: str) -> None:
    with pytest.raises(LaunchError, match=said):
        check_port(host, 8000)


@pytest.mark.parametrize("port", ["99999", "-1", "http", "8.5", ""])
def test_an_impossible_port(port: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parser().parse_args(["run", f"--port={port}"])
    assert "is not a whole number from 0 to 65535" in capsys.readouterr().err


def test_no_web_process(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parser().parse_args(["run", "--workers=0"])
    assert "'0' is not a whole number from 1 to 256" in capsys.readouterr().err


@pytest.mark.parametrize("content", ["", "[]", '{"tenant": "default"}', "{"])
def test_a_damaged_first_run_file_is_named(tmp_path: Path, content: str) -> None:
    file = tmp_path / access.FILE
    file.write_text(content)
    with pytest.raises(LaunchError, match=f"{file} cannot be read .*: delete it"):
        access.read(file)


def test_people_are_given_two_variables_and_a_line_that_uses_them(tmp_path: Path) -> None:
    console = Console(file=io.StringIO(), width=500)
    console.print(welcome(Plan(tmp_path), access.Access(**MADE), 1.0))
    said = console.file.getvalue()
    assert "export BASE=http://127.0.0.1:8000 KEY=k\n" in said
    assert 'curl -sS --fail "$BASE/v1/audio/speech" -H "Authorization: Bearer $KEY"' in said


def test_who_has_lost_the_key_is_told_how_to_make_another(tmp_path: Path) -> None:
    console = Console(file=io.StringIO(), width=500)
    console.print(welcome(Plan(tmp_path), access.Access(**FOUND), 1.0))
    said = console.file.getvalue()
    assert "export BASE=http://127.0.0.1:8000 KEY=YOUR_KEY\n" in said
    assert f"PARLANCE_DATA={tmp_path} {sys.executable} manage.py bootstrap --new-key" in said


def test_what_killed_products_left_behind_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    dead, alive = (tmp_path / f"{TEMPORARY}{name}" for name in ("dead", "alive"))
    for folder in (dead, alive):
        folder.mkdir()
        (folder / "run.lock").touch()
    with (alive / "run.lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        remove_abandoned()
    assert list(tmp_path.iterdir()) == [alive]


def test_a_killed_part_leaves_no_temporary_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    part = Part("child", [sys.executable, "-c", "import time; time.sleep(60)"], {}, tmp_path)
    part.start()
    assert part._process is not None
    folder = tmp_path / f"parlance-{part._process.pid}-abc"
    folder.mkdir()
    part.kill()
    assert not folder.exists()


def test_last_words_are_of_the_last_life(tmp_path: Path) -> None:
    (tmp_path / "child.log").write_text("an earlier start\n")
    part = Part("child", [sys.executable, "-c", "print('bye')"], {}, tmp_path)
    part.start()
    assert part._process is not None
    part._process.wait()
    assert part.last_words() == "bye"


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
