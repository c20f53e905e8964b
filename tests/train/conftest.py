from __future__ import annotations

import dataclasses
import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch

from gpu_engine.config import (
    PredictorConfig,
    SamplingConfig,
    SpeakerEncoderConfig,
    TalkerConfig,
    TextIds,
    TtsConfig,
)
from gpu_engine.models.talker import Talker
from gpu_engine.models.tokenizer import TextTokenizer
from gpu_engine.train import tiny
from gpu_engine.train.alignment import PHONES
from gpu_engine.train.cli import main
from gpu_engine.train.codec_model import TINY_CODEC
from gpu_engine.train.crew import Crew
from gpu_engine.train.encode import Shard, Spellings
from gpu_engine.train.holdout import held_out
from gpu_engine.train.packing import Mix
from gpu_engine.train.runtime import World
from gpu_engine.train.store import Capacity, CodeStore
from gpu_engine.train.tokenizer import train_bpe, write_tokenizer
from tests.train.recipes import MICRO, TINY

TEXTS = (
    "The ferry left the pier.",
    "Could you move it?",
    "Marble keeps cool.",
    "Every spring the swallows return.",
    "No.",
    "Thirty swimmers lined up at the lake.",
)
CPU = World(0, 1, torch.device("cpu"))
ROOM = Capacity(frames=20_000, tokens=60_000, utterances=900, speakers=12, reference_frames=24)
MICRO_SPEAKER = SpeakerEncoderConfig(
    enc_dim=32,
    mel_dim=8,
    enc_channels=(16, 16, 16, 16, 48),
    enc_attention_channels=8,
    enc_se_channels=8,
)


@pytest.fixture(autouse=True)
def _one_thread():
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def vocabulary(tmp_path_factory) -> Path:
    """A folder with a small tokenizer and the configuration files beside it."""
    folder = tmp_path_factory.mktemp("tiny")
    ids = write_tokenizer(train_bpe(TEXTS * 20, 400), folder)
    tiny.write_configs(folder, ids)
    return folder


@dataclass(frozen=True)
class Micro:
    """Satisfies the prompt builder's Promptable."""

    config: TtsConfig
    tokenizer: TextTokenizer
    talker: Talker
    folder: Path


@pytest.fixture
def micro(vocabulary) -> Micro:
    config = micro_config(vocabulary)
    torch.manual_seed(3)
    talker = Talker(config.talker)
    return Micro(config, TextTokenizer(vocabulary, config.text_ids), talker, vocabulary)


def micro_config(folder: Path) -> TtsConfig:
    raw = json.loads((folder / "config.json").read_text())
    small = {
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 3,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 8,
    }
    predictor = {**raw["talker_config"]["code_predictor_config"], **small, "hidden_size": 24}
    predictor["num_hidden_layers"] = 1
    talker = {**raw["talker_config"], **small, "text_hidden_size": 16}
    talker["code_predictor_config"] = PredictorConfig(**_known(PredictorConfig, predictor))
    return TtsConfig(
        kind="custom_voice",
        size="tiny",
        text_ids=TextIds(
            **{f.name: raw[f"{f.name}_token_id"] for f in dataclasses.fields(TextIds)}
        ),
        talker=TalkerConfig(**_known(TalkerConfig, talker)),
        codec=TINY_CODEC,
        speaker_encoder=None,
        sampling=SamplingConfig(),
    )


def _known(kind: type, raw: dict) -> dict:
    names = {f.name for f in dataclasses.fields(kind)}
    return {name: value for name, value in raw.items() if name in names}


