"""Which voices a cache gives up for others, and which it never does."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from gpu_engine.messages import Held
from gpu_engine.runner import cache
from gpu_engine.runner.cache import Kept

ANN, BEN, CARL = (bytes([number]) * 32 for number in (1, 2, 3))
# What a prompt begins with: text, codes (one is the preset's own), the vector's place, the clone.
RYAN, RYANS, ANNS = 77, ((1,), (5, 77, 5), None, b""), ((1,), (5,), 1, ANN)


def entry() -> list[Tensor]:
    return [torch.zeros(100, dtype=torch.uint8)]


def speakers(kept: Kept) -> list[bytes]:
    return [voice for voice in (ANN, BEN, CARL) if voice in kept.speakers]


def test_a_pinned_voice_outlives_those_used_after_it() -> None:
    kept = Kept(200)
    kept.keep(ANN, "pin")
    for voice in (ANN, BEN, CARL):
        kept.speakers.put(voice, entry())
    assert speakers(kept) == [ANN, CARL]
    assert kept.held(BEN) == Held(BEN, False, 0, 0)


def test_where_all_the_rest_is_pinned_the_newest_goes() -> None:
    kept = Kept(200)
    for voice in (ANN, BEN):
        kept.keep(voice, "pin")
        kept.speakers.put(voice, entry())
    kept.speakers.put(CARL, entry())
    assert speakers(kept) == [ANN, BEN]
    assert kept.speakers.stats.nbytes == 200


def test_pins_never_break_the_bound() -> None:
    kept = Kept(200)
    for voice in (ANN, BEN, CARL):
        kept.keep(voice, "pin")
        kept.speakers.put(voice, entry())
    assert speakers(kept) == [ANN, BEN]


def test_unloading_takes_a_voice_from_every_cache_and_nobody_elses() -> None:
    kept = Kept(1000)
    kept.keep(ANN, "pin")
    kept.speakers.put(ANN, entry())
    kept.references.put(ANN, entry())
    kept.beginnings.put(ANNS, entry())
    kept.beginnings.put(RYANS, entry())
    before, after = kept.keep(ANN, "unload")
    assert before == Held(ANN, True, 3, 300)
    assert after == Held(ANN, False, 0, 0)
    assert kept.held(RYAN) == Held(RYAN, False, 1, 100)
    assert kept.beginnings.stats.nbytes == 100


def test_a_preset_is_found_by_its_code() -> None:
    kept = Kept(1000)
    kept.beginnings.put(RYANS, entry())
    kept.beginnings.put(ANNS, entry())
    assert kept.keep(RYAN, "unload") == (Held(RYAN, False, 1, 100), Held(RYAN, False, 0, 0))
    assert kept.held(ANN) == Held(ANN, False, 1, 100)


def test_a_clone_is_found_by_its_artifact() -> None:
    kept = Kept(1000)
    kept.speakers.put(ANN, entry())
    kept.name(b"Ann's artifact", ANN, ())
    assert kept.keep(b"Ann's artifact", "pin")[1] == Held(ANN, True, 1, 100)
    assert kept.keep(b"Ann's artifact", "unload")[1] == Held(ANN, False, 0, 0)
    assert kept.keep(b"another", "unload")[0] == Held(b"another", False, 0, 0)


def test_artifacts_of_voices_that_are_gone_are_not_remembered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Those that are kept, pinned, or spoken by are."""
    monkeypatch.setattr(cache, "FEW_NAMES", 3)
    kept = Kept(1000)
    kept.pin(ANN, pinned=True)
    kept.speakers.put(BEN, entry())
    for artifact, speaker in ((b"a", ANN), (b"b", BEN), (b"c", CARL)):
        kept.name(artifact, speaker, ())
    kept.name(b"d", b"speaks", [b"waits"])
    assert [kept.speaker(each) for each in (b"a", b"b", b"c", b"d")] == [ANN, BEN, b"c", b"speaks"]


def test_what_a_barred_voice_brings_is_not_kept() -> None:
    kept = Kept(1000)
    kept.barred.add(ANN)
    assert len(kept.speakers.put(ANN, entry())) == 1
    kept.beginnings.put(ANNS, entry())
    assert kept.held(ANN) == Held(ANN, False, 0, 0)
