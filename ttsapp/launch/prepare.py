"""Brings the database up to date and makes what a first start needs, kept in first-run.json."""

from __future__ import annotations

import io
import json
import sys

import django
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.db import Error as DatabaseError

from ttsapp.launch import access
from ttsapp.launch.errors import LaunchError


def main() -> None:
    """Exits with one line on standard error where an option or a service is at fault."""
    try:
        django.setup()
        _check_broker()
        _prepare()
    except (ImproperlyConfigured, LaunchError) as error:
        sys.exit(f"parlance: {error}")
    except DatabaseError as error:
        sys.exit(f"parlance: the database of DATABASE_URL cannot be used: {error}")


def _prepare() -> None:
    from django.conf import settings

    call_command("migrate", verbosity=0, interactive=False)
    made = io.StringIO()
    call_command("bootstrap", "--json", stdout=made)
    access.remember(settings.DATA / access.FILE, json.loads(made.getvalue()))


def _check_broker() -> None:
    """The worker would try for ever, where nobody sees it."""
    from django.conf import settings
    from redis import Redis, RedisError

    if not settings.REDIS_URL:
        return
    try:
        with Redis.from_url(settings.REDIS_URL, socket_timeout=5, socket_connect_timeout=5) as link:
            link.ping()
    except (RedisError, ValueError, OSError) as error:
        raise LaunchError(f"the Redis of REDIS_URL cannot be used: {error}") from None


if __name__ == "__main__":
    main()
