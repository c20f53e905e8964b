"""Celery: its schedule is code, its broker is Redis or a folder."""

from __future__ import annotations

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ttsapp.settings")

app = Celery("parlance")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.conf.beat_schedule = {
    "close-orphans": {"task": "billing.close_orphans", "schedule": 300.0},
}
