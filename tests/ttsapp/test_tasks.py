"""Work of the worker while the database fails it."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from django.db import InterfaceError, OperationalError
from structlog.testing import capture_logs

from billing.costs import tasks as costs
from tests.ttsapp.test_database_cut import failing
from ttsapp.console import tasks as console
from ttsapp.idempotency import tasks as idempotency

TASKS = [console.note_engines, costs.note_engines, idempotency.prune]


@pytest.mark.usefixtures("alice", "engine")
@pytest.mark.parametrize("error", [OperationalError, InterfaceError])
@pytest.mark.parametrize("task", TASKS, ids=[task.name for task in TASKS])
def test_a_database_that_is_away_is_told_in_a_line(
    task: Any, error: type[Exception], caplog: pytest.LogCaptureFixture
) -> None:
    with capture_logs() as told, caplog.at_level(logging.INFO), failing(error):
        ended = task.apply()

    assert (ended.state, type(ended.result)) == ("FAILURE", error)
    assert [(line["log_level"], line["event"], line["task"]) for line in told] == [
        ("error", "the database does not answer", task.name)
    ]
    assert [record for record in caplog.records if record.exc_info] == []


def test_a_fault_of_ours_has_its_traceback(caplog: pytest.LogCaptureFixture) -> None:
    with capture_logs() as told, failing(RuntimeError):
        idempotency.prune.apply()

    assert told == []
    assert [record.levelname for record in caplog.records if record.exc_info] == ["ERROR"]
