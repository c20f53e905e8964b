"""What each tenant asks of the device and has used of it, and what that leaves to one's burst."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from gpu_engine.scheduler.jobs import Flags
from gpu_engine.scheduler.outlook import Outlook
from gpu_engine.scheduler.policy import SchedulerSettings
from gpu_engine.scheduler.stream import Stream
from gpu_engine.scheduler.table import Table
from gpu_engine.scheduler.waiting import WaitingRoom

ROOM = 64
# Leads and claims change as time passes: they are looked at again after that, news or not.
REFRESH_S = 0.05
FORGOTTEN = 0.5
# With so many more than lately each may come at once: one left a small engine without a slot.
NEWCOMERS = 2
# Fewer streams at once than that part of what fits are no burst: three beside one are nothing to a
# device that has 256.
LEAST_BURST = 0.125
SLOTS, TIME = 0, 1
ALIKE = np.zeros(1)
UNBOUNDED = math.inf, math.inf

Streams = NDArray[np.float64]


class Tenants:
    """Index = a tenant's number, until it is forgotten; `table.tenant` names it by slot.

    A tenant *holds* slots and real time, each in streams. Its *claim* is the most that it held and
    waited for, fading: who speaks now and then keeps room for its next stream. `used` are the
    frames that it asked for, fading too, `asked` the streams that it asks for at once. While
    several have claims the device is `shared`, `uneven` where one asks for more than the others,
    who then goes later by its *handicap*, in seconds: `levels` are the different ones, in order,
    0 the first.
    """

    def __init__(
        self, table: Table, waiting: WaitingRoom, outlook: Outlook, settings: SchedulerSettings
    ) -> None:
        self._table, self._waiting = table, waiting
        self._outlook, self._settings = outlook, settings
        self._numbers: dict[str, int] = {}
        self._unused = list(range(ROOM))[::-1]
        self._share, self._used, self._handicap = np.ones(ROOM), np.zeros(ROOM), np.zeros(ROOM)
        self._asked = np.zeros(ROOM)
        self._holds, self._claims = np.zeros((2, ROOM)), np.zeros((2, ROOM))
        self._most = UNBOUNDED
        self.levels = ALIKE
        self.version = 0
        self._looked = 0.0
        self.stale = True
        """Streams have come or gone since it last looked."""
        self.shared = self.uneven = False

    def number(self, stream: Stream) -> int:
        """Its tenant's, with the share that this has now."""
        self.stale = True
        number = self.find(stream.tenant)
        if number < 0:
            number = self._numbers[stream.tenant] = self._next()
        self._share[number] = stream.share
        return number

    def find(self, tenant: str) -> int:
        """A tenant's number, -1 where it has none."""
        return self._numbers.get(tenant, -1)

    def charge(self, stream: Stream) -> None:
        """A stream has come."""
        number = self.number(stream)
        if not stream.background:
            self._used[number] += stream.frame_cap

    def handicap(self, stream: Stream) -> float:
        number = self.find(stream.tenant)
        return 0.0 if number < 0 else float(self._handicap[number])

    def holds_nothing(self, stream: Stream) -> bool:
        number = self.find(stream.tenant)
        return number < 0 or not self._holds[SLOTS, number]

    def most(self, stream: Stream) -> tuple[float, float]:
        """Slots and time that its tenant may hold so that others find the room that they claim: one
        stream's in any case, and of time what it likes while it has used less than others."""
        slots, seconds = (max(1.0, level * stream.share) for level in self._most)
        return slots, seconds if self.handicap(stream) else math.inf

    def allows(self, stream: Stream) -> bool:
        """True where its tenant may have one more. Background work has bounds of its own."""
        if stream.background or self.holds_nothing(stream):
            return True
        held = self._holds[:, self._numbers[stream.tenant]].tolist()
        return all(
            holds + 1.0 <= most + 1e-9 for holds, most in zip(held, self.most(stream), strict=True)
        )

    def refresh(self, now: float) -> None:
        """Follows the table; cheap while nobody has come or gone."""
        if not self.stale and now - self._looked < REFRESH_S:
            return
        fade = math.exp((self._looked - now) / self._settings.claim_fades)
        self.stale, self._looked = False, now
        self.version += 1
        present = self._count(now, fade)
        claiming = self._claims[SLOTS] > 0
        present |= claiming
        # Somebody's background work stands before first frames too.
        self.shared = bool(claiming.any()) and int(np.count_nonzero(present)) > 1
        several = int(np.count_nonzero(claiming)) > 1
        self._handicap = self._judge(claiming) if several else np.zeros(len(claiming))
        self._tell()
        self._most = self._levels(claiming) if several else UNBOUNDED
        self._forget(present)

    def _count(self, now: float, fade: float) -> Flags:
        """What everybody holds, claims and has used; and who has a stream that has not ended."""
        t, size = self._table, len(self._share)
        alive = t.alive
        speaking = alive > t.background
        self._holds[SLOTS] = np.bincount(t.tenant, speaking, size)
        self._holds[TIME] = np.bincount(
            t.tenant, speaking * t.need(now, self._settings.busy_lead), size
        )
        asked = self._holds.copy()
        for name, streams in self._waiting.interactive.tenants.items():
            asked[:, self._numbers[name]] += len(streams)
        self._asked = asked[SLOTS]
        self._used *= fade
        self._claims = np.maximum(asked, self._claims * fade)
        self._claims *= self._claims[SLOTS] >= FORGOTTEN
        return np.bincount(t.tenant, alive, size) > 0

    def _tell(self) -> None:
        """Each slot's handicap, so that a turn need not look them up."""
        t, handicap = self._table, self._handicap
        self.uneven = bool(np.count_nonzero(handicap))
        self.levels = ALIKE
        t.handicap = handicap[t.tenant]
        if self.uneven:
            self.levels = np.array(sorted({0.0, *handicap.tolist()}))
            t.rank = self.levels.searchsorted(t.handicap)
            t.no_later = (t.rank == 0).nonzero()[0]

    def _levels(self, claiming: Flags) -> tuple[float, float]:
        """Slots and time a share that each may hold."""
        shares = self._share[claiming].tolist()
        slots, seconds = (self._claims[:, claiming] + NEWCOMERS).tolist()
        return (
            level(self._settings.slots, slots, shares),
            level(self._outlook.fits_even, seconds, shares),
        )

    def _judge(self, claiming: Flags) -> Streams:
        """Later by so much for each doubling of what the others used, a share, on average, and of
        what they ask for at once: a burst that has just begun has used little yet, and who speaks
        steadily one after the other has used much."""
        chosen, burst = self._settings, max(1.0, self._outlook.fits_even * LEAST_BURST)
        doublings = self._doublings(self._used, claiming, 1.0)
        doublings += self._doublings(self._asked, claiming, burst)
        later = np.maximum(0.0, chosen.handicap * doublings)
        judged: Streams = np.minimum(later, chosen.longest_handicap)
        return judged

    def _doublings(self, amounts: Streams, claiming: Flags, least: float) -> Streams:
        """Each one's amount beside the others', a share, on average; nobody's counts as less than
        the least."""
        amount, share = amounts * claiming, self._share * claiming
        others = (amount.sum() - amount) / np.maximum(1e-9, share.sum() - share)
        own = np.maximum(least, amount / self._share)
        found: Streams = np.log2(own / np.maximum(least, others)) * claiming
        return found

    def _forget(self, present: Flags) -> None:
        if len(self._numbers) == np.count_nonzero(present):
            return
        gone = [name for name, number in self._numbers.items() if not present[number]]
        for name in gone:
            number = self._numbers.pop(name)
            self._used[number] = 0.0
            self._unused.append(number)

    def _next(self) -> int:
        if not self._unused:
            size = len(self._share)
            self._unused = list(range(size, 2 * size))[::-1]
            self._share = np.concatenate([self._share, np.ones(size)])
            self._used = np.concatenate([self._used, np.zeros(size)])
            self._handicap = np.concatenate([self._handicap, np.zeros(size)])
            wider = np.zeros((2, size))
            self._holds = np.concatenate([self._holds, wider], 1)
            self._claims = np.concatenate([self._claims, wider], 1)
        return self._unused.pop()


def level(room: float, claims: Iterable[float], shares: Iterable[float]) -> float:
    """Streams a share: who claims less has its claim, all others that, and the room is used up."""
    asked = [(claim / share, claim, share) for claim, share in zip(claims, shares, strict=True)]
    left, weight = float(room), sum(share for _, _, share in asked)
    # Claims that exceed the room by a rounding error alone bound nobody.
    if sum(claim for _, claim, _ in asked) <= room:
        return math.inf
    for _, claim, share in sorted(asked):
        if left / weight * share < claim:
            return max(0.0, left / weight)
        left -= claim
        weight -= share
    return math.inf
