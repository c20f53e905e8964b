"""What `make demo` says, heard by a recogniser."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.product.running import outside
from tests.speech.listening import (
    EARS,
    LARGEST_WORD_ERROR_RATE,
    LOUDEST_DBFS,
    QUIETEST_DBFS,
    ROOT,
    TOO_LONG,
    USUAL_SECONDS_A_CHARACTER,
    Recording,
    can_hear,
    hear,
    sentences,
)

pytestmark = [
    pytest.mark.speech,
    pytest.mark.timeout(600),
    pytest.mark.skipif(not can_hear(), reason=f"no recogniser at {EARS}: nothing can be heard"),
]
NUMBERS = (0, 9, 18, 27, 36)


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> list[Recording]:
    """Five unseen sentences, each by a `make demo` of its own."""
    folder = tmp_path_factory.mktemp("heard")
    return [record(number, folder) for number in NUMBERS]


def record(number: int, folder: Path) -> Recording:
    sentence, file = sentences()[number], folder / f"{number:02}.wav"
    command = ["make", "-s", "demo", f"TEXT={sentence.text}", f"OUT={file}"]
    subprocess.run(command, cwd=ROOT, env=outside(), check=True)
    return Recording(sentence, file)


@pytest.fixture(scope="module")
def report(recordings: list[Recording]) -> dict[str, Any]:
    found = hear(recordings)
    for each in recordings:
        print(each.figures(), found["clips"][each.file.name])
    print(f"WER of all: {found['wer']:.1%}")
    return found


def test_the_words_are_heard(report: dict[str, Any]) -> None:
    """Given five sentences spoken by make demo, when Whisper hears them, then few words differ."""
    assert report["wer"] <= LARGEST_WORD_ERROR_RATE


def test_none_is_empty(report: dict[str, Any]) -> None:
    assert [name for name, clip in report["clips"].items() if not clip["heard"]] == []


def test_they_take_as_long_as_people_do(recordings: list[Recording]) -> None:
    shortest = USUAL_SECONDS_A_CHARACTER / TOO_LONG
    assert [each.figures() for each in recordings if each.is_too_long] == []
    assert [each.figures() for each in recordings if each.seconds_a_character < shortest] == []


def test_they_are_neither_faint_nor_shouted(recordings: list[Recording]) -> None:
    levels = [each.level for each in recordings]
    assert min(levels) >= QUIETEST_DBFS
    assert max(levels) <= LOUDEST_DBFS


def test_spelling_is_no_error() -> None:
    written = ["It's 9:05, Dr. Grey!", "On the 3rd, 1,250 boats.", "In 1998: $12.50 or 3.25%"]
    ran = subprocess.run(
        [str(EARS), "-m", "tests.speech.words"],
        input=json.dumps(written),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    assert json.loads(ran.stdout) == [
        "its nine zero five doctor gray",
        "on the third one thousand two hundred fifty boats",
        "in nineteen ninety eight twelve dollars and fifty cents or three point two five percent",
    ]


def test_no_sample_is_clipped(recordings: list[Recording]) -> None:
    assert [each.clipped for each in recordings] == [0] * len(recordings)
