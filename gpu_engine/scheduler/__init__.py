"""Which stream's job runs next: pure Python, simulated in tests, timed by its caller."""

from gpu_engine.scheduler.costs import CostModel, Measured
from gpu_engine.scheduler.jobs import Booked, Job, Kind, Result
from gpu_engine.scheduler.policy import RAMPS, SchedulerSettings
from gpu_engine.scheduler.scheduler import Scheduler
from gpu_engine.scheduler.stream import FRAME_S, BooksError, Ended, Stage, Stream
from gpu_engine.scheduler.trace import Recorder, replay

__all__ = [
    "FRAME_S",
    "RAMPS",
    "Booked",
    "BooksError",
    "CostModel",
    "Ended",
    "Job",
    "Kind",
    "Measured",
    "Recorder",
    "Result",
    "Scheduler",
    "SchedulerSettings",
    "Stage",
    "Stream",
    "replay",
]
