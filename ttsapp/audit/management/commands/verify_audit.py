"""Whether anything of the audit log was changed or taken away."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ttsapp.audit import selectors


class Command(BaseCommand):
    help = "Check the hash chains of the audit log; fails where one does not fit."

    def handle(self, *args: Any, **options: Any) -> None:
        found = list(selectors.breaks())
        for each in found:
            self.stdout.write(f"{each.scope} {each.day} row {each.sequence}: {each.why}")
        if found:
            raise CommandError(f"{len(found)} days do not fit")
        self.stdout.write(f"{selectors.chain_count()} chains fit")
