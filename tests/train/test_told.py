"""At micro scale: one Talker says the same texts as it was told, and in the voice described."""

import dataclasses

import pytest
import torch

from gpu_engine.models.prompt import PromptRequest, build_prompt
from gpu_engine.models.synthesis import GREEDY, Draws, Utterance, generate
from gpu_engine.models.talker import Talker
from gpu_engine.models.tokenizer import TextTokenizer
from gpu_engine.train.packing import Mix
from gpu_engine.train.store import FRAMES, CodeStore
from gpu_engine.train.tiny import INSTRUCTED, PRESETS

from .conftest import ROOM, TEXTS, Micro, make_shard, micro_config
from .test_talker import FAST, trainer_of

pytestmark = pytest.mark.timeout(600)  # one fixture trains: some twenty seconds on an idle core

SAID = TEXTS[:2]
# Who speaks, the instruction, the description; each says every text in codes of its own.
MANNERS = (("clara", "", ""), ("clara", "Speak slowly.", ""), ("", "", "An old man."))


@pytest.fixture(scope="module")
def learned(vocabulary, tmp_path_factory):
    """A model that has learnt SAID in each of the MANNERS, in both layouts."""
    torch.set_num_threads(1)
    folder, config = tmp_path_factory.mktemp("codes"), micro_config(vocabulary)
    store = CodeStore(PRESETS, torch.device("cpu"), ROOM, bands=8)
    for seed, (speaker, *told) in enumerate(MANNERS):
        shard = make_shard(vocabulary, SAID, speakers=(speaker,), seed=seed, told=told)
        (folder / f"{seed}.safetensors").write_bytes(shard.to_bytes())
        store.add(folder / f"{seed}.safetensors")
    mix = Mix(full=0.5, auto=0.0, vector=0.0, plain=1.0, designed=0.0)
    settings = dataclasses.replace(FAST, steps=220, shape=dataclasses.replace(FAST.shape, mix=mix))
    tokenizer = TextTokenizer(vocabulary, config.text_ids)
    trainer = trainer_of(
        Micro(config, tokenizer, Talker(config.talker), vocabulary), store, settings
    )
    while trainer.done() < 1:
        trainer.advance()
    return Micro(config, tokenizer, trainer.learner.talker.eval(), vocabulary), store


@pytest.mark.parametrize("layout", ["full", "streaming"])
@pytest.mark.parametrize("number", range(len(MANNERS)), ids=["untold", "instructed", "described"])
def test_it_works(learned, layout, number):
    micro, store = learned
    speaker, instruction, description = MANNERS[number]
    # given a checkpoint of the kind that takes such a prompt
    kind = "custom_voice" if speaker else "voice_design"
    config = dataclasses.replace(micro.config, kind=kind, size=INSTRUCTED)
    served = dataclasses.replace(micro, config=config)
    told = instruction or description
    requests = [
        PromptRequest(t, "english", speaker, instructions=told, layout=layout) for t in SAID
    ]
    prompts = [build_prompt(served, request) for request in requests]
    rows = [Utterance(request, GREEDY) for request in requests]
    # when it speaks
    spoken = generate(micro.talker, prompts, Draws(micro.talker, rows), [40] * len(rows))
    # then it says the text in the codes of that manner, and of no other
    for text, (codes, stopped) in enumerate(spoken):
        line = store.rows[(number * len(SAID) + text) * store.spellings]
        expected = store.codes[line[0] : line[0] + line[FRAMES]].long()
        assert codes.tolist() == expected.tolist()
        assert stopped
