"""Training sequences equal, position by position, what inference shows the Talker."""

import dataclasses

import numpy as np
import pytest
import torch

from gpu_engine.models.attention import CausalAttend
from gpu_engine.models.prompt import PromptRequest, build_prompt, plan_prompt
from gpu_engine.train.attends import PackedAttend
from gpu_engine.train.objective import Learner, Weights
from gpu_engine.train.packing import AUTO, DESIGNED, FULL, VECTOR, plan_epoch
from gpu_engine.train.sequence import IGNORED, SPEAKER_SLOT, SequenceBuilder
from gpu_engine.train.store import FRAMES

from .conftest import TEXTS, make_store, one_mix

LAYOUTS = [pytest.param(True, id="full"), pytest.param(False, id="streaming")]


def packed(micro, store, *, length=64, seed=0, **mix):
    rng = np.random.default_rng(seed)
    samples = np.arange(0, len(store.rows), store.spellings)
    epoch = plan_epoch(store, samples, length, one_mix(**mix), rng)
    builder = SequenceBuilder(micro.config, micro.tokenizer.role, store)
    parts = [torch.from_numpy(part) for part in (epoch.sample, epoch.place, epoch.style)]
    return epoch, builder(*parts)


def learner(micro, **options):
    model = Learner(micro.talker, None, 12, Weights(guide_layer=1, predictor_frames=64, **options))
    return model.eval()


def embedded(model, rows):
    return model.embed(rows.text, rows.codec, rows.speaker, rows.frame, rows.codes, model.vectors)


def sequences(epoch):
    """Row, first position and sample of every packed sequence."""
    return [
        (row, int(at), int(epoch.sample[row, at]))
        for row in range(len(epoch.sample))
        for at in np.flatnonzero((epoch.place[row] == 0) & (epoch.sample[row] >= 0))
    ]


