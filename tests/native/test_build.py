"""Compiled once; without a compiler PyTorch does the work."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gpu_engine.models.checkpoint import Checkpoint
from gpu_engine.native import NativeRunner, build, library
from gpu_engine.runner import Runner
from gpu_engine.server.loading import build_runner
from gpu_engine.server.settings import EngineSettings


@pytest.fixture(autouse=True)
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    library.cache_clear()
    yield
    library.cache_clear()


def built(folder: Path) -> list[Path]:
    return sorted(folder.glob("parlance/*"))


def test_it_works(tmp_path: Path, shipped: Checkpoint) -> None:
    if library() is None:
        pytest.skip("no C compiler")
    [first] = built(tmp_path)
    before = first.stat().st_mtime_ns
    library.cache_clear()
    assert library() is not None
    assert [(file, file.stat().st_mtime_ns) for file in built(tmp_path)] == [(first, before)]
    assert isinstance(build_runner(shipped, 2, 128, EngineSettings("")), NativeRunner)


def test_whoever_asks_for_pytorch_gets_it(tmp_path: Path, shipped: Checkpoint) -> None:
    assert type(build_runner(shipped, 2, 128, EngineSettings("", kernels="torch"))) is Runner
    assert built(tmp_path) == []


def test_without_a_compiler(
    tmp_path: Path, shipped: Checkpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build.shutil, "which", lambda name: None)
    assert library() is None
    assert type(build_runner(shipped, 2, 128, EngineSettings(""))) is Runner


def test_a_compiler_that_fails_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "FLAGS", ("--no-such-option",))
    assert library() is None
    assert built(tmp_path) == []


def test_a_home_that_cannot_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/nowhere")
    folder = build._cache()
    assert folder.name.startswith("parlance-kernels-")
    folder.rmdir()
