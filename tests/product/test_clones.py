"""`make run CLONES=1`: the package's own Base checkpoint has an engine beside the presets'."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import httpx
import pytest

from gpu_engine.assemble import assemble
from tests.product.running import PATIENCE, Running
from ttsapp.launch.plan import ROOT

SPOKEN = "The ferry left the old pier before the fog rolled in, and nobody on board looked back."


def test_a_voice_is_cloned_speaks_and_falls_silent_with_its_consent(tmp_path: Path) -> None:
    # given the product as it is started for clones
    assemble(tmp_path / "base")
    with Running(tmp_path / "data", PARLANCE_MORE_CHECKPOINTS=str(tmp_path / "base")) as product:
        client = httpx.Client(base_url=product.base, headers=product.headers, timeout=PATIENCE)
        recording = product.say(SPOKEN, voice="oscar", response_format="wav", stream=False).content
        # when a voice is made of a consent and a recording
        agreed = {"name": "Ann's", "person": "Ann Archer", "relation": "self", "purposes": "test"}
        files = {"recording": ("agrees.wav", recording)}
        consent = client.post("/v1/audio/voice_consents", data=agreed, files=files).json()["id"]
        asked = {"name": "Ann", "consent": consent}
        made = client.post(
            "/v1/audio/voices", data=asked, files={"audio_sample": ("a.wav", recording)}
        )
        assert made.status_code == 200, made.text
        # then the other engine speaks with it
        spoken = product.say(voice=made.json()["id"])
        assert (spoken.status_code, len(spoken.content) > 24_000) == (200, True)
        event = product.settled(spoken)
        assert event["billed_characters"] == event["characters"] == 23
        # and withdrawing the consent ends it within a second
        assert client.post(f"/v1/audio/voice_consents/{consent}/withdraw").status_code == 200
        time.sleep(1.0)
        refused = product.say(voice=made.json()["id"])
        assert (refused.status_code, refused.json()["error"]["code"]) == (403, "consent_withdrawn")


def test_pip_is_quiet_unless_it_fails() -> None:
    said = subprocess.run(
        ["make", "--dry-run", "--always-make", "setup-dev"],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    installs = [line for line in said.splitlines() if " install " in line]
    assert len(installs) == 4
    assert all(" --quiet " in line for line in installs)


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        (["CLONES=1"], "build/tiny-base,"),
        (["CLONES=1", "BASE=/models/base"], "/models/base,"),
        (["DESIGN=1"], "build/tiny-base,build/tiny-design,"),
        (["DESIGN=/models/design"], "build/tiny-base,/models/design,"),
        (["DESIGN=/models/design", "BASE=/models/base"], "/models/base,/models/design,"),
        (["MORE_CHECKPOINTS=/models/design"], "/models/design"),
        (["CLONES=1", "MORE_CHECKPOINTS=/models/two"], "build/tiny-base,/models/two"),
        ([], ""),
    ],
)
def test_what_make_run_starts(settings: list[str], named: str) -> None:
    run = ["make", "--dry-run", "--always-make", "run", *settings]
    # Not what this suite itself was started with.
    environment = {"PATH": os.environ["PATH"]}
    said = subprocess.run(
        run, cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    ).stdout
    assert f'--more-checkpoints "{named}"' in said
    for folder, assembled in (
        ("build/tiny-base", "gpu_engine assemble build/tiny-base"),
        ("build/tiny-design", "gpu_engine assemble --kind voice_design build/tiny-design"),
    ):
        assert (assembled in said) == (folder in named)
