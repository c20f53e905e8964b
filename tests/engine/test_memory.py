"""What the core's memory is for, and what is left beside it."""

from __future__ import annotations

import mmap
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from gpu_engine.models.checkpoint import Checkpoint
from gpu_engine.runner import LocalDevice, Runner
from gpu_engine.runner.memory import distinct, held_for_tensors, nbytes, tensors_of
from gpu_engine.server import memory
from gpu_engine.server.memory import Meter, of_host
from tests.engine.bench import Bench, start
from tests.engine.conftest import CUSTOM

MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Box:
    inside: object


def test_views_share_their_memory() -> None:
    whole = torch.zeros(1000)
    assert nbytes(distinct([whole, whole[:10], whole.view(10, 100)])) == 4000


def test_what_was_never_touched_is_not_held() -> None:
    # given 64 MiB of addresses
    tensor = torch.empty(64 * MIB, dtype=torch.uint8)
    untouched = nbytes([tensor])

    # when the first half is written to
    tensor[: 32 * MIB] = 1

    # then that is what is held; the system may give pages of two MiB
    assert untouched <= 2 * MIB
    assert 32 * MIB <= nbytes([tensor]) <= 34 * MIB


def test_a_system_that_does_not_say_holds_it_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpu_engine.runner.memory._mincore", lambda *_: -1)
    assert nbytes([torch.empty(64 * MIB, dtype=torch.uint8)]) == 64 * MIB


def test_tensors_are_found_wherever_they_lie() -> None:
    one, two, three, layer = torch.zeros(1), torch.zeros(2), torch.zeros(3), nn.Linear(4, 5)
    found = tensors_of(Box([one, {"a": (two, "no tensor")}]), Box(Box(layer)), three[:1], one)
    assert sorted(map(_size, found)) == [1, 2, 3, 5, 20]


def test_a_host_has_nothing_captured() -> None:
    assert held_for_tensors(torch.device("cpu")) == 0


def test_parts_are_what_the_device_has(checkpoint: Callable[[str], Checkpoint]) -> None:
    device = LocalDevice(Runner(checkpoint(CUSTOM), 2, 64))
    talker = checkpoint(CUSTOM).talker
    footprint = device.footprint
    addresses = {each.untyped_storage().data_ptr() for each in footprint.weights}
    assert talker.codec_head.weight.untyped_storage().data_ptr() in addresses
    assert footprint.kv == (device.runner.kv.keys, device.runner.kv.values)
    assert any(each is device.runner.codes for each in footprint.state)
    assert footprint.graphs == 0


def test_parts_and_the_rest_are_all_that_is_held(
    checkpoint: Callable[[str], Checkpoint], monkeypatch: pytest.MonkeyPatch
) -> None:
    room = memory.Room(held=500 * MIB, free=7, total=9)
    monkeypatch.setattr(memory, "of_host", lambda: room)
    told = Meter(LocalDevice(Runner(checkpoint(CUSTOM), 2, 64))).told(0.0)
    assert tuple(told.parts) == ("weights", "kv", "state", "graphs", "voices", "rest")
    assert sum(told.parts.values()) == 500 * MIB
    assert (told.free, told.total) == (7, 9)
    assert told.parts["weights"] > 0


def test_it_is_looked_at_every_ten_seconds(
    checkpoint: Callable[[str], Checkpoint], monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = iter([memory.Room(MIB << 10, 1, 9), memory.Room(MIB << 10, 2, 9)])
    monkeypatch.setattr(memory, "of_host", lambda: next(looks))
    meter = Meter(LocalDevice(Runner(checkpoint(CUSTOM), 2, 64)))
    assert [meter.told(now).free for now in (5.0, 14.9, 15.0)] == [1, 1, 2]


def test_voices_and_keys_come_with_the_first_stream(
    checkpoint: Callable[[str], Checkpoint],
) -> None:
    bench = Bench(checkpoint(CUSTOM))
    before = bench.engine.status(0, now=0.0).memory.parts
    bench.say(start())
    after = bench.engine.status(0, now=60.0).memory.parts
    assert before["voices"] == 0
    assert after["voices"] == sum(each.nbytes for each in bench.device.kept.stats().values()) > 0
    assert after["kv"] >= before["kv"]


def test_a_host_s_room_is_the_machine_s() -> None:
    room = of_host()
    assert 0 < room.held <= room.total
    assert 0 <= room.free <= room.total
    assert room.held % mmap.PAGESIZE == 0


def test_a_container_s_room_is_what_it_may_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in (
        ("memory.max", f"{64 * MIB}\n"),
        ("memory.current", f"{40 * MIB}\n"),
        ("memory.stat", f"anon {30 * MIB}\ninactive_file {10 * MIB}\n"),
    ):
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(memory, "CGROUP", tmp_path)
    assert (of_host().free, of_host().total) == (34 * MIB, 64 * MIB)


@pytest.mark.parametrize("limit", ["max\n", f"{1 << 60}\n"], ids=["none", "more than there is"])
def test_a_container_without_a_bound_has_the_machine_s(
    limit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "memory.max").write_text(limit)
    (tmp_path / "memory.current").write_text("1\n")
    (tmp_path / "memory.stat").write_text("anon 1\n")
    monkeypatch.setattr(memory, "CGROUP", tmp_path)
    assert of_host().total == memory._machine()["MemTotal"]


def _size(tensor: Tensor) -> int:
    return tensor.untyped_storage().nbytes() // 4
