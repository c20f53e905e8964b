"""The web server, with the flags that streaming audio needs."""

from __future__ import annotations

from typing import Any

import structlog
import uvicorn
from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser
from uvicorn.supervisors import Multiprocess

from ttsapp.server import web

log = structlog.get_logger()


class Command(BaseCommand):
    help = "Serve the API and the console."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8000, help="0: a free one")
        parser.add_argument("--workers", type=int, default=1, help="processes, about one a core")

    def handle(self, *args: Any, **options: Any) -> None:
        names = ("host", "port", "workers")
        config = web.configuration(**{name: options[name] for name in names})
        listener = web.listener(config)
        if options["workers"] > 1 and not settings.REDIS_URL:
            log.warning(
                "each worker keeps limits by itself: set REDIS_URL", workers=options["workers"]
            )
        if options["workers"] > 1:
            Multiprocess(config, sockets=[listener]).run()
        else:
            uvicorn.Server(config).run(sockets=[listener])
