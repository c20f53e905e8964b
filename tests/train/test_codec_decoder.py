"""A finished codec's decoder goes on learning; what its codes mean stays."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from gpu_engine.train.codec import CodecTrainer
from gpu_engine.train.codec_decoder import DecoderTrainer
from gpu_engine.train.codec_model import CodecModel, export
from gpu_engine.train.codec_state import resume, settle
from gpu_engine.train.export import load_codec
from tests.train.test_codec import HERE, RECIPE, micro_codec, recording


@pytest.fixture
def finished(tmp_path: Path) -> Path:
    """A speech_tokenizer folder with encoder and decoder."""
    torch.manual_seed(2)
    config, folder = micro_codec(), tmp_path / "speech_tokenizer"
    model = CodecModel(config)
    model.quantizer.start(model.encoder.latents(recording().windows(16, 8)[0]).detach())
    settle(model, recording(), RECIPE)
    model.quantizer.export(model.encoder, model.decoder)
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(asdict(config)))
    state = {f"encoder.{name}": t for name, t in model.encoder.state_dict().items()}
    state |= {f"decoder.{name}": t for name, t in model.decoder.state_dict().items()}
    save_file(
        {name: t.half().contiguous() for name, t in state.items()}, folder / "model.safetensors"
    )
    return folder


def test_only_the_decoder_learns_and_every_code_stays(finished: Path, tmp_path: Path) -> None:
    torch.set_num_threads(1)
    audio, _ = recording().windows(2, 8)
    encoder, decoder = load_codec(finished)
    # when the decoder is taught for some steps
    trainer = DecoderTrainer(finished, micro_codec(), RECIPE, recording(), HERE)
    losses = []
    for _ in range(20):
        trainer.set_rates(2e-3, 0.0)
        trainer._gradients(quantize=True, judged=False)
        trainer._update(quantize=True, judged=False)
        losses.append(float(trainer.losses["mel"]))
    for mine, parameter in zip(trainer.averaged, trainer.grads.parameters, strict=True):
        mine.copy_(parameter.detach())
    trainer.save(tmp_path / "taught")
    # then it sounds nearer to the speech, for the very same codes
    taught_encoder, taught = load_codec(tmp_path / "taught")
    codes = encoder.encode(audio)
    assert losses[-1] < 0.9 * losses[0]
    assert torch.equal(taught_encoder.encode(audio), codes)
    assert torch.equal(taught.quantizer.decode(codes), decoder.quantizer.decode(codes))
    assert not torch.equal(taught(codes), decoder(codes))


def test_adversaries_listen_to_what_the_kept_codes_sound_like(finished: Path) -> None:
    trainer = DecoderTrainer(finished, micro_codec(), RECIPE, recording(), HERE)
    trainer._gradients(quantize=True, judged=True)
    assert float(trainer.grads.buffer.norm()) > 0
    assert float(trainer.adversary_grads.buffer.norm()) > 0


def test_a_finished_codec_goes_on_with_its_codes(finished: Path) -> None:
    # given a codec that goes on from a finished one and has not learned anything yet
    torch.set_num_threads(1)
    audio, _ = recording().windows(16, 8)
    trainer = CodecTrainer(micro_codec(), RECIPE, recording(), HERE)
    resume(trainer, finished)
    # when its norm is fitted to what it hears
    with torch.no_grad():
        for _ in range(20):
            quantizer = trainer.model.quantizer
            quantizer(trainer.model.encoder.latents(audio), quantize=True, dropout=0.0)
            quantizer.norm.follow()
    # then it says what it said before, nearly always
    before, after = load_codec(finished)[0], export(trainer.averaged_state(), micro_codec())[0]
    same = before.encode(audio)[:, 0] == after.encode(audio)[:, 0]
    assert float(same.float().mean()) > 0.7  # a codec that learned nothing tells little apart
