"""Lives that were recorded once are lived again: no decision has changed unawares."""

from __future__ import annotations

import pytest

from gpu_engine.scheduler import Kind, replay
from tests.engine.recorded import LIVES, lines


@pytest.mark.parametrize("name", LIVES)
def test_a_recorded_life_is_decided_as_it_was(name: str) -> None:
    again, differing = replay(lines(name))
    assert differing == []
    again.check()


def test_the_recorded_lives_know_every_kind_of_job_and_news() -> None:
    told = "\n".join(line for name in LIVES for line in lines(name))
    assert all(f'"job":["{kind}"' in told for kind in set(Kind) - {Kind.ALIGN})
    assert all(f'"call":"{call}"' in told for call in ("extend", "cancel", "expect_prefills"))
