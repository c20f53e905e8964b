"""What the last hour says of audio that was late in it: engines that are idle now may have been
full then."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ttsapp.console.live.kept import UNKNOWN, Past
from ttsapp.console.live.readings import Reading

# Of a minute's device time, in per cent; beyond it no frame is made in time for long.
BUSY, FULL = 95.0, 100.0
ELSEWHERE = (
    "The engines have room, had it in every minute of the last hour, and made no chunk late: the "
    "time is lost after them, in a web process, the database or the network."
)
NOT_KNOWN = (
    "The engines have room now; whether they had it all through the last hour nobody noted. The "
    "worker does, once a minute."
)


def reasons(engines: Sequence[Reading], past: Mapping[str, Past]) -> tuple[str, ...]:
    """Why audio was late, where no engine explains it now; never empty."""
    found = tuple(
        reason for engine in engines for reason in _of(engine, past.get(engine.id, UNKNOWN))
    )
    if found:
        return found
    is_known = all(_most(past.get(engine.id, UNKNOWN).busy) is not None for engine in engines)
    return (ELSEWHERE if is_known else NOT_KNOWN,)


def _of(engine: Reading, past: Past) -> Iterator[str]:
    streams, busy = _most(past.streams), _most(past.busy)
    if streams is not None and streams >= FULL:
        yield f"{engine.id} was full within the last hour."
    elif busy is not None and busy >= BUSY:
        yield (
            f"{engine.id} had no room left within the last hour: its device was busy {busy:.0f}% "
            "of a minute."
        )
    if late := engine.underruns_total:
        chunks = "one chunk" if late == 1 else f"{late:,} chunks"
        yield f"{engine.id} made {chunks} late since it started."


def _most(values: Sequence[float | None]) -> float | None:
    return max((value for value in values if value is not None), default=None)
