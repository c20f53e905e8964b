"""Markdown pages taken apart: fenced blocks, links, tables."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = (ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md")))
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)#\s]+)")


@dataclass(frozen=True)
class Block:
    """A fenced block; `sh` and `python` ones are meant to be run, bare ones to be read."""

    page: Path
    number: int
    language: str
    code: str

    def __str__(self) -> str:
        return f"{self.page.stem}-{self.number}"


def blocks(page: Path) -> list[Block]:
    found = _FENCE.findall(page.read_text("utf-8"))
    return [Block(page, number, *block) for number, block in enumerate(found, 1)]


def links(page: Path) -> list[str]:
    """Targets within the repository."""
    return [link for link in _LINK.findall(page.read_text("utf-8")) if "://" not in link]


def first_cells(page: Path) -> list[str]:
    """The first column of every table row, headers and rules aside."""
    lines = page.read_text("utf-8").splitlines()
    cells = [line.split("|")[1].strip() for line in lines if line.startswith("|")]
    return [cell for cell in cells if cell and not set(cell) <= {"-", ":"}]
