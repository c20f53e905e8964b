"""What the environment may say, and what stops the start."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from ttsapp import environment
from ttsapp.databases import configuration


@pytest.mark.parametrize("value", ["1", "true", "TRUE", "yes", " on "])
def test_true(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("X", value)
    assert environment.flag("X") is True


@pytest.mark.parametrize("value", ["0", "false", "No", "off"])
def test_false(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("X", value)
    assert environment.flag("X", default=True) is False


@pytest.mark.parametrize("value", ["2", "ture", "enabled", "none"])
def test_an_odd_boolean_stops_the_start(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("X", value)
    with pytest.raises(ImproperlyConfigured, match="X="):
        environment.flag("X")


@pytest.mark.parametrize("value", ["-1", "0", "1.5", "many", "10", "9" * 20, "9" * 9999])
def test_an_odd_number_stops_the_start(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("X", value)
    with pytest.raises(
        ImproperlyConfigured, match=r"^X=.{1,60} is not a whole number from 1 to 9$"
    ):
        environment.number("X", 5, most=9)


def test_a_currency_has_three_letters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("X", " eur ")
    assert environment.currency("X", "USD") == "EUR"
    monkeypatch.setenv("X", "Euro")
    with pytest.raises(ImproperlyConfigured, match=r"^X='EURO' is no currency"):
        environment.currency("X", "USD")


def test_a_file_that_is_not_there_stops_the_start(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("X", str(tmp_path / "font.ttf"))
    with pytest.raises(ImproperlyConfigured, match=r"is no file$"):
        environment.file("X")


def test_the_bounds_of_a_number_are_in_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("X", "9")
    assert environment.number("X", 5, most=9) == 9
    monkeypatch.setenv("X", "86400")
    assert environment.seconds("X", 5) == 86_400


@pytest.mark.parametrize("value", ["x", "x" * 99, "abcdefgh", "a" * 31])
def test_a_weak_secret_stops_the_start_unseen(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("X", value)
    with pytest.raises(ImproperlyConfigured) as caught:
        environment.secret("X")
    said = "X must have at least 32 characters, 5 of them different: a long random text"
    assert str(caught.value) == said


@pytest.mark.parametrize("value", ["http://tts.example", "tts.example:8000", "tts.example/", "a b"])
def test_an_odd_host_stops_the_start(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("X", f"good.example, {value}")
    with pytest.raises(ImproperlyConfigured, match=f"X: '{value}' is no host name: leave out"):
        environment.hosts("X")


def test_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("X", "tts.example, .example, *, 192.0.2.7, [2001:db8::1]")
    found = ["tts.example", ".example", "*", "192.0.2.7", "[2001:db8::1]"]
    assert environment.hosts("X") == found


@pytest.mark.parametrize("value", ["foo://bar", "engine", "engine:0", "engine:70000", "a b:1"])
def test_an_odd_target_stops_the_start(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("X", value)
    with pytest.raises(ImproperlyConfigured, match=f"X='{value}' is neither unix:/path nor host"):
        environment.targets("X", "")


@pytest.mark.parametrize(
    "value",
    ["unix:/x.sock", "unix:///x.sock", "engine:50051", "[::1]:50051", "dns:///engine:1", "dns:1"],
)
def test_targets(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("X", value)
    assert environment.targets("X", "") == (value,)


def test_several_targets_are_taken_each_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("X", "unix:/x.sock, engine:50051,unix:/x.sock")
    assert environment.targets("X", "") == ("unix:/x.sock", "engine:50051")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("redis://u:hush@h:abc/0", "X must name a host, and a port from 1 to 65535 if any"),
        ("redis://u:hush@h:70000", "X must name a host, and a port from 1 to 65535 if any"),
        ("redis://u:hush@h:0", "X must name a host, and a port from 1 to 65535 if any"),
        ("redis://u:hush@:1/0", "X must name a host, and a port from 1 to 65535 if any"),
        ("redis://u:hush@[h/0", "X must name a host, and a port from 1 to 65535 if any"),
        ("redis://u:hush@h/zero", "X must end in the number of a database, or in none"),
    ],
)
def test_an_address_of_no_place_stops_the_start(
    monkeypatch: pytest.MonkeyPatch, value: str, said: str
) -> None:
    monkeypatch.setenv("X", value)
    with pytest.raises(ImproperlyConfigured) as caught:
        environment.url("X", ("redis",))
    assert str(caught.value) == said


@pytest.mark.parametrize("value", ["redis://h", "redis://:p@h:1/0", "unix:///x.sock?db=1"])
def test_addresses(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("X", value)
    assert environment.url("X", ("redis", "unix")) == value


def test_a_choice_in_any_case(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("X", " info ")
    assert environment.choice("X", ("INFO", "DEBUG"), "DEBUG") == "INFO"


def test_an_unknown_choice_stops_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("X", "loud")
    with pytest.raises(ImproperlyConfigured, match="X='LOUD' is none of INFO, DEBUG"):
        environment.choice("X", ("INFO", "DEBUG"), "DEBUG")


@pytest.mark.parametrize("value", ["localhost:6379", "http://x", "redis://", "redis:x"])
def test_an_odd_address_stops_the_start(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("X", value)
    with pytest.raises(ImproperlyConfigured, match="X must begin with one of redis://"):
        environment.url("X", ("redis",))


def test_a_file_where_the_folder_should_be_stops_the_start(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "file"
    file.touch()
    monkeypatch.setenv("X", str(file))
    with pytest.raises(ImproperlyConfigured, match=f"X={file}: File exists"):
        environment.folder("X", tmp_path)


@pytest.mark.parametrize(
    "url", ["mysql://x/y", "postgres://u:secret@h:abc/x", "postgres://u:secret@[h/x"]
)
def test_an_odd_database_address_stops_the_start_without_its_password(
    tmp_path: Path, url: str
) -> None:
    with pytest.raises(ImproperlyConfigured, match="DATABASE_URL: ") as caught:
        configuration(url, tmp_path, 4)
    assert "secret" not in str(caught.value)


def test_an_empty_kept_secret_stops_the_start(tmp_path: Path) -> None:
    file = tmp_path / "secret.key"
    file.write_text("\n")
    with pytest.raises(ImproperlyConfigured, match=f"{file} is empty: delete it"):
        environment.kept_secret(file)


def test_commands_name_the_option_at_fault_in_one_line() -> None:
    run = subprocess.run(
        [sys.executable, "manage.py", "check"],
        cwd=settings.BASE_DIR,
        env={**os.environ, "PARLANCE_HTTPS": "maybe"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 1
    assert run.stderr == "parlance: PARLANCE_HTTPS='maybe' is neither true nor false\n"


def test_a_secret_from_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("hush\n")
    monkeypatch.setenv("X_FILE", str(tmp_path / "secret"))
    assert environment.text("X") == "hush"


def test_a_secret_from_two_places_stops_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("X", "a")
    monkeypatch.setenv("X_FILE", "b")
    with pytest.raises(ImproperlyConfigured, match="not both"):
        environment.text("X")


def test_a_missing_secret_file_stops_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("X_FILE", "/nowhere")
    with pytest.raises(ImproperlyConfigured, match="X_FILE"):
        environment.text("X")


def test_the_kept_secret_is_made_once_for_its_owner_only(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "secret.key"
    first = environment.kept_secret(file)
    assert environment.kept_secret(file) == first
    assert len(first) >= 50
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_without_a_url_the_database_is_a_file(tmp_path: Path) -> None:
    entry = configuration("", tmp_path, 4)
    assert entry["NAME"] == tmp_path / "parlance.sqlite3"
    assert entry["OPTIONS"]["transaction_mode"] == "IMMEDIATE"
    assert "journal_mode=WAL" in entry["OPTIONS"]["init_command"]


def test_a_postgres_url(tmp_path: Path) -> None:
    entry = configuration("postgres://us%40er:p%2Fw@db:5433/name?sslmode=require", tmp_path, 4)
    assert (entry["USER"], entry["PASSWORD"]) == ("us@er", "p/w")
    assert (entry["HOST"], entry["PORT"], entry["NAME"]) == ("db", "5433", "name")
    assert entry["OPTIONS"]["sslmode"] == "require"
    assert entry["OPTIONS"]["pool"]["max_size"] == 12


def test_another_database_stops_the_start(tmp_path: Path) -> None:
    with pytest.raises(ImproperlyConfigured, match="mysql"):
        configuration("mysql://db/name", tmp_path, 4)


def test_the_databases_options_took_effect(transactional_db: None) -> None:
    from django.db import connection

    if connection.vendor != "sqlite":
        pytest.skip("only SQLite has a journal mode")
    with connection.cursor() as cursor:
        assert cursor.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert cursor.execute("PRAGMA busy_timeout").fetchone() == (20_000,)


def start(tmp_path: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    code = (
        "from django.conf import settings as s;"
        "print(s.SESSION_COOKIE_SECURE, s.SECURE_HSTS_SECONDS, s.ALLOWED_HOSTS[3:],"
        " s.CHANNEL_LAYERS['default']['BACKEND'].split('.')[-1], s.CELERY_BROKER_URL)"
    )
    environ = {
        **{name: value for name, value in os.environ.items() if name not in ("REDIS_URL",)},
        "DJANGO_SETTINGS_MODULE": "ttsapp.settings",
        "PARLANCE_DATA": str(tmp_path),
        **variables,
    }
    command = [sys.executable, "-c", code]
    return subprocess.run(command, env=environ, capture_output=True, text=True, check=False)


def test_the_embedded_default(tmp_path: Path) -> None:
    assert start(tmp_path).stdout == "False 0 [] InMemoryChannelLayer folder://\n"


def test_behind_https_on_a_server(tmp_path: Path) -> None:
    result = start(
        tmp_path,
        PARLANCE_HTTPS="yes",
        PARLANCE_ALLOWED_HOSTS="tts.example.com, other.example.com",
        REDIS_URL="redis://redis:6379/0",
    )
    assert result.stdout == (
        "True 31536000 ['tts.example.com', 'other.example.com'] "
        "RedisPubSubChannelLayer redis://redis:6379/0\n"
    )


def test_an_odd_flag_is_named_at_the_start(tmp_path: Path) -> None:
    assert "PARLANCE_HTTPS='maybe'" in start(tmp_path, PARLANCE_HTTPS="maybe").stderr


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PARLANCE_MAX_STREAM_SECONDS", "99999999999999999999"),
        ("PARLANCE_MAX_INPUT_CHARACTERS", "1000000000"),
        ("PARLANCE_DATABASE_THREADS", "100000000"),
        ("PARLANCE_SECRET_KEY", "x"),
        ("REDIS_URL", "redis://localhost:port"),
        ("PARLANCE_ALLOWED_HOSTS", "https://tts.example.com"),
        ("PARLANCE_ENGINE", "foo://bar"),
    ],
)
def test_an_absurd_option_is_named_at_the_start(tmp_path: Path, name: str, value: str) -> None:
    last = start(tmp_path, **{name: value}).stderr.splitlines()[-1]
    assert last.startswith(f"django.core.exceptions.ImproperlyConfigured: {name}")


def test_nothing_is_served_in_debug_mode() -> None:
    assert settings.DEBUG is False
