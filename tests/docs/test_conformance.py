"""Every line of the conformance page names tests that there are."""

from __future__ import annotations

import re

import pytest

from tests.docs.pages import ROOT

PAGE = (ROOT / "docs" / "conformance.md").read_text("utf-8")
ROWS = [line for line in PAGE.splitlines() if line.startswith("| ") and "`tests/" in line]
TEST = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")


def test_there_are_lines() -> None:
    assert len(ROWS) == len([line for line in PAGE.splitlines() if line.startswith("| ")]) - 7


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[2:42])
def test_its_tests_exist(row: str) -> None:
    named = TEST.findall(row)
    assert named
    for file, name in named:
        text = (ROOT / file).read_text("utf-8")
        assert re.search(rf"^(async )?def {name}\(", text, re.MULTILINE), f"{file}::{name}"
