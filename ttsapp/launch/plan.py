"""Where a product keeps its things, and the command lines of its parts."""

from __future__ import annotations

import errno
import hashlib
import os
import socket
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from ttsapp.launch.errors import LaunchError

ROOT = Path(__file__).resolve().parent.parent.parent
# The kernel's limit for a socket's path is 108 bytes.
LONGEST_SOCKET_PATH = 100


@dataclass(frozen=True, slots=True)
class Plan:
    """One product: its data folder and address. `more_checkpoints` have an engine each beside that
    of `checkpoint`. `embedded` leaves outside services alone."""

    data: Path
    host: str = "127.0.0.1"
    port: int = 8000
    workers: int = 1
    checkpoint: str = ""
    more_checkpoints: tuple[str, ...] = ()
    device: str = "auto"
    embedded: bool = False

    @property
    def url(self) -> str:
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)
        return f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"

    @property
    def logs(self) -> Path:
        return self.data / "logs"

    @property
    def engines(self) -> dict[str, str]:
        """Their gRPC targets, and the checkpoint of each; an empty one is the package's own."""
        names = ["engine", *(f"engine-{2 + n}" for n in range(len(self.more_checkpoints)))]
        checkpoints = [self.checkpoint, *self.more_checkpoints]
        return dict(zip(map(self._socket, names), checkpoints, strict=True))

    def _socket(self, name: str) -> str:
        """In the data folder, elsewhere where that is too long."""
        file = self.data / f"{name}.sock"
        if len(str(file)) > LONGEST_SOCKET_PATH:
            digest = hashlib.sha256(str(file).encode()).hexdigest()[:16]
            file = Path(tempfile.gettempdir()) / f"parlance-{digest}.sock"
        return f"unix:{file}"

    def environment(self) -> dict[str, str]:
        """The caller's, plus where things are."""
        left_out = {"DATABASE_URL", "REDIS_URL"} if self.embedded else set()
        kept = {name: value for name, value in os.environ.items() if name not in left_out}
        return {
            **kept,
            "DJANGO_SETTINGS_MODULE": "ttsapp.settings",
            "PARLANCE_DATA": str(self.data),
            "PARLANCE_ENGINE": ",".join(self.engines),
        }

    def prepare_command(self) -> list[str]:
        return [sys.executable, "-m", "ttsapp.launch.prepare"]

    def engine_commands(self) -> list[list[str]]:
        command = [sys.executable, "-m", "gpu_engine", "serve", "--device", self.device]
        return [
            [*command, "--listen", target, *(["--checkpoint", folder] if folder else [])]
            for target, folder in self.engines.items()
        ]

    def web_command(self) -> list[str]:
        where = ["--host", self.host, "--port", str(self.port), "--workers", str(self.workers)]
        return [sys.executable, "manage.py", "serve", *where]

    def worker_command(self) -> list[str]:
        """Celery with its own beat: one process group does the periodic work."""
        schedule = str(self.data / "beat-schedule")
        command = [sys.executable, "-m", "celery", "-A", "ttsapp.celery", "worker"]
        return [*command, "--pool", "solo", "--beat", "--schedule", schedule]


def free_port(host: str = "127.0.0.1") -> int:
    """A port that nobody listens on now. Raises LaunchError for a host that is not here."""
    return _bound(host, 0)


def check_port(host: str, port: int) -> None:
    """Raises LaunchError where somebody else listens."""
    _bound(host, port)


def _bound(host: str, port: int) -> int:
    if not host:
        raise LaunchError("HOST is empty: 127.0.0.1 is this machine alone, 0.0.0.0 every interface")
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except (OSError, UnicodeError) as error:
            raise LaunchError(_cannot_bind(host, port, error)) from None
        bound: int = probe.getsockname()[1]
        return bound


def _cannot_bind(host: str, port: int, error: OSError | UnicodeError) -> str:
    reason = getattr(error, "strerror", None) or str(error)
    if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
        return f"Port {port} on {host} cannot be used ({reason}). Try PORT={port % 65535 + 1}."
    if isinstance(error, PermissionError):
        return f"Port {port} on {host} cannot be used ({reason}). Try PORT=8000."
    return f"HOST={host} cannot be listened on ({reason}). Try HOST=127.0.0.1."
