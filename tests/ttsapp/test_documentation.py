"""The lines of docs/ that a reader is invited to run, run."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from django.conf import settings

from tests.ttsapp.conftest import Party
from ttsapp.keys.secrets import PATTERN

TENANTS = Path(settings.BASE_DIR, "docs", "tenants.md").read_text("utf-8")
ADMINS = Path(settings.BASE_DIR, "docs", "admins.md").read_text("utf-8")
BLOCKS = re.findall(r"```sh\n(.*?)```", TENANTS, re.DOTALL)


def run(block: str, base: str, party: Party, folder: Path) -> str:
    environ = {**os.environ, "BASE": base, "KEY": party.secret}
    shell = ["bash", "-euo", "pipefail", "-c", block]
    done = subprocess.run(
        shell, cwd=folder, env=environ, capture_output=True, text=True, check=True, timeout=30
    )
    return done.stdout


@pytest.mark.parametrize("place", range(len(BLOCKS)))
def test_every_example_runs(base: str, alice: Party, tmp_path: Path, place: int) -> None:
    out = run(BLOCKS[place], base, alice, tmp_path)
    assert out or (tmp_path / "hello.mp3").stat().st_size > 1000


def test_the_example_of_the_finish_reason_tells_it(base: str, alice: Party, tmp_path: Path) -> None:
    block = next(block for block in BLOCKS if "requests/$ID" in block)
    assert json.loads(run(block, base, alice, tmp_path))["finish_reason"] == "stop"


def test_the_pattern_for_scanners_is_the_keys_own() -> None:
    published = re.search(r"parl_\(live\|test\).*", TENANTS)
    plain = PATTERN.pattern.replace("(", "").replace(")", "").replace("{43}[0-9A-Za-z]", "{44}")
    assert published is not None
    assert published[0].replace("(", "").replace(")", "") == plain


def test_every_option_is_documented() -> None:
    source = Path(settings.BASE_DIR, "ttsapp", "settings.py").read_text("utf-8")
    names = set(re.findall(r'environment\.\w+\(\s*"(\w+)"', source))
    assert len(names) >= 14
    assert {name for name in names if f"`{name}`" not in ADMINS} == set()
