"""JSON logs on standard output: request id and key id on every line, never text or audio."""

from __future__ import annotations

import logging
import logging.config
from typing import Any

import structlog

from ttsapp.errors import BrokenStreamError

LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")

_SHARED: list[structlog.types.Processor] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
]


class HideBrokenStreams(logging.Filter):
    """A stream broken on purpose was logged where it broke: a traceback adds nothing."""

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        return not isinstance(error, BrokenStreamError)


def configuration(level: str) -> dict[str, Any]:
    """The logging dictionary; uvicorn's and Celery's loggers flow into the same handler."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "filters": {"broken": {"()": HideBrokenStreams}},
        "formatters": {
            "json": {
                "()": structlog.stdlib.ProcessorFormatter,
                "foreign_pre_chain": _SHARED,
                "processors": [
                    structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                    structlog.processors.format_exc_info,
                    structlog.processors.JSONRenderer(),
                ],
            }
        },
        "handlers": {
            "out": {
                "class": "logging.StreamHandler",
                "formatter": "json",
                "filters": ["broken"],
                "stream": "ext://sys.stdout",
            }
        },
        "root": {"handlers": ["out"], "level": level},
        "loggers": {
            "uvicorn": {"handlers": [], "level": level, "propagate": True},
            "uvicorn.error": {"handlers": [], "level": level, "propagate": True},
            "uvicorn.access": {"handlers": [], "level": "CRITICAL", "propagate": False},
            # Our own access line says the same with the request id in it.
            "django.request": {"handlers": [], "level": "ERROR", "propagate": True},
        },
    }


def configure(settings: dict[str, Any]) -> None:
    logging.config.dictConfig(settings)
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *_SHARED,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
