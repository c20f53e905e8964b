"""What the aligner is taught, and that it learns: on tones that stand for letters."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random

import numpy as np
import pytest
import torch

from gpu_engine.align.follow import follow
from gpu_engine.align.load import load_aligner
from gpu_engine.bench.alignment import is_sound, known_words, measure
from gpu_engine.models.aligner import STEP, AlignerConfig, AlignerNet
from gpu_engine.train.aligner import AlignerRecipe, save_aligner, train_aligner
from gpu_engine.train.aligner_data import Example, edge_targets, gather, pieces, spelled
from gpu_engine.train.alignment import NOWHERE
from gpu_engine.train.corpus import SpeechBatch, Utterance, open_corpus
from gpu_engine.train.record import record

RATE = 24_000
SMALL = AlignerConfig(alphabet="abc", width=24, inner=32, blocks=2, kernel=5)
PITCHES = {"a": 300, "b": 900, "c": 2700}


def tone(letters: str, seconds: float = 0.12) -> torch.Tensor:
    times = torch.arange(round(seconds * RATE)) / RATE
    return torch.cat([0.3 * torch.sin(2 * torch.pi * PITCHES[each] * times) for each in letters])


def spoken(text: str) -> tuple[Utterance, torch.Tensor]:
    """Words of tones with a tenth of a second of silence before each."""
    audio, rows, place = [], [], 0
    for word in text.split():
        audio.append(torch.zeros(RATE // 10))
        start = sum(map(len, audio)) / RATE
        audio.append(tone(word))
        rows.append((place, place + len(word), start, sum(map(len, audio)) / RATE))
        place += len(word) + 1
    whole = torch.cat([*audio, torch.zeros(RATE // 4)])
    return Utterance(text, "toner", np.array(rows, np.float32)), whole


def texts(count: int, seed: int) -> Iterator[str]:
    rng = Random(seed)
    for _ in range(count):
        words = ["".join(rng.choices("abc", k=rng.randint(2, 4))) for _ in range(4)]
        yield " ".join(words)


def corpus(count: int = 40, seed: int = 1) -> Iterator[SpeechBatch]:
    for text in texts(count, seed):
        utterance, audio = spoken(text)
        yield SpeechBatch([utterance], audio[None])


def example(frames: int, edges: list[list[float]]) -> Example:
    letters = [[number + 1] for number in range(len(edges))]
    return Example(torch.zeros(2 * frames, 4), letters, np.array(edges, np.float32))


def test_it_works(tmp_path: Path) -> None:
    torch.set_num_threads(1)
    examples = gather(corpus(), SMALL, hours=1)
    recipe = AlignerRecipe(steps=120, speech=8, rate=1e-2, noise=0.1)
    train_aligner(examples, SMALL, recipe, tmp_path)
    log = json.loads((tmp_path / "log.json").read_text())
    assert log[-1]["letters"] < 0.5 * log[0]["letters"]
    aligner = load_aligner(tmp_path / "aligner")
    utterance, audio = spoken("abc cab bb ca")
    pcm = (audio * 32767).to(torch.int16).numpy()
    told = follow(aligner, utterance.text, pcm)
    assert [utterance.text[each.word.first : each.word.end] for each in told] == [
        "abc",
        "cab",
        "bb",
        "ca",
    ]
    assert is_sound([each.word for each in told], len(pcm))
    report = measure(aligner, [(utterance, pcm)])
    assert (report["missing"], report["starts"]["words"], report["voices"]) == (0, 4, 1)


def test_pieces_of_a_recording_are_scored_as_the_whole() -> None:
    torch.manual_seed(1)
    net = AlignerNet(SMALL).eval()
    audio = torch.cat([tone("abcabc"), tone("cba")])
    whole, reach = net.scores(audio), SMALL.reach
    part = net.scores(audio[8 * STEP : 40 * STEP])
    assert torch.equal(part[reach:-reach], whole[8 + reach : 40 - reach])


@pytest.mark.parametrize("chunk", [700, 4 * STEP, RATE])
def test_words_do_not_depend_on_how_the_audio_comes(tmp_path: Path, chunk: int) -> None:
    """Those of a stream that are told at its end."""
    torch.manual_seed(1)
    save_aligner(AlignerNet(SMALL), tmp_path)
    aligner = load_aligner(tmp_path)
    utterance, audio = spoken("ab")
    pcm = (audio * 32767).to(torch.int16).numpy()
    whole = follow(aligner, utterance.text, pcm, len(pcm))
    assert [each.word for each in follow(aligner, utterance.text, pcm, chunk)] == [
        each.word for each in whole
    ]


def test_only_what_is_spelled_as_it_sounds_is_taught() -> None:
    config = AlignerConfig()
    times = np.array([[0, 2, 0.1, 0.2], [*NOWHERE, 0.2, 0.5]], np.float32)
    assert spelled(Utterance("At 45", "x", times), config.alphabet) is None
    assert spelled(Utterance("At", "x"), config.alphabet) == ([[1, 20]], None)


def test_rows_are_cut_in_the_middle_between_words() -> None:
    row = example(20, [[2, 5], [9, 12], [12, 15]])
    (whole,) = pieces([Example(row.mel, row.letters, None)], Random(1))
    assert (whole.first, whole.end, whole.letters) == (0, 20, [1, 2, 3])
    cuts = {(piece.first, piece.end) for seed in range(20) for piece in pieces([row], Random(seed))}
    assert cuts == {(0, 7), (0, 12), (0, 20), (7, 12), (7, 20), (12, 20)}


def test_an_edge_lies_between_two_frames() -> None:
    targets, known = edge_targets([example(4, [[1.0, 2.75]])], 4)
    assert targets[0, :, 0].tolist() == [0.5, 0.5, 0, 0]
    assert targets[0, :, 1].tolist() == [0, 0, 0.75, 0.25]
    assert known.tolist() == [True]


def test_a_corpus_is_recorded_up_to_a_breath_after_its_last_word(tmp_path: Path) -> None:
    hours = record(corpus(2), tmp_path, hours=1)
    (batch,) = open_corpus(str(tmp_path), torch.device("cpu"))
    first, second = batch.utterances
    assert [first.text, second.text] == list(texts(2, 1))
    assert first.words is not None
    assert first.words[0] == pytest.approx([0, len(first.text.split()[0]), 0.1, first.words[0, 3]])
    assert hours * 3600 == pytest.approx(sum(row.words[-1, 3] + 0.25 for row in (first, second)))


def test_a_number_is_known_by_its_neighbours() -> None:
    words = np.array(
        [[0, 2, 0.1, 0.2], [*NOWHERE, 0.3, 0.5], [*NOWHERE, 0.6, 0.8], [6, 8, 0.9, 1.0]], np.float32
    )
    found = list(known_words("At $45 is", words))
    assert [(each.first, each.end, each.is_read) for each in found][1] == (3, 6, True)
    assert (found[1].start, found[1].stop) == pytest.approx((0.3, 0.8))
