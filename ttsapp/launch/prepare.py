"""Brings the database up to date and makes what a first start needs, kept in first-run.json."""

from __future__ import annotations

import io
import json

import django
from django.conf import settings
from django.core.management import call_command

from ttsapp.launch import access


def main() -> None:
    django.setup()
    call_command("migrate", verbosity=0, interactive=False)
    made = io.StringIO()
    call_command("bootstrap", "--json", stdout=made)
    access.remember(settings.DATA / access.FILE, json.loads(made.getvalue()))


if __name__ == "__main__":
    main()
