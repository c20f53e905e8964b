"""What a month's budget has left: of a tenant, and of each of its keys."""

from __future__ import annotations

from dataclasses import dataclass

from ttsapp.limits.fields import LimitFields


@dataclass(frozen=True, slots=True)
class Budget:
    """Charged characters of this calendar month, UTC. `most` is None without a budget; `stops`:
    beyond it requests are refused, where a soft one only warns."""

    used: int
    most: int | None
    stops: bool

    @property
    def percent(self) -> float | None:
        return None if self.most is None else 100 * self.used / max(1, self.most)


def budget(limited: LimitFields, used: int) -> Budget:
    """By the hard limit, or by the soft one where there is no hard one."""
    hard = limited.hard_monthly_characters
    return Budget(
        used, hard if hard is not None else limited.soft_monthly_characters, hard is not None
    )
