"""The labels are right: each fault that fine-tuning scripts are known for would fail here."""

import dataclasses

import pytest
import torch
from torch.nn import functional as F

from gpu_engine.models.attention import CausalAttend
from gpu_engine.train.attends import PackedAttend
from gpu_engine.train.objective import Learner, Weights, _choose
from gpu_engine.train.sequence import IGNORED

from .conftest import make_store
from .test_sequence import packed


@pytest.fixture
def scene(micro, tmp_path):
    """A learner, its packed rows and the hidden states that it gives them."""
    store = make_store(micro.folder, tmp_path)
    _, rows = packed(micro, store, full=True)
    weights = Weights(end=1.0, group_decay=1.0, guide_layer=1, predictor_frames=4000)
    model = Learner(micro.talker, None, 12, weights).eval()
    return model, rows


def hidden_states(model, rows):
    inputs = model.embed(rows.text, rows.codec, rows.speaker, rows.frame, rows.codes, model.vectors)
    same = rows.start[:, :, None] == rows.start[:, None, :]
    causal = torch.ones(same.shape[1:], dtype=torch.bool).tril()

    class Masked:
        def __call__(self, layer, q, k, v):
            groups = q.shape[2] // k.shape[2]
            q, k, v = (
                x.repeat_interleave(n, 2).transpose(1, 2)
                for x, n in ((q, 1), (k, groups), (v, groups))
            )
            mask = (same & causal)[:, None]
            return F.scaled_dot_product_attention(q, k, v, attn_mask=mask).transpose(1, 2)

    return model.talker(inputs, rows.place, Masked())


def losses(model, rows):
    empty = torch.zeros(0, dtype=torch.int64)
    report, _ = model(rows, torch.zeros(0, 1, 1), empty, torch.zeros(()))
    return report.tolist()


def frames_of(rows):
    """(row, position) of every frame."""
    return [tuple(at) for at in (rows.frame >= 0).nonzero().tolist()]


def test_it_works(scene):
    # fault 1: labels shifted twice, so that speech skips a frame and gets faster
    model, rows = scene
    hidden = hidden_states(model, rows)
    logits = model.talker.logits(hidden)
    end = model.talker.config.codec_eos_token_id
    expected = []
    for row, at in frames_of(rows):
        expected.append(F.cross_entropy(logits[row, at - 1], rows.codes[row, at, 0]))
        last = at + 1 == rows.frame.shape[1] or rows.frame[row, at + 1] < 0
        if last:
            expected.append(F.cross_entropy(logits[row, at], torch.tensor(end)))
    assert losses(model, rows)[1] == pytest.approx(torch.stack(expected).mean().item(), abs=1e-5)


def test_head_j_learns_code_j_plus_1(scene):
    # fault 2: the predictor's labels shifted, so that head j learns code j + 2
    model, rows = scene
    hidden = hidden_states(model, rows)
    row, at = frames_of(rows)[7]
    frame = rows.codes[row, at]
    states = model.predict(hidden[row, at - 1][None], frame[None])
    logits = model.head_logits(states)
    predictor = model.talker.code_predictor
    inputs = [hidden[row, at - 1], model.talker.codec_embedding(frame[0])]
    inputs += [predictor.codec_embedding[j - 1](frame[j]) for j in range(1, 15)]
    places = torch.arange(16)[None]
    served = predictor(torch.stack(inputs)[None], places, CausalAttend())[0]
    for head in range(15):
        torch.testing.assert_close(
            logits[head, 0], predictor.lm_head[head](served[head + 1]), atol=1e-5, rtol=1e-4
        )


def test_training_and_decoding_give_the_same_codes(scene):
    # given a frame's hidden state, greedy decoding ...
    model, rows = scene
    hidden = hidden_states(model, rows)
    row, at = frames_of(rows)[3]
    code0 = rows.codes[row, at, 0]
    embedded = model.talker.codec_embedding(code0)
    predictor = model.talker.code_predictor
    with torch.no_grad():
        decoded = predictor.frame(
            hidden[row, at - 1][None], embedded[None], lambda group, logits: logits.argmax(-1)
        )
        # ... agrees with the teacher-forced heads once shown what it decoded
        frame = torch.cat([code0[None], decoded[0]])
        forced = model.head_logits(model.predict(hidden[row, at - 1][None], frame[None]))
    assert forced.argmax(-1)[:, 0].tolist() == decoded[0].tolist()


def test_the_predictor_sees_the_position_before_the_frame(scene):
    # fault 3: the frame's own hidden state already contains its codes
    model, rows = scene
    hidden = hidden_states(model, rows)
    # given one frame alone that is to be predicted
    row, at = frames_of(rows)[9]
    label = rows.label[row, at - 1].clone()
    rows.label.fill_(IGNORED)
    rows.label[row, at - 1] = label
    frame = rows.codes[row, at]
    # then its loss is that of the state before it, and not of its own
    loss = losses(model, rows)[2]
    before, own = (
        model.head_logits(model.predict(hidden[row, p][None], frame[None]))[:, 0]
        for p in (at - 1, at)
    )
    assert loss == pytest.approx(float(F.cross_entropy(before, frame[1:])), abs=1e-5)
    assert loss != pytest.approx(float(F.cross_entropy(own, frame[1:])), abs=1e-5)


def test_a_frame_does_not_change_the_state_it_is_predicted_from(scene):
    model, rows = scene
    row, at = frames_of(rows)[5]
    before = hidden_states(model, rows)[row, at - 1]
    rows.codes[row, at] = (rows.codes[row, at] + 7) % 512
    after = hidden_states(model, rows)
    torch.testing.assert_close(after[row, at - 1], before)


