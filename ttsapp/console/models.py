"""What the console itself has to remember."""

from __future__ import annotations

from django.db import models


class SignInAttempt(models.Model):
    """An attempt to sign in that has not succeeded, kept for as long as it counts."""

    at = models.DateTimeField()
    username = models.CharField(max_length=150)
    address = models.CharField(max_length=50)

    class Meta:
        indexes = (
            models.Index(fields=["address", "at"], name="attempts_by_address"),
            models.Index(fields=["at"], name="attempts_by_time"),
        )

    def __str__(self) -> str:
        return f"{self.username} from {self.address}"
