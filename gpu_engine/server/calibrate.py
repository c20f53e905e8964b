"""What each job costs on this device, measured before the first client: the scheduler's start."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product

import numpy as np

from gpu_engine.runner import Device, Session, Shapes, Ticket
from gpu_engine.scheduler import Kind, Measured, SchedulerSettings

# Where nothing is captured costs grow evenly: these tell them.
SOME_ROWS, SOME_DECODES = (1, 4), ((1, 1), (1, 4), (4, 4))
TRIES = 2


def measure(device: Device, session: Callable[[], Session]) -> list[Measured]:
    """Every shape of a device that captures them, a few of one that does not. Leaves all slots
    free. `session` makes a stream of a few words."""
    shapes = device.shapes
    rows = {*shapes.prefill_rows, *shapes.step_rows, *shapes.codec_rows}
    slots = np.arange(min(shapes.slots, max(rows)))
    for slot in slots.tolist():
        device.open(slot, session())
    device.prefill(slots[:1]).wait()
    measured = [_time(*shape, device, slots, session) for shape in _shapes(shapes)]
    for slot in slots.tolist():
        device.close(slot)
    return measured


def limits(settings: SchedulerSettings, shapes: Shapes) -> SchedulerSettings:
    """The settings within what the device can take."""
    return replace(
        settings,
        slots=shapes.slots,
        positions=shapes.positions,
        page=shapes.page,
        prefill_rows=shapes.prefill_rows[-1],
        step_rows=shapes.step_rows[-1],
        codec_rows=shapes.codec_rows[-1],
        longest_chunk=shapes.codec_frames[-1],
    )


def _shapes(shapes: Shapes) -> Iterator[tuple[Kind, int, int]]:
    captured = shapes.overlapped
    for rows in shapes.prefill_rows if captured else (1,):
        yield Kind.PREFILL, rows, 0
    for rows in shapes.step_rows if captured else sorted({min(n, shapes.slots) for n in SOME_ROWS}):
        yield Kind.PREDICTOR, rows, 0
        yield Kind.TALKER, rows, 0
    decodes = product(shapes.codec_rows, shapes.codec_frames) if captured else SOME_DECODES
    for rows, frames in decodes:
        yield Kind.CODEC, min(rows, shapes.slots), frames


def _time(
    kind: Kind,
    rows: int,
    frames: int,
    device: Device,
    slots: np.ndarray,
    session: Callable[[], Session],
) -> Measured:
    def prefill(chosen: np.ndarray) -> Ticket:
        for slot in chosen.tolist():
            device.close(slot)
            device.open(slot, session())
        return device.prefill(chosen)

    launch: dict[Kind, Callable[[np.ndarray], Ticket]] = {
        Kind.PREFILL: prefill,
        Kind.PREDICTOR: device.predict,
        Kind.TALKER: device.talk,
        Kind.CODEC: lambda chosen: device.decode(chosen, frames),
    }
    taken = [launch[kind](slots[:rows]).wait().seconds for _ in range(TRIES)]
    return Measured(kind, rows, frames, min(taken))
