"""Brings the database up to date and makes what a first start needs. Prints one JSON object."""

from __future__ import annotations

import django
from django.core.management import call_command

if __name__ == "__main__":
    django.setup()
    call_command("migrate", verbosity=0, interactive=False)
    call_command("bootstrap", "--json")
