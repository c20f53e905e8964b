"""On a CPU, one thread: the same bits however frames are cut into pushes and rows into batches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

from gpu_engine.models.checkpoint import Checkpoint
from gpu_engine.models.codec import CodecDecoder, CodecState

FRAMES, FRAME = 30, 1920  # past the window of 20


@pytest.fixture(scope="module", params=["odd widths", "even widths"])
def decoder(
    request: pytest.FixtureRequest, checkpoint: Callable[[str], Checkpoint]
) -> CodecDecoder:
    """The tiny checkpoint's widths divide by nothing; released ones by 32 and more."""
    loaded = checkpoint("tiny-0b6-custom_voice").codec_decoder
    if request.param == "odd widths":
        return loaded
    torch.manual_seed(1)
    config = replace(
        loaded.config, codebook_dim=64, latent_dim=128, decoder_dim=256, hidden_size=96
    )
    other = CodecDecoder(config).eval()
    for name, parameter in other.named_parameters():
        if name.endswith(("gamma", "scale", "embedding_sum")):
            torch.nn.init.normal_(parameter, 0.3, 0.3)
    return other


@pytest.fixture(scope="module")
def codes() -> torch.Tensor:
    return torch.randint(2048, (3, 16, FRAMES), generator=torch.Generator().manual_seed(0))


def stream(
    decoder: CodecDecoder, codes: torch.Tensor, pushes: list[int], state: CodecState
) -> tuple[torch.Tensor, CodecState]:
    pieces = []
    for block in torch.split(codes, pushes, -1):
        audio, state = decoder.step(block, state)
        pieces.append(audio)
    return torch.cat(pieces, -1), state


@pytest.mark.parametrize(
    "pushes",
    [[1] * FRAMES, [2] * 15, [5] * 6, [1, 2, 4, 8, 15], [29, 1], [FRAMES]],
    ids=["1", "2", "5", "ramp", "29+1", "30"],
)
@torch.inference_mode()
def test_it_works(pushes: list[int], decoder: CodecDecoder, codes: torch.Tensor) -> None:
    whole = decoder(codes[:1])
    audio, state = stream(decoder, codes[:1], pushes, decoder.initial_state(1))
    assert torch.equal(audio, whole)
    assert torch.equal(decoder.decode(codes[:1]), whole)
    assert state.position.tolist() == [FRAMES]


@torch.inference_mode()
def test_neighbours_change_nothing(decoder: CodecDecoder, codes: torch.Tensor) -> None:
    together = decoder(codes)
    for row in range(len(codes)):
        assert torch.equal(together[row], decoder(codes[row : row + 1])[0])


@torch.inference_mode()
def test_rows_join_and_leave_a_batch(decoder: CodecDecoder, codes: torch.Tensor) -> None:
    whole = decoder(codes)
    arena = decoder.initial_state(4)
    slots = torch.tensor([2])
    audio, state = decoder.step(codes[:1, :, :7], arena.select(slots))
    arena.store(slots, state)
    assert torch.equal(audio[0], whole[0, : 7 * FRAME])
    both = torch.tensor([0, 2])
    pair = torch.cat([codes[1:2, :, :3], codes[:1, :, 7:10]])
    audio, state = decoder.step(pair, arena.select(both))
    arena.store(both, state)
    assert torch.equal(audio[0], whole[1, : 3 * FRAME])
    assert torch.equal(audio[1], whole[0, 7 * FRAME : 10 * FRAME])
    assert arena.position.tolist() == [3, 0, 10, 0]


@torch.inference_mode()
def test_a_reset_slot_starts_anew(decoder: CodecDecoder, codes: torch.Tensor) -> None:
    first, state = decoder.step(codes[:, :, :4], decoder.initial_state(3))
    state.reset(torch.tensor([1]))
    again, _ = decoder.step(codes[:, :, :4], state)
    assert torch.equal(again[1], first[1])
    assert not torch.equal(again[0], first[0])


def test_the_differentiable_way_agrees(decoder: CodecDecoder, codes: torch.Tensor) -> None:
    plain = decoder(codes)
    assert plain.requires_grad
    with torch.no_grad():
        torch.testing.assert_close(decoder(codes), plain, atol=1e-4, rtol=0.0)


@torch.no_grad()
def test_new_weights_are_followed(decoder: CodecDecoder, codes: torch.Tensor) -> None:
    fresh = CodecDecoder(decoder.config).eval()
    before = fresh(codes[:, :, :2])
    fresh.load_state_dict(decoder.state_dict())
    assert not torch.equal(fresh(codes[:, :, :2]), before)
    assert torch.equal(fresh(codes), decoder(codes))
