"""What the pages tell people to type works as they stand there, against a running product."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.pages import PAGES, ROOT, Block, blocks
from tests.product.running import Running

BLOCKS = [block for page in PAGES for block in blocks(page)]
SHELL = [block for block in BLOCKS if block.language == "sh"]
PYTHON = [block for block in BLOCKS if block.language == "python"]
# What belongs to whoever starts the suite, not to the checkout that a reader has.
NOT_LINKED = (".git", "var")


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with Running(tmp_path_factory.mktemp("docs")) as running:
        yield running


@pytest.fixture
def reader(product: Running, tmp_path: Path) -> dict[str, str]:
    """The environment of a reader who has exported what the pages say. The folder looks like the
    checkout, but files that commands write stay in it."""
    for entry in ROOT.iterdir():
        if entry.name not in NOT_LINKED:
            (tmp_path / entry.name).symlink_to(entry)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    told = {"BASE": product.base, "KEY": product.key, "PATH": path}
    return {**product.plan.environment(), **told}


def type_in(command: list[str], code: str, reader: dict[str, str], folder: Path) -> None:
    done = subprocess.run(
        command, input=code, cwd=folder, env=reader, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{code}\n{done.stdout}\n{done.stderr}"


def test_there_is_something_to_run() -> None:
    pages = {block.page.name for block in SHELL}
    assert {"README.md", "operators.md", "tenants.md"} <= pages


@pytest.mark.parametrize("block", SHELL, ids=str)
def test_a_shell_block(block: Block, reader: dict[str, str], tmp_path: Path) -> None:
    type_in(["bash", "-euo", "pipefail"], block.code, reader, tmp_path)


@pytest.mark.parametrize("block", PYTHON, ids=str)
def test_a_python_block(block: Block, reader: dict[str, str], tmp_path: Path) -> None:
    type_in([sys.executable, "-"], block.code, reader, tmp_path)
