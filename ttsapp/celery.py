"""Celery: its schedule is code, its broker is Redis or a folder."""

from __future__ import annotations

import os
from typing import Any

import structlog
from celery import Celery, Task
from celery.signals import beat_embedded_init
from django.db import InterfaceError, OperationalError

from ttsapp import folder_queue
from ttsapp.processes import end_with

log = structlog.get_logger()

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ttsapp.settings")


class Work(Task):  # type: ignore[misc]
    """What is tried again in the next round. A database that is away, or cuts a connection, is told
    in one line: there is no fault of ours that a traceback would show."""

    throws = (OperationalError, InterfaceError)

    def on_failure(self, exc: Exception, *_: Any) -> None:
        if isinstance(exc, self.throws):
            log.error("the database does not answer", task=self.name, error=repr(exc))


folder_queue.register()
app = Celery("parlance", task_cls=Work)
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.autodiscover_tasks(["billing.costs", "billing.invoices", "billing.prices"])
app.conf.beat_schedule = {
    "close-orphans": {"task": "billing.close_orphans", "schedule": 300.0},
    "issue-invoices": {"task": "billing.issue_invoices", "schedule": 3600.0},
    "note-engines": {"task": "billing.note_engines", "schedule": 60.0},
    "note-engines-for-pages": {"task": "console.note_engines", "schedule": 60.0},
    "add-up-sales": {"task": "billing.add_up_sales", "schedule": 300.0, "args": (2,)},
    "add-up-years-sales": {"task": "billing.add_up_sales", "schedule": 86_400.0, "args": (366,)},
    "make-partitions": {"task": "billing.make_partitions", "schedule": 6 * 3600.0},
    "reconcile": {"task": "billing.reconcile", "schedule": 3600.0},
    "remove-expired-audio": {"task": "speech.remove_expired", "schedule": 600.0},
    "prune-answers": {"task": "idempotency.prune", "schedule": 60.0},
    "delete-ended-voices": {"task": "voices.delete_ended", "schedule": 3600.0},
    # A round that is late is left to the next.
    "unload-deleted-voices": {
        "task": "voices.unload_deleted",
        "schedule": 2.0,
        "options": {"expires": 2.0},
    },
    "renew-outdated-voices": {"task": "voices.renew_outdated", "schedule": 120.0},
    "evaluate-alerts": {"task": "alerts.evaluate", "schedule": 60.0},
    # A round that is late is left to the next: they do not pile up behind slow receivers.
    "deliver-webhooks": {"task": "alerts.deliver", "schedule": 10.0, "options": {"expires": 10.0}},
    "remove-old-events": {"task": "billing.remove_old_events", "schedule": 24 * 3600.0},
}

# Beat is forked from the worker, after this module was imported there.
_WORKER = os.getpid()


@beat_embedded_init.connect  # type: ignore[untyped-decorator]
def _end_with_worker(**_: Any) -> None:
    end_with(_WORKER)
