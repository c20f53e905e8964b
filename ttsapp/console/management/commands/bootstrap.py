"""First tenant, console user and API key."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from ttsapp.console.setup import Setup, bootstrap


class Command(BaseCommand):
    help = "Make the first tenant, console user and API key, where they are missing."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--tenant", default="Default", help="name of the tenant")
        parser.add_argument("--slug", default="default", help="its name in addresses")
        parser.add_argument("--username", default="admin", help="who may sign in to the console")
        parser.add_argument("--new-key", action="store_true", help="mint another API key")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        setup = bootstrap(
            options["tenant"], options["slug"], options["username"], new_key=options["new_key"]
        )
        if options["json"]:
            self.stdout.write(json.dumps(dataclasses.asdict(setup)))
        else:
            self._tell(setup)

    def _tell(self, setup: Setup) -> None:
        password = setup.password or "(as set before)"
        key = setup.key or f"(shown when it was made: {setup.key_hint}; --new-key makes another)"
        self.stdout.write(f"tenant    {setup.tenant}")
        self.stdout.write(f"console   {setup.username} / {password}")
        if setup.is_superuser:
            self.stdout.write("          an administrator: may see and change every tenant")
        self.stdout.write(f"API key   {key}")