def make_shard(
    folder: Path,
    texts=TEXTS,
    *,
    speakers=("clara",),
    seed=5,
    references=False,
    told=("", ""),
) -> Shard:
    """Random codes for each text; the frames of utterance i number 4 + 2 i; its phones count up.
    `told`: everybody's instruction and description."""
    generator = torch.Generator().manual_seed(seed)
    spellings = Spellings.of(folder)
    shard = Shard()
    for number, text in enumerate(texts):
        frames = 4 + 2 * (number % 8)
        shard.speakers.append(speakers[number % len(speakers)])
        shard.held.append(held_out(text))
        shard.codes.append(torch.randint(0, 512, (frames, 16), generator=generator))
        shard.told += [spellings.wrap(said) if said else [] for said in told]
        shard.phones.append(np.arange(2 * frames, dtype=np.int16).reshape(frames, 2) % PHONES)
        for tokenizer in spellings.tokenizers:
            ids = tokenizer.encode(text).ids
            shard.tokens.append(ids)
            at = np.minimum(np.arange(frames) * len(ids) // frames, len(ids) - 1)
            shard.targets.append(np.stack([at, at], 1).astype(np.int16))
    if references:
        shard.references += [(name, torch.randn(24, 8, generator=generator)) for name in speakers]
    return shard


def make_store(folder: Path, tmp_path: Path, **options) -> CodeStore:
    path = tmp_path / f"codes-{len(list(tmp_path.glob('codes-*')))}.safetensors"
    path.write_bytes(make_shard(folder, **options).to_bytes())
    store = CodeStore(tiny.PRESETS, torch.device("cpu"), ROOM, bands=8)
    store.add(path)
    return store


def one_mix(*, full: bool, auto: bool = False, vector: bool = False, designed: bool = False) -> Mix:
    return Mix(float(full), float(auto), float(vector), plain=1.0, designed=float(designed))


HUMMING = '''
"""Stands in for the teacher: every phoneme is a hum of its own pitch for 75 ms."""
from dataclasses import dataclass

import torch


@dataclass
class Batch:
    index: list
    audio: torch.Tensor
    durations: list


class Teacher:
    def __init__(self, device):
        self.device = torch.device(device)
        said = ";:,.!?\\u02c8\\u02cc abcdefghijklmnopqrstuvwxyz"
        self.vocab = {phoneme: number + 1 for number, phoneme in enumerate(said)}
        self.voices = dict.fromkeys(["af_heart", "af_bella", "am_puck"])

    def stream(self, lines, voices, speeds, *, align, seed, pool):
        for start in range(0, len(lines), pool):
            by_length = {}
            for index in range(start, min(start + pool, len(lines))):
                by_length.setdefault(len(lines[index]), []).append(index)
            for _, index in sorted(by_length.items()):
                yield self._batch(index, lines)

    def _batch(self, index, lines):
        ids = torch.tensor([[0, *lines[i], 0] for i in index])
        steps = ids.repeat_interleave(3 * 600, 1)
        phase = torch.cumsum(steps * 12.0, 1) / 24_000
        audio = torch.sin(6.2832 * phase) * 0.3 * (steps > 6)
        durations = [torch.full((ids.shape[1],), 3).numpy() for _ in index]
        return Batch(list(index), audio, durations)


def load_teacher(folder, device):
    return Teacher(device)


def random_mixes(names, count, seed, most_parts=3):
    one, other = names[0], names[-1]
    return [f"{n / count:.2f}*{one}+{1 - n / count:.2f}*{other}" for n in range(count)]
'''


@pytest.fixture(scope="session")
def teacher(tmp_path_factory) -> Path:
    """A teacher's folder, with code that hums instead of speaking."""
    folder = tmp_path_factory.mktemp("teacher")
    (folder / "teacher.py").write_text(HUMMING)
    (folder / "fused.py").write_text("")
    return folder


@pytest.fixture(scope="session")
def spoken_texts(tmp_path_factory) -> Path:
    """Lines as `train texts` writes them, phonemes after their letters."""
    path = tmp_path_factory.mktemp("texts") / "texts.jsonl.gz"
    said = {"No.": "n\u02c8o."}
    rows = [{"text": t, "phonemes": said.get(t, t.lower())} for t in TEXTS]
    rows.append({"text": "Gate 7.", "spoken": "Gate seven.", "phonemes": "get seven."})
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    return path


@pytest.fixture
def call(vocabulary, teacher, spoken_texts, tmp_path) -> list[str]:
    """Arguments of `train tiny` for a run of some seconds."""
    main(["shape", "--recipe", str(vocabulary), "--out", str(tmp_path / "recipe"), *TINY])
    (tmp_path / "lines").write_text("No.\nCould you move it?\n")
    paths = {"teacher": teacher, "texts": spoken_texts, "out": tmp_path / "out"}
    paths |= {"recipe": tmp_path / "recipe", "sentences": tmp_path / "lines"}
    sizes = {"gpus": 0, "minutes-codec": 0.02, "minutes-talker": 0.05, "speech-minutes": 0.01}
    sizes |= {"start-hours": 0.0001, "room-hours": 0.1, "codec-hours": 0.002, "count": 1}
    options = {f"{stage}-options": text for stage, text in MICRO.items()}
    named = (paths | sizes | options).items()
    settings = ["--set", "lines=2", "--set", "pool=8", "--set", "mixes=0"]
    return ["tiny", *(f"--{name}={value}" for name, value in named), *settings]


@pytest.fixture
def crew(tmp_path) -> Iterator[Crew]:
    with Crew(tmp_path / "logs") as crew:
        yield crew
