"""Figures and gates, from clips whose transcripts are given."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.speech.gates import gates
from tests.speech.report import Clip, kinds, rate, shared, summary

CLIP = Clip(0, "plain", "A red boat.", "a red boat", "clara", "a red boat", 1.0, False, 3.2)
SPEED = {"cpu_rtf": 0.17, "load_average": 0.1}


@pytest.mark.parametrize(
    ("heard", "errors"),
    [("a red boat", 0), ("a bread boat", 1), ("red boat", 1), ("a red old boat", 1), ("", 3)],
)
def test_errors_are_words_put_in_left_out_or_changed(heard: str, errors: int) -> None:
    assert replace(CLIP, heard=heard).errors == errors


def test_the_rate_weighs_words_not_clips() -> None:
    long = replace(CLIP, expected="one two three four five six seven", heard="")
    assert rate([CLIP, long]) == 0.7


def test_a_summary_rates_only_what_was_rated() -> None:
    found = summary([CLIP, replace(CLIP, heard="a red coat", dnsmos=None, is_wrong_length=True)])
    assert (found["clips"], found["exact"], found["wrong_length"]) == (2, 1, 1)
    assert (found["rated"], found["dnsmos"]) == (1, 3.2)


def test_conditions_are_compared_by_the_sentences_that_both_have() -> None:
    clips = {"full": [CLIP, replace(CLIP, number=1)], "streaming": [replace(CLIP, number=1)]}
    assert [each.number for each in shared(clips, "full", "streaming")["full"]] == [1]


def test_a_kind_shows_what_was_heard_instead() -> None:
    worse = replace(CLIP, heard="a bread boat")
    clips = {"teacher": [CLIP], "codec": [], "full": [worse], "streaming": []}
    (row,) = kinds(clips)
    assert row["mistakes"] == [["red", "bread"]]
    assert (row["teacher"], row["codec"], row["full"]) == (0.0, None, 0.3333)


def many(clip: Clip) -> list[Clip]:
    return [replace(clip, number=number) for number in range(40)]


def verdicts(**clips: list[Clip]) -> dict[str, bool | None]:
    every = {"teacher": [], "codec": [], "full": [CLIP], "streaming": [], **clips}
    return {gate.name: gate.holds for gate in gates(every, None, SPEED, None)}


def test_a_gate_without_a_measurement_is_not_judged() -> None:
    found = verdicts()
    assert found["codec alone: word errors"] is None
    assert found["layouts apart, word errors"] is None
    assert found["clones: likeness to their reference"] is None


def test_one_word_in_twelve_is_too_many() -> None:
    words = " ".join(["boat"] * 12)
    heard = " ".join(["boat"] * 11)
    found = verdicts(full=[replace(CLIP, expected=words, heard=heard)])
    assert found["word errors, one clip at a time"] is False


def test_the_codec_may_cost_three_points() -> None:
    words = " ".join(["boat"] * 100)
    teacher = replace(CLIP, expected=words, heard=words)
    three, four = (replace(teacher, heard=" ".join(["boat"] * (100 - n))) for n in (3, 4))
    name = "codec alone: word errors"
    assert verdicts(teacher=many(teacher), codec=many(three))[name] is True
    assert verdicts(teacher=many(teacher), codec=many(four))[name] is False


def test_a_few_clips_judge_nothing() -> None:
    found = verdicts(teacher=many(CLIP)[:39], codec=many(CLIP)[:39], streaming=[CLIP])
    assert found["codec alone: word errors"] is None
    assert found["layouts apart, word errors"] is None


def test_layouts_may_be_two_points_apart() -> None:
    words = " ".join(["boat"] * 100)
    full = replace(CLIP, expected=words, heard=words)
    name = "layouts apart, word errors"
    for missing, holds in ((2, True), (3, False)):
        streaming = replace(full, heard=" ".join(["boat"] * (100 - missing)))
        assert verdicts(full=many(full), streaming=many(streaming))[name] is holds


@pytest.mark.parametrize(("right", "holds"), [(0.9, True), (0.89, False)])
def test_descriptions_are_judged_by_sex_and_tempo_at_once(right: float, holds: bool) -> None:
    every = {"teacher": [], "codec": [], "full": [CLIP], "streaming": []}
    told = {"trials": 96, "sex_right": 0.95, "tempo_right": 0.94, "all_right": right}
    (gate,) = (g for g in gates(every, None, SPEED, None, told) if g.name.startswith("described"))
    assert (gate.measured, gate.holds) == (f"{100 * right:.1f} %", holds)
    assert gate.note == "96 trials: sex 95.0 %, tempo 94.0 %"


def test_the_first_audio_is_that_of_the_whole_product() -> None:
    local = {
        "machine": {"commit": "abc"},
        "open_loop": [{"rate": 1.0, "first_audible_ms": {"p50": 151.0}}],
    }
    every = {"teacher": [], "codec": [], "full": [CLIP], "streaming": []}
    (gate,) = (g for g in gates(every, None, SPEED, local) if g.name.startswith("first audio"))
    assert (gate.measured, gate.holds) == ("151 ms", False)
