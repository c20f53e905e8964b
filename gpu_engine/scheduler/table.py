"""All streams with a slot, as one array a field: a turn costs the same for one row as for many."""

from __future__ import annotations

import numpy as np

from gpu_engine.scheduler.jobs import Flags, Seconds, Slots
from gpu_engine.scheduler.stream import FRAME_S, FREE, GENERATED, LEAVING, TALK, Ended, Stream

LONGEST_RAMP = 16
NEVER = np.inf
# The clock of a listener who has heard nothing yet: behind any lead.
UNHEARD = -1e9


class Table:
    """Index = slot. Counters move when a job is launched; what depends on its outcome moves when
    that is booked.

    `known` counts the frames whose code 0 is known not to be the end: only they are decoded.
    `jobs` counts launched jobs that are not booked yet. `held` is audio that was decoded and is
    not released yet, `silent` who has heard nothing yet, `dry_at` when the listener runs out,
    `chunk` the ramp's next, `widest` its last. `unpaced` runs ahead of its listener as it likes.
    `prefills` are the prefills until the first step, `reading` says that there is more than one.
    `booked` is when a slot's last generation job was. `handicap` is by how many seconds a stream
    goes later because its tenant asks for more than others, `rank` its place among the different
    ones, `no_later` the slots without one.
    """

    def __init__(self, slots: int) -> None:
        self.stage = np.zeros(slots, np.int64)
        self.id = np.full(slots, -1, np.int64)
        self.frames = np.zeros(slots, np.int64)
        self.known = np.zeros(slots, np.int64)
        self.decoded = np.zeros(slots, np.int64)
        self.cap = np.zeros(slots, np.int64)
        self.text = np.zeros(slots, np.int64)
        self.chunks = np.zeros(slots, np.int64)
        self.prefills = np.zeros(slots, np.int64)
        self.jobs = np.zeros(slots, np.int64)
        self.underruns = np.zeros(slots, np.int64)
        self.positions = np.zeros(slots, np.int64)
        self.open_text = np.zeros(slots, np.bool_)
        self.decoding = np.zeros(slots, np.bool_)
        self.heard = np.zeros(slots, np.bool_)
        self.background = np.zeros(slots, np.bool_)
        self.paced = np.zeros(slots, np.bool_)
        self.unpaced = np.zeros(slots, np.bool_)
        self.silent = np.zeros(slots, np.bool_)
        self.reading = np.zeros(slots, np.bool_)
        self.chunk = np.ones(slots, np.int64)
        self.widest = np.ones(slots, np.int64)
        self.submitted = np.zeros(slots)
        self.arrived = np.zeros(slots)
        self.admitted = np.zeros(slots)
        self.progressed = np.zeros(slots)
        self.booked = np.zeros(slots)
        self.first_at = np.zeros(slots)
        self.dry_at = np.zeros(slots)
        self.held = np.zeros(slots)
        self.ramp = np.ones((slots, LONGEST_RAMP), np.int64)
        self.tenant = np.zeros(slots, np.int64)
        self.handicap = np.zeros(slots)
        self.rank = np.zeros(slots, np.int64)
        self.no_later = np.arange(slots)
        self.reasons: list[str] = [""] * slots

    def seat(self, slot: int, stream: Stream, tenant: int, now: float, stage: int) -> None:
        """Gives `slot` to a stream of the tenant of that number."""
        for counter in (self.frames, self.known, self.decoded, self.chunks, self.jobs):
            counter[slot] = 0
        self.underruns[slot], self.held[slot] = 0, 0.0
        self.stage[slot], self.id[slot], self.cap[slot] = stage, stream.id, stream.frame_cap
        self.text[slot], self.open_text[slot] = stream.text, not stream.text_done
        self.positions[slot] = stream.positions
        self.decoding[slot] = self.heard[slot] = False
        self.background[slot], self.paced[slot] = stream.background, stream.paced
        self.unpaced[slot] = stream.background or not stream.paced
        self.submitted[slot] = self.arrived[slot] = stream.arrived
        self.admitted[slot] = self.progressed[slot] = self.booked[slot] = now
        self.first_at[slot], self.dry_at[slot] = np.nan, UNHEARD
        self.silent[slot] = True
        self.prefills[slot], self.reading[slot] = 1, False
        steps = (stream.ramp + stream.ramp[-1:] * LONGEST_RAMP)[:LONGEST_RAMP]
        self.ramp[slot], self.chunk[slot], self.widest[slot] = steps, steps[0], steps[-1]
        self.tenant[slot], self.reasons[slot] = tenant, ""

    def extend(
        self, slot: int, text: int, done: bool, frame_cap: int, now: float, due: float
    ) -> None:
        """More text for the stream in this slot, whose next audio is wanted by `due`."""
        if self.out_of_text[slot]:
            # The client ran out of text, not we out of time: its clocks start again here.
            self.dry_at[slot] = max(self.dry_at[slot], due)
            self.arrived[slot] = self.arrived[slot] if self.heard[slot] else now
            self.booked[slot] = now
        self.text[slot] += text
        self.open_text[slot] &= not done
        self.cap[slot] = max(int(self.cap[slot]), frame_cap)

    def leave(self, slot: int) -> None:
        """Nothing more is made or decoded for the stream in this slot."""
        self.stage[slot], self.decoded[slot] = LEAVING, 0
        self.frames[slot] = self.known[slot] = 0
        self.silent[slot] = self.background[slot] = self.open_text[slot] = False
        self.reading[slot] = False

    def clear(self, slot: int) -> None:
        self.stage[slot], self.id[slot], self.positions[slot] = FREE, -1, 0

    @property
    def alive(self) -> Flags:
        """Which slots hold a stream that has not ended."""
        alive: Flags = self.stage > FREE
        return alive

    @property
    def pending(self) -> Slots:
        """Frames that may be decoded and are not."""
        pending: Slots = np.minimum(self.frames, self.known) - self.decoded
        return pending

    @property
    def out_of_text(self) -> Flags:
        """Whose next Talker step needs a trailing text token that has not arrived."""
        resting: Flags = (self.stage == TALK) & self.open_text & (self.text < self.frames)
        return resting

    @property
    def steps(self) -> Flags:
        """Whose next generation step needs nothing but time."""
        steps: Flags = (self.stage > FREE) & (self.stage < GENERATED)
        return steps > self.out_of_text if np.count_nonzero(self.open_text) else steps

    def ahead(self, now: float) -> Seconds:
        """Seconds of speech made beyond the playback clock, decoded or not; before any a number
        below every lead."""
        ahead: Seconds = self.dry_at + ((self.frames - self.decoded) * FRAME_S - now)
        return ahead

    def need(self, now: float, lead: float) -> Seconds:
        """How much of real time each slot needs now: those whose listeners are that far ahead need
        little for a while, those whose generation has ended none at all."""
        share = np.minimum(np.maximum(1.25 - self.ahead(now) / lead, 0.0), 1.0)
        need: Seconds = np.where(self.steps, share, 0.0)
        return need

    def ended(self, slot: int, reason: str) -> Ended:
        first = self.first_at[slot] - self.submitted[slot]
        return Ended(
            id=int(self.id[slot]),
            slot=slot,
            reason=reason,
            frames=int(min(self.frames[slot], self.known[slot])),
            first_audio=float(first) if self.heard[slot] else None,
            underruns=int(self.underruns[slot]),
        )
