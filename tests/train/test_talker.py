"""The whole recipe at micro scale: it learns its utterances by heart and says them again."""

import dataclasses

import pytest
import torch

from gpu_engine.models.prompt import PromptRequest, build_prompt
from gpu_engine.models.synthesis import GREEDY, Draws, Utterance, generate
from gpu_engine.models.talker import Talker
from gpu_engine.models.tokenizer import TextTokenizer
from gpu_engine.train.feed import BatchShape
from gpu_engine.train.objective import Weights
from gpu_engine.train.packing import Mix
from gpu_engine.train.store import FRAMES
from gpu_engine.train.talker import Settings, Trainer
from gpu_engine.train.talker_state import load_state, save_state

from .conftest import CPU, MICRO_SPEAKER, TEXTS, Micro, make_store, micro_config

pytestmark = pytest.mark.timeout(600)  # one fixture trains: half a minute on an idle core

FAST = Settings(
    steps=240,
    rate=1e-2,
    warm_up=10,
    decay=0.0,
    average=0.9,
    picks=3,
    shape=BatchShape(rows=4, length=96, mix=Mix(full=0.5, auto=0.5, vector=0.0, plain=1.0)),
    weights=Weights(
        group_decay=1.0,
        phones=0.1,
        smoothing=0.0,
        dropout=0.0,
        frame_drop=0.0,
        code_noise=0.0,
        predictor_frames=64,
        guide_layer=1,
    ),
)


def trainer_of(micro, store, settings=FAST, speaker=None):
    return Trainer(micro.config, micro.tokenizer.role, store, settings, CPU, speaker)


@pytest.fixture(scope="module")
def learned(vocabulary, tmp_path_factory):
    """A trainer that has learnt TEXTS by heart, with a little of everything on."""
    torch.set_num_threads(1)
    config = micro_config(vocabulary)
    tokenizer = TextTokenizer(vocabulary, config.text_ids)
    micro = Micro(config, tokenizer, Talker(config.talker), vocabulary)
    store = make_store(vocabulary, tmp_path_factory.mktemp("codes"))
    trainer = trainer_of(micro, store)
    first = None
    while trainer.done() < 1:
        trainer.advance()
        first = first if first is not None else trainer.report.tolist()
    return dataclasses.replace(micro, talker=trainer.learner.talker), trainer, first


def test_it_works(learned):
    _, trainer, first = learned
    last = trainer.report.tolist()
    assert last[1] < first[1] / 20
    assert last[2] < first[2] / 20
    assert last[5:7] == [1.0, 1.0]


@pytest.mark.parametrize("layout", ["full", "streaming"])
@pytest.mark.parametrize("language", ["english", "auto"])
def test_greedy_decoding_says_what_was_learnt(learned, layout, language):
    micro, trainer, _ = learned
    store, talker = trainer.store, micro.talker.eval()
    requests = [PromptRequest(text, language, "clara", layout=layout) for text in TEXTS]
    prompts = [build_prompt(micro, request) for request in requests]
    rows = [Utterance(request, GREEDY) for request in requests]
    spoken = generate(talker, prompts, Draws(talker, rows), [40] * len(rows))
    for number, (codes, stopped) in enumerate(spoken):
        line = store.rows[number * store.spellings]
        expected = store.codes[line[0] : line[0] + line[FRAMES]].long()
        assert codes.tolist() == expected.tolist()
        assert stopped


def short(steps):
    return dataclasses.replace(FAST, steps=steps)


def test_resumed_equals_uninterrupted(micro, tmp_path):
    store = make_store(micro.folder, tmp_path, speakers=("clara", "mallory"), references=True)
    # given a run of eight steps, and one that is stopped after five and goes on elsewhere
    whole = trainer_of(micro, store, short(8), MICRO_SPEAKER)
    for _ in range(8):
        whole.advance()
    half = trainer_of(micro, store, short(8), MICRO_SPEAKER)
    for _ in range(5):
        half.advance()
    save_state(half, tmp_path / "state")
    rest = trainer_of(micro, store, short(8), MICRO_SPEAKER)
    load_state(rest, tmp_path / "state")
    for _ in range(3):
        rest.advance()
    # then all their weights and averages are equal to the last bit
    for ours, theirs in zip(rest.parameters, whole.parameters, strict=True):
        assert torch.equal(ours, theirs)
    for ours, theirs in zip(rest.average, whole.average, strict=True):
        assert torch.equal(ours, theirs)
    assert rest.step == whole.step == 8


def test_preparing_changes_nothing(micro, tmp_path):
    store = make_store(micro.folder, tmp_path, speakers=("clara", "mallory"), references=True)
    plain = trainer_of(micro, store, short(2), MICRO_SPEAKER)
    prepared = trainer_of(micro, store, short(2), MICRO_SPEAKER)
    prepared.prepare()
    for trainer in (plain, prepared):
        trainer.advance()
    for ours, theirs in zip(plain.parameters, prepared.parameters, strict=True):
        assert torch.equal(ours, theirs)
        assert ours.isfinite().all()


def test_the_speaker_encoder_learns_from_other_speakers(micro, tmp_path):
    store = make_store(micro.folder, tmp_path, speakers=("mallory",), references=True)
    trainer = trainer_of(micro, store, short(2), MICRO_SPEAKER)
    before = trainer.learner.speaker.fc.weight.clone()
    trainer.advance()
    assert not torch.equal(before, trainer.learner.speaker.fc.weight)
    row = len(store.presets)
    assert trainer.learner.vectors[row].abs().sum() > 0


def test_guidance_fades_out(micro, tmp_path):
    store = make_store(micro.folder, tmp_path)
    trainer = trainer_of(micro, store, dataclasses.replace(FAST, steps=10, guide_share=0.5))
    seen = []
    for _ in range(10):
        trainer.advance()
        seen.append(round(float(trainer.slots.guidance), 3))
    assert seen == [1.0, 0.8, 0.6, 0.4, 0.2, 0.0, 0.0, 0.0, 0.0, 0.0]
