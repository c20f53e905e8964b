"""Postgres as Django has it, with a pool that is well again as soon as the server is."""

from __future__ import annotations

from typing import Any

from django.db.backends.postgresql import base
from psycopg import Error
from psycopg_pool import ConnectionPool

# A server that cuts each connection as it is made is away.
TRIES = 3


class DatabaseWrapper(base.DatabaseWrapper):
    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """One that answers. Where one was cut, all of the pool's were, as by a restart: they are
        made anew. The pool's own check waits a second, two and four between those that it finds."""
        for _ in range(TRIES):
            connection = super().get_new_connection(conn_params)
            if self.pool is None or _answers(connection):
                break
            self.pool.putconn(connection)
            self.pool.drain()
        return connection


def _answers(connection: Any) -> bool:
    try:
        ConnectionPool.check_connection(connection)
    except Error:
        return False
    return True
