"""Which stream's job runs next: pure Python, simulated in tests, timed by its caller."""

from gpu_engine.scheduler.jobs import Job, Kind, Result
from gpu_engine.scheduler.policy import RAMPS, SchedulerSettings
from gpu_engine.scheduler.scheduler import Scheduler
from gpu_engine.scheduler.stream import FRAME_S, Stage, Stream

__all__ = [
    "FRAME_S",
    "RAMPS",
    "Job",
    "Kind",
    "Result",
    "Scheduler",
    "SchedulerSettings",
    "Stage",
    "Stream",
]
