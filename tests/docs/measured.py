"""Writes stored figures into the README: `python -m tests.docs.measured` after a benchmark."""

from __future__ import annotations

import json
import re
from typing import Any

from tests.docs.pages import ROOT

README = ROOT / "README.md"
BLOCK = re.compile(r"<!-- measured: (\S+) -->\n(.*?)<!-- end -->", re.DOTALL)


def table(result: dict[str, Any]) -> str:
    """One row a promise, then what it was measured on."""
    rows = [("promise", "limit", "measured", ""), ("---", "---", "---", "---")]
    rows += [row(line) for line in result["targets"]]
    machine = result["machine"]
    on = f"{machine['processor']}, {machine['cores']} cores, GPU: {machine['gpu']}"
    at = f"commit {machine['commit']}, {machine['at'][:10]}"
    at += f", load average before: {machine['load_average'][0]}"
    lines = [f"| {' | '.join(cells)} |" for cells in rows]
    return "\n".join([*lines, "", f"{on}; {at}.", ""])


def row(line: dict[str, Any]) -> tuple[str, str, str, str]:
    limit, measured = (figure(line[name], line["unit"]) for name in ("limit", "measured"))
    verdict = "kept" if line["measured"] <= line["limit"] else "**missed**"
    return line["name"], limit, measured, verdict


def figure(value: float, unit: str) -> str:
    return f"{value:.3g} {unit}".strip()


def rewritten(page: str) -> str:
    """The page with each block's figures replaced by the stored ones."""

    def fill(match: re.Match[str]) -> str:
        result = json.loads((ROOT / match[1]).read_text("utf-8"))
        return f"<!-- measured: {match[1]} -->\n{table(result)}<!-- end -->"

    return BLOCK.sub(fill, page)


if __name__ == "__main__":
    README.write_text(rewritten(README.read_text("utf-8")), "utf-8")
