"""Jobs in a folder: whole or not there, each taken once, and none that ends a worker."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Empty
from typing import Any

import pytest
from kombu import Connection

from ttsapp import folder_queue

QUEUE = "celery"
JOB = {"body": "W10=", "headers": {"task": "alerts.deliver"}}


def channel_of(folder: Path) -> Any:
    options = {
        "data_folder_in": str(folder),
        "data_folder_out": str(folder),
        "control_folder": str(folder / "control"),
    }
    return Connection("folder://", transport_options=options).channel()


@pytest.fixture
def channel(tmp_path: Path) -> Iterator[Any]:
    folder_queue.register()
    opened = channel_of(tmp_path)
    yield opened
    opened.close()


def nothing_left(folder: Path) -> bool:
    return [path for path in folder.iterdir() if path.is_file()] == []


def test_jobs_come_in_their_order(channel: Any, tmp_path: Path) -> None:
    for number in range(3):
        channel._put(QUEUE, JOB | {"number": number})
    assert [channel._get(QUEUE)["number"] for _ in range(3)] == [0, 1, 2]
    assert nothing_left(tmp_path)


def test_a_job_is_not_there_until_it_is_whole(
    channel: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever looks while it is written sees none, and gets all of it afterwards."""
    seen: list[str] = []
    real = Path.rename

    def looked_at(self: Path, target: Path) -> Path:
        if self.suffix == ".part":
            with pytest.raises(Empty):
                channel._get(QUEUE)
            seen.append(self.name)
        return real(self, target)

    monkeypatch.setattr(Path, "rename", looked_at)
    channel._put(QUEUE, JOB)
    assert len(seen) == 1
    assert channel._get(QUEUE) == JOB


def test_a_job_of_another_queue(channel: Any) -> None:
    channel._put("other", JOB)
    with pytest.raises(Empty):
        channel._get(QUEUE)
    assert channel._get("other") == JOB


@pytest.mark.parametrize("written", ["", '{"body": "W1'])
def test_a_job_that_cannot_be_read_is_dropped(channel: Any, tmp_path: Path, written: str) -> None:
    (tmp_path / f"{0:020}_broken.{QUEUE}.msg").write_text(written)
    channel._put(QUEUE, JOB)
    assert channel._get(QUEUE) == JOB
    assert nothing_left(tmp_path)


def test_each_job_is_taken_once(channel: Any, tmp_path: Path) -> None:
    """By four readers at a time, while two write."""
    count = 200

    def write(first: int) -> None:
        writer = channel_of(tmp_path)
        for number in range(first, count, 2):
            writer._put(QUEUE, JOB | {"number": number})

    def read(_: int) -> list[int]:
        reader, found = channel_of(tmp_path), []
        while len(found) < count // 4:
            try:
                found.append(reader._get(QUEUE)["number"])
            except Empty:
                continue
        return found

    with ThreadPoolExecutor(6) as pool:
        writing = [pool.submit(write, first) for first in range(2)]
        found = [number for taken in pool.map(read, range(4)) for number in taken]
    assert [one.result() for one in writing] == [None, None]
    assert sorted(found) == list(range(count))
    assert nothing_left(tmp_path)
