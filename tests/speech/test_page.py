"""The page of an evaluation, from two made-up clips."""

from __future__ import annotations

import re
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.speech import report
from tests.speech.clips import save
from tests.speech.gates import gates
from tests.speech.page import page

CLIP = report.Clip(
    0, "plain", "A <red> boat.", "a red boat", "clara", "a bread boat", 1.0, False, 3
)
SUMS = {"own": 0.81, "own_p5": 0.7, "others": 0.5, "own_speaker_share": 0.98}
CLONING: dict[str, Any] = {
    "checkpoint": "base",
    "trials": 2,
    "resemblyzer": SUMS,
    "ways": {"x-vector": {"trials": 1, "resemblyzer": SUMS, "encoder": SUMS}},
    "rows": [
        {
            "speaker": "0.5*a+0.5*b",
            "reference": "000.wav",
            "way": "x-vector",
            "text": "A clone.",
            "clip": "clone.wav",
            "resemblyzer": {"own": 0.81},
        }
    ],
}


@pytest.fixture
def shown(tmp_path: Path) -> str:
    teacher, work = tmp_path / "teacher", tmp_path / "work"
    tone = torch.sin(torch.arange(24_000) / 20) / 4
    for name in (
        teacher / "000.wav",
        work / "full" / "000.wav",
        tmp_path / "base-clones/clone.wav",
    ):
        name.parent.mkdir(parents=True, exist_ok=True)
        save(name, tone)
    clips = {"teacher": [CLIP], "codec": [], "full": [CLIP], "streaming": []}
    result = {
        "machine": {
            "processor": "one",
            "cores": 2,
            "load_average": [0.5],
            "at": "now",
            "commit": "abc",
            "command": "make eval-speech",
        },
        "by": "product",
        "checkpoint": "0123456789abcdef",
        "sampling": {"do_sample": False, "temperature": 0.3},
        "gates": [asdict(gate) for gate in gates(clips, CLONING, None, None)],
        "conditions": {name: report.summary(each) for name, each in clips.items()},
        "kinds": report.kinds(clips),
        "clips": report.as_rows(clips),
    }
    return page(result, CLONING, teacher, work)


def test_it_loads_nothing_from_elsewhere(shown: str) -> None:
    assert re.findall(r'(?:src|href)="(?!data:|#)[^"]*"', shown) == []
    assert "<script" not in shown


def test_gates_are_plainly_told(shown: str) -> None:
    assert "does not hold" in shown  # one word of three is wrong
    assert "not judged" in shown
    assert re.search(r"nearest to their own reference.*?holds", shown, re.DOTALL)


def test_a_text_is_text(shown: str) -> None:
    assert "A &lt;red&gt; boat." in shown
    assert "<red>" not in shown


def test_a_mistake_shows_what_was_said_and_heard(shown: str) -> None:
    assert "<s>red</s> bread" in shown


def test_players_hold_their_sound_and_picture(shown: str) -> None:
    """Given a sentence, a clone and its reference, then each has both; the worst has again."""
    assert shown.count('<audio controls preload="none" src="data:audio/mpeg;base64,') == 5
    assert shown.count('<img src="data:image/webp;base64,') == 5