def test_text_goes_through_the_projection(scene):
    # fault 4: raw text embeddings
    model, rows = scene
    before = losses(model, rows)[1]
    with torch.no_grad():
        model.talker.text_projection.linear_fc2.weight.mul_(3)
    assert losses(model, rows)[1] != pytest.approx(before, abs=1e-4)


def test_guidance_is_small_only_on_the_right_text(scene):
    model, rows = scene
    length = rows.frame.shape[1]
    q = torch.zeros(len(rows.frame), length, 4, length)
    k = torch.eye(length).expand(len(rows.frame), length, length)[:, :, None].expand_as(q)
    attend = PackedAttend(rows.start, 0.0)
    scale = 40 * length**0.5
    for head in range(4):
        q[:, :, head].scatter_(2, rows.target[..., :1].clamp(min=0), scale)
    attend.kept = q, k
    assert float(model._guide(attend, rows.target, (0, 2))) == pytest.approx(0.0, abs=1e-3)
    attend.kept = q.roll(1, -1), k
    assert float(model._guide(attend, rows.target, (0, 2))) > 5


def test_training_disturbs_what_is_shown_and_never_the_labels(scene):
    model, rows = scene
    labels, following = rows.label.clone(), rows.following.clone()
    args = rows.text, rows.codec, rows.speaker, rows.frame, rows.codes, model.vectors
    clean = model.embed(*args)
    torch.manual_seed(0)
    disturbed = model.train().embed(*args)
    changed = (clean != disturbed).any(-1)
    assert changed.any()
    assert not changed[rows.frame < 0].any()
    assert torch.equal(rows.label, labels)
    assert torch.equal(rows.following, following)


def losses_as(model, rows, **changes):
    model.weights = dataclasses.replace(model.weights, **changes)
    return dict(zip(model.figures, losses(model, rows), strict=True))


def test_first_groups_weigh_more(scene):
    # given one frame and the loss of each head
    model, rows = scene
    row, at = frames_of(rows)[9]
    keep = rows.label[row, at - 1].clone()
    rows.label.fill_(IGNORED)
    rows.label[row, at - 1] = keep
    hidden = hidden_states(model, rows)[row, at - 1]
    each = F.cross_entropy(
        model.head_logits(model.predict(hidden[None], rows.codes[row, at][None]))[:, 0],
        rows.codes[row, at, 1:],
        reduction="none",
    )
    # when every head weighs 0.8 of the one before
    weights = dataclasses.replace(model.weights, group_decay=0.8)
    heavy = Learner(model.talker, None, 12, weights)
    decayed = 0.8 ** torch.arange(15)
    expected = (each * decayed).sum() / decayed.sum()
    # then the loss is the mean by those weights
    assert losses(heavy.eval(), rows)[2] == pytest.approx(float(expected), abs=1e-5)


def test_accuracies_are_told_for_every_group(scene):
    model, rows = scene
    figures = losses_as(model, rows)
    groups = [figures[f"code{group}_accuracy"] for group in range(1, 16)]
    assert figures["codes_accuracy"] == pytest.approx(sum(groups) / 15)
    assert "code16_accuracy" not in figures


def test_phones_are_named_from_the_state_before_their_frame(scene):
    model, rows = scene
    hidden = hidden_states(model, rows)
    known = (rows.phones >= 0).all(-1)
    scores = model.phone_head(hidden[known]).view(-1, 2, 178)
    expected = F.cross_entropy(scores.flatten(0, 1), rows.phones[known].flatten())
    figures = losses_as(model, rows, phones=0.5)
    assert figures["phones"] == pytest.approx(float(expected), abs=1e-5)
    rest = figures["code0"] + figures["codes"]
    assert figures["loss"] == pytest.approx(rest + 0.5 * figures["phones"], abs=1e-4)


def test_unknown_phones_cost_nothing(scene):
    model, rows = scene
    rows.phones.fill_(IGNORED)
    figures = losses_as(model, rows)
    assert (figures["phones"], figures["phones_accuracy"]) == (0.0, 0.0)


def test_smoothing_is_for_training_only(scene):
    model, rows = scene
    plain, smooth = (losses_as(model, rows, smoothing=share)["code0"] for share in (0.0, 0.5))
    assert plain == smooth
    quiet = {"dropout": 0.0, "frame_drop": 0.0, "code_noise": 0.0}
    model.train()
    plain, smooth = (losses_as(model, rows, smoothing=s, **quiet)["code0"] for s in (0.0, 0.5))
    assert plain != pytest.approx(smooth, abs=1e-3)


def test_only_the_text_is_misspelt(scene):
    model, rows = scene
    model.words = model.talker.config.text_vocab_size - 10
    model.weights = dataclasses.replace(model.weights, text_noise=1.0)
    torch.manual_seed(0)
    wrong = model._misspell(rows.text, rows.codec)
    marks = (rows.text >= model.words) | (rows.place < 8)
    assert torch.equal(wrong[marks], rows.text[marks])
    assert (wrong[~marks] != rows.text[~marks]).float().mean() > 0.9
    assert int(wrong[~marks].max()) < model.words


def test_choice_is_among_the_valid_places():
    valid = torch.zeros(50, dtype=torch.bool)
    valid[[3, 17, 49]] = True
    chosen = _choose(valid, 200)
    assert set(chosen.tolist()) == {3, 17, 49}


def test_choice_of_nothing_is_harmless():
    assert _choose(torch.zeros(5, dtype=torch.bool), 3).tolist() == [0, 0, 0]