def served(micro, store, sample, layout, language, speaker="clara", told=""):
    """What the prompt builder and the decoding loop feed the Talker for this utterance."""
    text = TEXTS[sample // store.spellings]
    request = PromptRequest(text, language, speaker, instructions=told, layout=layout)
    prompt = build_prompt(micro, request)
    at, frames = store.rows[sample][0], store.rows[sample][FRAMES]
    codes = store.codes[at : at + frames].long()
    steps = micro.talker.embed_frame(codes)
    texts = [
        prompt.trailing[k] if k < len(prompt.trailing) else prompt.tts_pad for k in range(frames)
    ]
    return torch.cat([prompt.inputs, steps + torch.stack(texts)]), codes


@pytest.mark.parametrize("full", LAYOUTS)
@pytest.mark.parametrize("auto", [False, True])
def test_it_works(micro, tmp_path, full, auto):
    # given every utterance packed with others into rows
    store = make_store(micro.folder, tmp_path)
    epoch, rows = packed(micro, store, full=full, auto=auto)
    inputs = embedded(learner(micro), rows)
    found = sequences(epoch)
    assert len(found) == len(TEXTS)
    for row, at, sample in found:
        # when the same utterance is served
        layout, language = "full" if full else "streaming", "auto" if auto else "english"
        expected, codes = served(micro, store, sample, layout, language)
        # then every position is the same vector, and answers for the next frame's code 0
        span = slice(at, at + len(expected))
        torch.testing.assert_close(inputs[row, span], expected, atol=1e-6, rtol=1e-6)
        assert rows.place[row, span].tolist() == list(range(len(expected)))
        labels = rows.label[row, span]
        end = micro.config.talker.codec_eos_token_id
        assert labels[-len(codes) - 1 :].tolist() == [*codes[:, 0].tolist(), end]
        assert (labels[: -len(codes) - 1] == IGNORED).all()


INSTRUCTION, DESCRIPTION = "Speak slowly, and loudly.", "A young British woman who speaks fast."
KINDS = [pytest.param("custom_voice", id="instruction"), pytest.param("voice_design", id="design")]


def of_kind(micro, kind):
    """The same model as a checkpoint of this kind that is told things."""
    config = dataclasses.replace(micro.config, kind=kind, size="tiny_instructed")
    return dataclasses.replace(micro, config=config)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("full", LAYOUTS)
@pytest.mark.parametrize("auto", [False, True])
def test_what_is_told_stands_where_the_prompt_builder_puts_it(micro, tmp_path, kind, full, auto):
    # given utterances with an instruction and a description, packed into rows
    store = make_store(micro.folder, tmp_path, told=(INSTRUCTION, DESCRIPTION))
    designed = kind == "voice_design"
    epoch, rows = packed(micro, store, length=128, full=full, auto=auto, designed=designed)
    inputs = embedded(learner(micro), rows)
    found = sequences(epoch)
    assert len(found) == len(TEXTS)
    layout, language = "full" if full else "streaming", "auto" if auto else "english"
    speaker, told = ("", DESCRIPTION) if designed else ("clara", INSTRUCTION)
    for row, at, sample in found:
        # when a checkpoint of that kind is asked for the same utterance
        request = PromptRequest(
            TEXTS[sample // store.spellings], language, speaker, instructions=told, layout=layout
        )
        asked = of_kind(micro, kind)
        plan = plan_prompt(asked.config, asked.tokenizer, request)
        expected, codes = served(asked, store, sample, layout, language, speaker, told)
        # then text tokens and codec ids are the same one by one, and the vectors
        prompt = slice(at, at + len(plan.text_ids))
        assert rows.text[row, prompt].tolist() == list(plan.text_ids)
        slot = micro.config.talker.spk_id["clara"]
        codec = [slot if c == SPEAKER_SLOT else c for c in rows.codec[row, prompt].tolist()]
        assert codec == list(plan.codec_ids)
        span = slice(at, at + len(expected))
        torch.testing.assert_close(inputs[row, span], expected, atol=1e-6, rtol=1e-6)
        assert rows.place[row, span].tolist() == list(range(len(expected)))
        end = micro.config.talker.codec_eos_token_id
        labels = rows.label[row, span].tolist()
        silent = len(expected) - len(codes) - 1
        assert labels == [IGNORED] * silent + [*codes[:, 0].tolist(), end]


@pytest.mark.parametrize("designed", [False, True])
def test_attention_is_guided_past_what_is_told(micro, tmp_path, designed):
    store = make_store(micro.folder, tmp_path, told=(INSTRUCTION, DESCRIPTION))
    epoch, rows = packed(micro, store, length=128, full=True, designed=designed)
    for row, at, sample in sequences(epoch):
        line = store.rows[sample]
        lead = (line[10] + 8) if designed else (line[8] + 9)
        bos = at + lead + line[3] + 1
        wanted = at + lead + store.targets[line[4] : line[4] + line[FRAMES]].long()
        assert torch.equal(rows.target[row, bos : bos + line[FRAMES]], wanted)
        assert (rows.target[row, at:bos] == -1).all()


@pytest.mark.parametrize("full", LAYOUTS)
def test_packed_neighbours_do_not_hear_each_other(micro, tmp_path, full):
    store = make_store(micro.folder, tmp_path)
    epoch, rows = packed(micro, store, full=full)
    model = learner(micro)
    hidden = micro.talker(embedded(model, rows), rows.place, PackedAttend(rows.start, 0.0))
    for row, at, sample in sequences(epoch):
        expected, _ = served(micro, store, sample, "full" if full else "streaming", "english")
        positions = torch.arange(len(expected))[None]
        alone = micro.talker(expected[None], positions, CausalAttend())[0]
        torch.testing.assert_close(hidden[row, at : at + len(alone)], alone, atol=1e-5, rtol=1e-4)


def test_empty_positions_have_no_label_and_no_target(micro, tmp_path):
    store = make_store(micro.folder, tmp_path)
    epoch, rows = packed(micro, store, full=True)
    empty = torch.from_numpy(epoch.sample < 0)
    assert empty.any()
    assert (rows.label[empty] == IGNORED).all()
    assert (rows.target[empty] == -1).all()


@pytest.mark.parametrize("full", LAYOUTS)
def test_attention_is_guided_to_the_text_of_the_frame_that_is_decided(micro, tmp_path, full):
    store = make_store(micro.folder, tmp_path)
    epoch, rows = packed(micro, store, full=full)
    for row, at, sample in sequences(epoch):
        line = store.rows[sample]
        frames, tokens = int(line[FRAMES]), int(line[3])
        bos = at + 9 + (tokens + 1 if full else 0)
        for frame in range(frames):
            token = int(store.targets[line[4] + frame, 0])
            arrived = full or token <= frame
            expected = [at + 9 + token] * 2 if arrived else [-1, -1]
            assert rows.target[row, bos + frame].tolist() == expected
            if arrived:
                assert rows.text[row, expected[0]] == store.tokens[line[2] + token]
        assert rows.target[row, bos + frames].tolist() == [-1, -1]


@pytest.mark.parametrize("full", LAYOUTS)
def test_each_position_answers_for_the_phones_of_the_next_frame(micro, tmp_path, full):
    store = make_store(micro.folder, tmp_path)
    epoch, rows = packed(micro, store, full=full)
    for row, at, sample in sequences(epoch):
        line = store.rows[sample]
        frames, tokens = int(line[FRAMES]), int(line[3])
        bos = at + 9 + (tokens + 1 if full else 0)
        assert rows.phones[row, bos : bos + frames].flatten().tolist() == list(range(2 * frames))
        assert (rows.phones[row, at:bos] == IGNORED).all()
        assert (rows.phones[row, bos + frames] == IGNORED).all()
    assert (rows.phones[torch.from_numpy(epoch.sample < 0)] == IGNORED).all()


def test_the_speaker_slot_holds_the_preset_or_its_vector(micro, tmp_path):
    store = make_store(micro.folder, tmp_path, speakers=("june",), references=True)
    model = learner(micro)
    model.vectors.copy_(torch.randn(12, 32))
    for vector in (False, True):
        epoch, rows = packed(micro, store, full=True, vector=vector)
        row, at, _ = sequences(epoch)[0]
        slot = embedded(model, rows)[row, at + 7]
        pad = micro.talker.embed_text(torch.tensor(micro.config.text_ids.tts_pad))
        june = micro.config.talker.spk_id["june"]
        voice = model.vectors[1] if vector else micro.talker.codec_embedding.weight[june]
        torch.testing.assert_close(slot, pad + voice)


def test_other_speakers_are_their_vectors(micro, tmp_path):
    store = make_store(micro.folder, tmp_path, speakers=("mallory",), references=True)
    model = learner(micro)
    model.vectors.copy_(torch.randn(12, 32))
    epoch, rows = packed(micro, store, full=True)
    row, at, _ = sequences(epoch)[0]
    pad = micro.talker.embed_text(torch.tensor(micro.config.text_ids.tts_pad))
    place = len(store.presets)  # the first row after the presets'
    torch.testing.assert_close(embedded(model, rows)[row, at + 7], pad + model.vectors[place])


def test_speakers_without_a_recording_are_left_out(micro, tmp_path):
    store = make_store(micro.folder, tmp_path, speakers=("mallory",))
    epoch, _ = packed(micro, store, full=True)
    assert (epoch.sample == -1).all()


def test_what_is_longer_than_a_row_is_left_out(micro, tmp_path):
    store = make_store(micro.folder, tmp_path)
    epoch, _ = packed(micro, store, length=18, full=False)
    kept = {sample for _, _, sample in sequences(epoch)}
    assert {int(store.rows[sample][FRAMES]) for sample in kept} == {4, 6, 8}


def test_styles_are_bits():
    assert {FULL, AUTO, VECTOR, DESIGNED} == {1, 2, 4, 8}
