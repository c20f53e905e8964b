"""Words in the engine: the shipped aligner listens to the shipped checkpoint."""

from __future__ import annotations

from pathlib import Path

import pytest

import gpu_engine
from gpu_engine import messages as m
from gpu_engine.align import Aligner
from gpu_engine.align.folder import SHIPPED, aligner_folder
from gpu_engine.align.load import load_aligner
from gpu_engine.errors import CheckpointError, InvalidRequest
from gpu_engine.models.checkpoint import Checkpoint, load_checkpoint
from gpu_engine.proto import engine_pb2 as pb
from gpu_engine.scheduler import Kind
from tests.engine.bench import TEXT, Bench, Heard, start

TINY = Path(gpu_engine.__file__).parent / "assets" / "tiny"
CLARA = pb.Voice(preset="clara")


@pytest.fixture(scope="module")
def speaking() -> Checkpoint:
    return load_checkpoint(TINY)


@pytest.fixture(scope="module")
def aligner() -> Aligner:
    return load_aligner(SHIPPED)


@pytest.fixture
def bench(speaking: Checkpoint, aligner: Aligner) -> Bench:
    return Bench(speaking, aligner)


def asked(text: str = TEXT, **fields: object) -> pb.Start:
    usual = {"word_times": True, "max_frames": 100, "keep_silence": False}
    return start(text, CLARA, **(usual | fields))


def names(heard: Heard, text: str = TEXT) -> list[str]:
    return [text[first:end] for first, end, _, _ in heard.words]


def test_it_works(bench: Bench) -> None:
    """Each word once, in order, inside the audio, and not all of them at the end."""
    number = bench.submit(asked())
    while bench.engine.live:
        bench.turn()
    heard = bench.heard[number]
    assert heard.end is None
    early = len(heard.words)
    bench.run()
    assert heard.finished.reason == "stop"
    assert names(heard) == TEXT.split()
    assert 0 < early < len(heard.words)
    marks = [mark for _, _, *times in heard.words for mark in times]
    assert marks == sorted(marks)
    assert marks[0] >= 0
    assert marks[-1] <= heard.finished.samples
    assert bench.engine.counters[Kind.ALIGN].steps > 1


def test_words_change_nothing_of_the_audio(bench: Bench) -> None:
    told, untold = bench.say_together(asked(), asked(word_times=False))
    assert told.pcm == untold.pcm
    assert untold.words == []


def test_a_slot_is_free_before_the_last_words_are_told(bench: Bench) -> None:
    bench.submit(asked())
    while bench.engine.live:
        bench.turn()
    assert len(bench.engine.captions) == 1
    assert len(bench.scheduler.free) == 4


def test_a_growing_text_has_its_words_told(bench: Bench) -> None:
    opening = asked(layout=pb.TEXT_LAYOUT_STREAMING)
    begins, rest = TEXT[:13], TEXT[13:]
    submit = bench.desk.submit(1, opening, begins, done=False)
    bench.heard[1] = Heard()
    bench.engine.handle(submit, bench.now)
    bench.engine.handle(bench.desk.extend(submit, opening, TEXT, rest, True), bench.now)
    bench.run()
    assert names(bench.heard[1]) == TEXT.split()


def test_a_stream_that_is_cut_tells_the_words_that_were_spoken(bench: Bench) -> None:
    heard = bench.say(asked(max_frames=20))
    assert heard.finished.reason == "length"
    assert 0 < len(heard.words) < len(TEXT.split())
    assert names(heard) == TEXT.split()[: len(heard.words)]


def test_a_cancelled_stream_ends_without_its_words(bench: Bench) -> None:
    number = bench.submit(asked())
    while not bench.heard[number].pcm:
        bench.turn()
    bench.engine.handle(m.CancelStream(number), bench.now)
    heard = bench.heard[number]
    assert (heard.finished.reason, heard.words) == ("cancelled", [])
    assert bench.scheduler.alignments == {}
    bench.run()


def test_a_client_that_leaves_behind_the_audio_gets_its_end_at_once(bench: Bench) -> None:
    number = bench.submit(asked())
    while bench.engine.live:
        bench.turn()
    bench.engine.handle(m.CancelStream(number), bench.now)
    assert bench.heard[number].finished.reason == "stop"
    bench.engine.check()


def test_words_in_a_language_without_are_refused(bench: Bench) -> None:
    with pytest.raises(InvalidRequest, match="told in english, not in german") as refused:
        bench.desk.check(asked(language="german"))
    assert refused.value.field == "word_times"


def test_words_without_an_aligner_are_refused(speaking: Checkpoint) -> None:
    with pytest.raises(InvalidRequest, match="start it with --aligner") as refused:
        Bench(speaking).desk.check(asked())
    assert refused.value.field == "word_times"


def test_the_checkpoints_own_aligner_comes_first(tmp_path: Path) -> None:
    assert aligner_folder("auto", tmp_path) == SHIPPED
    (tmp_path / "aligner").mkdir()
    (tmp_path / "aligner" / "config.json").write_text("{}")
    assert aligner_folder("auto", tmp_path) == tmp_path / "aligner"
    assert aligner_folder("none", tmp_path) is None


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("nonsense", "not valid JSON"),
        ('{"model_type": "other"}', "model_type is 'other', expected 'parlance_ctc_aligner'"),
        ('{"model_type": "parlance_ctc_aligner", "alphabet": "aa"}', "alphabet is not a string"),
        (
            '{"model_type": "parlance_ctc_aligner", "alphabet": "a", "languages": [], "width": 0}',
            "width is not a whole number",
        ),
    ],
)
def test_a_config_that_says_nonsense_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / "config.json").write_text(text)
    with pytest.raises(CheckpointError, match=problem):
        load_aligner(tmp_path)
