"""The benchmark runs beside a product of its own and leaves figures that can be read again."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.product.running import PATIENCE, launch, outside
from ttsapp.launch.plan import ROOT

PNG = b"\x89PNG"


def beside(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        launch("with", "--", sys.executable, *command),
        cwd=ROOT,
        env=outside(),
        capture_output=True,
        text=True,
        timeout=2 * PATIENCE,
        check=False,
    )


def test_it_works(tmp_path: Path) -> None:
    bench = ("-m", "gpu_engine", "bench", "--seconds", "2", "--warm-up", "1")

    done = beside(*bench, "--out", str(tmp_path))

    assert done.returncode == 0, done.stderr
    result = json.loads((tmp_path / "local.json").read_text("utf-8"))
    assert result["open_loop"][0]["failed"] == 0
    assert len(result["open_loop"][0]["raw_first_audible_ms"]) == result["open_loop"][0]["requests"]
    assert [row["requests"] for row in result["together"]] == [8, 8]
    assert [line["name"] for line in result["targets"]] == [
        "first audio, p95 at 1 request/s",
        "real-time factor of one stream, worst",
        "8 streams together, underruns",
    ]
    assert {"processor", "cores", "commit", "command", "at"} <= set(result["machine"])
    assert (tmp_path / "local.png").read_bytes().startswith(PNG)


def test_the_commands_status_is_passed_on() -> None:
    asks = "import os, urllib.request as u; u.urlopen(os.environ['PARLANCE_URL'] + '/readyz')"
    done = beside("-c", f"{asks}; raise SystemExit(7)")
    assert done.returncode == 7, done.stderr
