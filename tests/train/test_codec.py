"""The codec's recipe on a CPU: it learns, what it exports is what it trained, and runs resume."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from gpu_engine.config import CodecConfig
from gpu_engine.train import runtime
from gpu_engine.train.alignment import PHONES, UNLABELLED
from gpu_engine.train.codec import CodecRecipe, CodecTrainer
from gpu_engine.train.codec_data import Recording, record
from gpu_engine.train.codec_model import TINY_CODEC, export, in_context, scale_loss
from gpu_engine.train.codec_quantizer import RunningCodebooks
from gpu_engine.train.codec_run import train_codec
from gpu_engine.train.codec_state import resume, settle
from gpu_engine.train.runtime import Log, Schedule, World, load_shards, save_shards

HERE = World(rank=0, size=1, device=torch.device("cpu"))


@dataclasses.dataclass(frozen=True)
class Utterances:
    audio: torch.Tensor
    phones: torch.Tensor


def micro_codec() -> CodecConfig:
    decoder = dataclasses.replace(
        TINY_CODEC.decoder_config,
        codebook_dim=16,
        codebook_size=32,
        latent_dim=16,
        decoder_dim=32,
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=1,
        head_dim=16,
    )
    encoder = dataclasses.replace(
        TINY_CODEC.encoder_config,
        num_filters=4,
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=1,
        head_dim=16,
        codebook_dim=8,
        codebook_size=32,
        vector_quantization_hidden_dimension=8,
    )
    return CodecConfig(decoder_config=decoder, encoder_config=encoder)


def humming(seconds: int = 8) -> Utterances:
    """A voiced-like glide, labelled with two phones in turn."""
    time = torch.arange(seconds * 24_000) / 24_000
    phase = 2 * math.pi * torch.cumsum(140 + 30 * torch.sin(2 * time), 0) / 24_000
    audio = sum(torch.sin(k * phase) / k for k in range(1, 8)) * 0.1
    phones = (torch.arange(seconds * 40) // 20) % 2 + 1
    return Utterances(audio[None], phones[None])


def recording() -> Recording:
    return record([humming()], hours=8 / 3600)


RECIPE = CodecRecipe(
    seconds=1e9, rows=2, frames=8, judged_frames=4, adversary_width=2, rate=2e-3, settle_steps=8
)


@pytest.fixture
def trainer() -> CodecTrainer:
    torch.set_num_threads(1)
    return CodecTrainer(micro_codec(), RECIPE, recording(), HERE)


def run(trainer: CodecTrainer, steps: int, *, quantize: bool = True, judged: bool = False) -> None:
    for group in (trainer.optimizer, trainer.adversary_optimizer):
        for parameters in group.param_groups:
            parameters["lr"].fill_(RECIPE.rate)
    for _ in range(steps):
        trainer._gradients(quantize=quantize, judged=judged)
        trainer._update(quantize=quantize, judged=judged)


def test_reconstruction_improves(trainer: CodecTrainer) -> None:
    run(trainer, 1, quantize=False)
    first = float(trainer.losses["mel"])
    run(trainer, 25, quantize=False)
    assert float(trainer.losses["mel"]) < 0.8 * first


def test_adversaries_and_generator_both_receive_gradients(trainer: CodecTrainer) -> None:
    trainer._gradients(quantize=True, judged=True)
    assert float(trainer.grads.buffer.norm()) > 0
    assert float(trainer.adversary_grads.buffer.norm()) > 0


def test_generator_gradient_never_reaches_the_adversaries(trainer: CodecTrainer) -> None:
    audio = torch.randn(2, 8 * 1920)
    made = audio.clone().requires_grad_()
    trainer._judge(audio, audio)
    alone = trainer.adversary_grads.buffer.clone()
    trainer.adversary_grads.zero()
    torch.manual_seed(3)
    trainer._judge(made, audio).backward()
    torch.manual_seed(3)
    judged = trainer.adversary_grads.buffer.clone()
    trainer._judge(audio, audio)
    assert torch.equal(judged, trainer.adversary_grads.buffer)
    assert alone.shape == judged.shape


def test_exported_modules_equal_the_training_graph(trainer: CodecTrainer) -> None:
    run(trainer, 3, quantize=False)
    trainer.model.quantizer.start(
        trainer.model.encoder.latents(trainer.recording.windows(16, 8)[0]).detach()
    )
    run(trainer, 3)
    for mine, parameter in zip(trainer.averaged, trainer.grads.parameters, strict=True):
        mine.copy_(parameter.detach())
    audio, _ = trainer.recording.windows(2, 8)
    model = trainer.model.eval()
    with torch.no_grad():
        vectors, _, _ = model.quantizer(model.encoder.latents(audio), quantize=True, dropout=0.0)
        trained = model.decoder.render(vectors).clamp(-1, 1)
    encoder, decoder = export(trainer.averaged_state(), micro_codec())
    exported = decoder(encoder.encode(audio))
    assert torch.allclose(exported, trained, atol=1e-5)


def test_settling_fits_the_codebooks_to_weights_of_another_scale(trainer: CodecTrainer) -> None:
    run(trainer, 2, quantize=False)
    model = trainer.model.eval()
    with torch.no_grad():
        model.encoder.downsample.conv.weight.mul_(4)
    settle(model, trainer.recording, RECIPE)
    with torch.no_grad():
        normed = model.quantizer.norm(model.encoder.latents(trainer.recording.windows(16, 8)[0]))
    assert normed.std() == pytest.approx(1.0, abs=0.3)
    assert normed.mean() == pytest.approx(0.0, abs=0.3)


def test_latents_are_kept_at_one_scale(trainer: CodecTrainer) -> None:
    quiet = torch.randn(4, 3, 500)
    assert float(scale_loss(quiet)) == pytest.approx(0.0, abs=0.01)
    assert float(scale_loss(quiet * math.e)) == pytest.approx(1.0, abs=0.1)
    assert float(scale_loss(quiet / math.e)) == pytest.approx(1.0, abs=0.1)
    # given an encoder that has grown loud, a few steps make it quieter
    with torch.no_grad():
        trainer.model.encoder.downsample.conv.weight.mul_(50)
    trainer.recipe = dataclasses.replace(RECIPE, scale=1.0)
    run(trainer, 1, quantize=False)
    first = float(trainer.losses["scale"])
    run(trainer, 8, quantize=False)
    assert float(trainer.losses["scale"]) < first


def test_unknown_phones_neither_cost_nor_count(trainer: CodecTrainer) -> None:
    semantic = torch.randn(2, 8, 6)
    phones = torch.full((2, 6, 2), UNLABELLED)
    assert float(trainer._phone_loss(semantic, phones)) == 0.0
    assert float(trainer.losses["phone_hit"]) == 0.0
    phones[0, 3, 1] = trainer.model.phone_head(in_context(semantic))[0, 3, PHONES:].argmax()
    assert float(trainer._phone_loss(semantic, phones)) > 0
    assert float(trainer.losses["phone_hit"]) == 1.0


def test_phones_are_named_from_this_frame_and_the_one_before() -> None:
    frames = torch.arange(1.0, 5.0).view(1, 1, 4)
    assert in_context(frames)[0].tolist() == [[0, 1], [1, 2], [2, 3], [3, 4]]


def test_absorbing_the_norm_changes_no_code(trainer: CodecTrainer) -> None:
    run(trainer, 2, quantize=False)
    model = trainer.model.eval()
    with torch.no_grad():
        model.encoder.downsample.conv.weight.mul_(1000)
    settle(model, trainer.recording, RECIPE)
    audio, _ = trainer.recording.windows(2, 8)
    with torch.no_grad():
        before = model.quantizer.project(model.encoder.latents(audio))
        model.quantizer.absorb(model.encoder)
        latents = model.encoder.latents(audio)
        after = model.quantizer.project(latents)
    for ours, theirs in zip(after, before, strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-4, rtol=1e-3)
    assert latents.std() < 5


def test_a_run_that_named_phones_from_one_frame_can_be_resumed(
    trainer: CodecTrainer, tmp_path: Path
) -> None:
    trainer.save(tmp_path)
    state = load_shards(tmp_path, "codec")
    state["phone_head.0.weight"] = state["phone_head.0.weight"][:, 8:]
    save_shards(tmp_path, "codec", state)
    fresh = trainer.model.phone_head[0].weight.clone()
    resume(trainer, tmp_path)
    assert torch.equal(trainer.model.phone_head[0].weight, fresh)


def test_resumed_run_continues_from_the_averaged_weights(tmp_path: Path) -> None:
    recipe = dataclasses.replace(RECIPE, seconds=1.5, log_every=1)
    first = train_codec([humming()], 8 / 3600, recipe, HERE, tmp_path / "a", config=micro_codec())
    second = CodecTrainer(micro_codec(), recipe, recording(), HERE)
    resume(second, tmp_path / "a")
    saved = load_shards(tmp_path / "a", "codec")
    assert first.step > 0
    assert torch.equal(second.averaged[0], saved["encoder.encoder.layers.0.conv.weight"])
    assert second.model.quantizer.norm.var.unique().tolist() == [1.0]
    assert (tmp_path / "a" / "log.json").is_file()


def test_a_run_without_adversaries_can_be_resumed(tmp_path: Path, trainer: CodecTrainer) -> None:
    trainer.save(tmp_path)
    (tmp_path / "adversaries-00.safetensors").unlink()
    fresh = [p.clone() for p in trainer.adversaries.parameters()]
    resume(trainer, tmp_path)
    assert all(map(torch.equal, fresh, trainer.adversaries.parameters()))


def test_a_run_that_was_killed_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # given a run that saved at every step, and its first steps after that came to nothing
    recipe = dataclasses.replace(RECIPE, seconds=2.0, log_every=1, save_every=0.0)
    corpus, hours, config = [humming()], 8 / 3600, micro_codec()
    first = train_codec(corpus, hours, recipe, HERE, tmp_path, config=config)
    rows = [{"step": float(step)} for step in range(first.step + 3)]
    (tmp_path / "log.json").write_text(json.dumps(rows))
    # when the same is asked for again, and two seconds more
    spent = json.loads((tmp_path / "place.json").read_text())["elapsed"]
    longer = dataclasses.replace(recipe, seconds=spent + 2.0)
    second = train_codec(corpus, hours, longer, HERE, tmp_path, config=config, again=True)
    # then it goes on where that had come to, and its log with it
    assert f"resumed at step {first.step}" in capsys.readouterr().out
    assert second.before == spent
    assert second.step > first.step
    steps = [row["step"] for row in json.loads((tmp_path / "log.json").read_text())]
    assert steps == [*range(second.step)]


def test_a_run_that_nobody_began_begins(tmp_path: Path) -> None:
    recipe = dataclasses.replace(RECIPE, seconds=0.5)
    made = train_codec(
        [humming()], 8 / 3600, recipe, HERE, tmp_path, config=micro_codec(), again=True
    )
    assert not made.resumed


def test_the_decoder_has_a_rate_of_its_own(trainer: CodecTrainer) -> None:
    trainer.recipe = dataclasses.replace(RECIPE, decoder_rate=0.25)
    trainer.set_rates(1e-3, 0.0)
    rates = [float(group["lr"]) for group in trainer.optimizer.param_groups]
    assert rates == pytest.approx([1e-3, 2.5e-4, 1e-3])


def test_only_the_heads_learn_when_a_finished_codec_begins_to_go_on(trainer: CodecTrainer) -> None:
    trainer.resumed = True
    rates = []
    for elapsed in (0.029, 0.031):
        trainer.set_rates(1e-3, elapsed * RECIPE.seconds)
        rates.append([float(group["lr"]) for group in trainer.optimizer.param_groups])
    assert rates == [pytest.approx([0.0, 0.0, 1e-3]), pytest.approx([1e-3] * 3)]
    groups = [len(group["params"]) for group in trainer.optimizer.param_groups]
    assert sum(groups) == len(trainer.grads.parameters)
    assert groups[2] == 8


def test_a_save_leaves_no_shard_of_the_one_before(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(runtime, "SHARD_BYTES", 8)
    save_shards(tmp_path, "x", {name: torch.ones(2) for name in "abc"})
    save_shards(tmp_path, "x", {"a": torch.zeros(2)})
    assert [path.name for path in tmp_path.iterdir()] == ["x-00.safetensors"]
    assert load_shards(tmp_path, "x")["a"].tolist() == [0, 0]


def test_a_log_that_is_cut_short_is_the_one_before(tmp_path: Path, monkeypatch) -> None:
    log = Log(tmp_path)
    log.add({"step": 0})
    log.save(drawn=False)
    log.add({"step": 1})
    monkeypatch.setattr(Path, "replace", lambda *_: None)
    log.save(drawn=False)
    assert Log.going_on(tmp_path, 5).rows == [{"step": 0}]


def test_a_save_that_is_cut_short_spoils_nothing(tmp_path: Path, monkeypatch) -> None:
    # given a saved run
    monkeypatch.setattr(runtime, "SHARD_BYTES", 8)
    save_shards(tmp_path, "x", {name: torch.ones(2) for name in "ab"})
    # when the next save fails at its second shard
    written = iter([save_file])
    monkeypatch.setattr(runtime, "save_file", lambda *given: next(written)(*given))
    with pytest.raises(StopIteration):
        save_shards(tmp_path, "x", {name: torch.zeros(2) for name in "ab"})
    # then the first one is what can be loaded
    assert {t.sum().item() for t in load_shards(tmp_path, "x").values()} == {2.0}


def test_unused_entries_restart_at_vectors_of_the_batch() -> None:
    books = RunningCodebooks(levels=1, size=4, dim=2)
    books.entries.copy_(torch.tensor([[[0.0, 0.0], [9.0, 9.0], [9.0, 9.0], [9.0, 9.0]]]))
    books.usage.copy_(torch.tensor([[4.0, 0.001, 0.001, 0.001]]))
    books(torch.full((1, 2, 5), 0.5), torch.ones(1, 1) > 0)
    books.follow()
    assert books.entries[0, 1:].tolist() == [[0.5, 0.5]] * 3


def test_kmeans_finds_separate_clusters() -> None:
    torch.manual_seed(0)
    centres = torch.tensor([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]])
    points = centres.repeat_interleave(50, 0) + 0.01 * torch.randn(150, 2)
    books = RunningCodebooks(levels=1, size=16, dim=2)
    books.start(points)
    assert torch.cdist(points, books.entries[0]).min(1).values.max() < 0.1


def test_schedule_warms_up_and_decays_to_its_floor() -> None:
    schedule = Schedule(peak=1.0, seconds=100, warm_up_steps=10, floor=0.05)
    assert schedule.rate(0, 0.0) == pytest.approx(0.1)
    assert schedule.rate(500, 100.0) == pytest.approx(0.05)


def test_log_draws_its_curves(tmp_path: Path) -> None:
    log = Log(
        tmp_path, [{"step": 0, "seconds": 0, "mel": 2.0}, {"step": 1, "seconds": 1, "mel": 1.0}]
    )
    log.save()
    assert (tmp_path / "curves.png").read_bytes().startswith(b"\x89PNG")
