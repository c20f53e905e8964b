"""Work beside the streams: voices to encode, and streams whose words are to be looked for. It runs
while nothing else may, in time that nobody needs, and after its patience in any case."""

from __future__ import annotations

from collections import deque
from operator import itemgetter

from gpu_engine.scheduler.costs import CostModel
from gpu_engine.scheduler.jobs import Job, Kind
from gpu_engine.scheduler.policy import SchedulerSettings

ENCODE, ALIGN = Kind.ENCODE, Kind.ALIGN


class Aside:
    """`clips` are voices with the instant when each is due, the first one's next piece first;
    `alignments` are streams, and when each one's words are due."""

    def __init__(self, costs: CostModel, settings: SchedulerSettings) -> None:
        self._costs, self._settings = costs, settings
        self.clips: deque[tuple[int, float]] = deque()
        self.alignments: dict[int, float] = {}

    def add_clip(self, clip: int, now: float) -> None:
        self.clips.append((clip, now + self._settings.background_patience))

    def ask_words(self, stream_id: int, now: float, last: bool) -> None:
        chosen = self._settings
        due = now + (chosen.first_audio_target if last else chosen.background_patience)
        self.alignments[stream_id] = min(due, self.alignments.get(stream_id, due))

    def job(self, start: float | None, closed: frozenset[Kind], spare: float) -> Job | None:
        """What goes before the most urgent job, whose latest start is `start`, None without any:
        in the `spare` seconds until then, or because it has waited for longer."""
        if self.clips and ENCODE not in closed:
            clip, due = self.clips[0]
            job = Job(ENCODE, clip=clip, predicted=self._costs.expect(ENCODE, 0))
            if start is None or job.predicted < spare or due < start:
                return job
        if self.alignments and ALIGN not in closed:
            stream, due = min(self.alignments.items(), key=itemgetter(1))
            job = Job(ALIGN, stream=stream, predicted=self._costs.expect(ALIGN, 0))
            if start is None or job.predicted < spare or due < start:
                return job
        return None

    def launch(self, job: Job) -> None:
        if job.kind is ENCODE:
            self.clips.popleft()
        else:
            del self.alignments[job.stream]

    def complete(self, job: Job, more: bool, now: float) -> None:
        """`more`: the voice needs another piece."""
        if more:
            self.clips.appendleft((job.clip, now + self._settings.encode_patience))
