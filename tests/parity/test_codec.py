"""The codec's decoder, stage by stage, whole and in pieces, and its encoder and speaker encoder."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from gpu_engine.models.checkpoint import Checkpoint
from gpu_engine.models.codec import CodecDecoder
from gpu_engine.models.speaker import log_mel
from tests.parity.cases import BASE, CUSTOM, golden, tensor
from tests.parity.test_modes import assert_close

Load = Callable[[str], Checkpoint]
FRAME = 1920


@pytest.fixture(scope="module")
def decoder(checkpoint: Load) -> CodecDecoder:
    return checkpoint(CUSTOM).codec_decoder


@pytest.mark.parametrize("gradients", [False, True], ids=["folded", "plain"])
def test_it_works(gradients: bool, decoder: CodecDecoder) -> None:
    expected = golden("codec_decoder")
    with torch.set_grad_enabled(gradients):
        audio = decoder(tensor(expected["codes"]))
    assert_close(audio[0].detach(), tensor(expected["wav"]))


@torch.enable_grad()
def test_every_stage(decoder: CodecDecoder) -> None:
    expected = golden("codec_decoder")
    seen: dict[str, torch.Tensor] = {}
    parts = {
        "pre_conv": decoder.pre_conv,
        "pre_transformer": decoder.pre_transformer,
        **{f"upsample{i}_convnext": stage[1] for i, stage in enumerate(decoder.upsample)},  # type: ignore[index,arg-type]
        **{f"decoder{i}": decoder.decoder[i] for i in range(4)},
    }
    hooks = [_record(part, seen, name) for name, part in parts.items()]
    decoder(tensor(expected["codes"]))
    for hook in hooks:
        hook.remove()
    for name, ours in seen.items():
        theirs = tensor(expected[name])
        assert_close(ours[..., : theirs.shape[-1]], theirs)


def _record(
    part: torch.nn.Module, seen: dict[str, torch.Tensor], name: str
) -> torch.utils.hooks.RemovableHandle:
    def keep(module: torch.nn.Module, inputs: object, output: torch.Tensor) -> None:
        seen[name] = output.detach()

    return part.register_forward_hook(keep)


@pytest.mark.parametrize("gradients", [False, True], ids=["folded", "plain"])
@pytest.mark.parametrize("frames", [1, 2, 5, 24])
def test_streaming(frames: int, gradients: bool, decoder: CodecDecoder) -> None:
    expected = golden("codec_decoder")
    with torch.set_grad_enabled(gradients):
        audio = _stream(decoder, tensor(expected["codes"]), frames)
    assert_close(audio[0].detach(), tensor(expected["wav"]))


def _stream(decoder: CodecDecoder, codes: torch.Tensor, frames: int) -> torch.Tensor:
    state, pieces = decoder.initial_state(len(codes)), []
    for block in codes.split(frames, -1):
        audio, state = decoder.step(block, state)
        pieces.append(audio)
    return torch.cat(pieces, -1)


@torch.inference_mode()
def test_rows_at_different_positions(decoder: CodecDecoder) -> None:
    expected = golden("codec_decoder")
    codes, audio = tensor(expected["codes"]), tensor(expected["wav"])
    ahead = decoder.step(codes[..., :9], decoder.initial_state(1))[1]
    both = decoder.initial_state(2)
    both.store(torch.tensor([1]), ahead)
    out, _ = decoder.step(torch.cat([codes[..., :4], codes[..., 9:13]]), both)
    assert_close(out[0], audio[: 4 * FRAME])
    assert_close(out[1], audio[9 * FRAME : 13 * FRAME])


@pytest.mark.parametrize("way", ["forward", "decode"])
@torch.inference_mode()
def test_long_audio_is_the_whole_decode_not_the_chunked_one(
    way: str, decoder: CodecDecoder
) -> None:
    expected = golden("codec_decoder")
    start, end = expected["long_slice"]
    audio = getattr(decoder, way)(tensor(expected["long_codes"]))[0, start:end]
    assert_close(audio, tensor(expected["long_whole_wav"]))
    seam = 300 * FRAME - int(start)
    chunked = tensor(expected["long_chunked_wav"])
    assert_close(audio[:seam], chunked[:seam])
    assert float((audio - chunked)[seam:].abs().max()) > 0.01


@torch.inference_mode()
def test_encoder(checkpoint: Load) -> None:
    expected, encoder = golden("encoders"), checkpoint(BASE).codec_encoder
    assert encoder is not None
    audio = tensor(expected["wav"])[None]
    assert_close(encoder.latents(audio), tensor(expected["downsampled"]))
    assert torch.equal(encoder.encode(audio)[0].T, tensor(expected["codes"]))


@torch.inference_mode()
def test_encoder_stages(checkpoint: Load) -> None:
    expected, encoder = golden("encoders"), checkpoint(BASE).codec_encoder
    assert encoder is not None
    convolved = encoder.encoder(tensor(expected["wav"])[None, None])
    assert_close(convolved, tensor(expected["seanet"]))
    mixed = encoder.encoder_transformer(convolved.transpose(1, 2)).transpose(1, 2)
    assert_close(mixed, tensor(expected["transformer"]))


@pytest.mark.parametrize(("samples", "frames"), [(1919, 1), (1920, 1), (1921, 2)])
def test_encoder_rounds_up_to_whole_frames(samples: int, frames: int, checkpoint: Load) -> None:
    encoder = checkpoint(BASE).codec_encoder
    assert encoder is not None
    assert encoder.encode(torch.zeros(1, samples)).shape == (1, 16, frames)


def test_speaker_embedding(checkpoint: Load) -> None:
    expected, encoder = golden("encoders"), checkpoint(BASE).speaker_encoder
    assert encoder is not None
    audio = tensor(expected["wav"])
    assert_close(log_mel(audio[None]).transpose(1, 2), tensor(expected["mel"]))
    assert_close(encoder.embed(audio), tensor(expected["speaker_embedding"]))
