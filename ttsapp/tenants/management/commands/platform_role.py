"""Who may look after the whole installation."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser

from ttsapp.audit.services import SYSTEM
from ttsapp.tenants.models import PlatformRole
from ttsapp.tenants.services import set_platform_role, take_platform_role

NONE = "none"


class Command(BaseCommand):
    help = "Give a person a role over the installation, or take it away."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("role", choices=[*PlatformRole.values, NONE])
        parser.add_argument("username")

    def handle(self, *args: Any, **options: Any) -> None:
        name = options["username"]
        user = User.objects.filter(username=name).first()
        if user is None:
            raise CommandError(f"nobody has the user name {name}")
        if options["role"] == NONE:
            take_platform_role(SYSTEM, user)
        else:
            set_platform_role(SYSTEM, user, PlatformRole(options["role"]))
