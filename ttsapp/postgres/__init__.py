"""Django's way to Postgres, with what it lacks."""
