"""The codec over slots in Triton against the module's own streaming: ragged chunks, slots that
stand elsewhere, a window that wraps around its ring."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from gpu_engine.bench.official import CODEC, narrow_codec, random_codec
from gpu_engine.models.codec import CodecDecoder

pytestmark = pytest.mark.usefixtures("fused")

CONFIG = replace(narrow_codec(CODEC), decoder_dim=64, upsample_rates=(3, 2), num_quantizers=4)


@pytest.fixture(scope="module")
def decoder(device: torch.device) -> CodecDecoder:
    torch.manual_seed(2)
    return random_codec(CONFIG, device)


@pytest.fixture(scope="module")
def codes(device: torch.device) -> torch.Tensor:
    generator = torch.Generator().manual_seed(3)
    return torch.randint(0, 64, (2, 4, 40), generator=generator).to(device)


def heard(decoder: CodecDecoder, codes: torch.Tensor, chunks: list[tuple[int, int]]) -> list:
    """Audio of slots 3 and 1, chunk by chunk (frames of the shape, frames that are real)."""
    from gpu_engine.kernels.fused.convolution import Cuts
    from gpu_engine.runner.device.codec import CodecArena, CodecStep
    from gpu_engine.runner.device.codec_weights import CodecWeights

    few = Cuts(programs=2)  # an interpreter pays by the program; depths are shared all the same
    weights = CodecWeights(decoder, torch.float32)
    arena, at, pieces = CodecArena(weights, 4), 0, []
    for columns in arena.columns:
        columns.normal_()  # what streams before have left behind
    slots = torch.tensor([3, 1, 4], device=codes.device)  # the last is scratch
    for slot in (3, 1):
        arena.reset(torch.tensor([slot], device=codes.device))
    others = [columns[[0, 2]].clone() for columns in arena.columns]
    for frames, real in chunks:
        step = CodecStep(weights, arena, 3, frames, exact=True, cuts=few)
        given = torch.zeros(3, frames, 4, dtype=torch.int64, device=codes.device)
        given[:2, :real] = codes[:, :, at : at + real].transpose(1, 2)
        audio = step(slots, given, torch.tensor([real], device=codes.device))
        pieces.append(audio[:2, : real * CONFIG.samples_per_frame])
        at += real
        assert arena.position.tolist() == [0, at, 0, at, 0]
    assert all(torch.equal(a[[0, 2]], b) for a, b in zip(arena.columns, others, strict=True))
    return pieces


@pytest.mark.parametrize(
    "chunks", [[(4, 4)], [(1, 1), (2, 2), (4, 3), (4, 4)]], ids=["whole", "ragged"]
)
def test_streams_equal_the_module(
    decoder: CodecDecoder, codes: torch.Tensor, chunks: list[tuple[int, int]]
) -> None:
    made = torch.cat(heard(decoder, codes, chunks), 1)
    total = sum(real for _, real in chunks)
    reference = decoder.decode(codes[..., :total])
    assert made.shape == reference.shape
    assert float((made - reference).norm() / reference.norm()) < 1e-5


@pytest.mark.parametrize(
    ("rows", "tile", "splits"),
    [(4, 16, 8), (32, 32, 8), (160, 64, 3), (1000, 64, 1), (2000, 128, 1)],
)
def test_few_columns_share_a_depth(rows: int, tile: int, splits: int) -> None:
    """A unit of 768 channels: 24 tiles of 32 outputs could have eleven programs each."""
    from gpu_engine.kernels.fused.convolution import Cuts

    cut = Cuts().cut(rows, 768, 768, 7 * 768, False)
    assert (cut.rows, cut.splits) == (tile, splits)


def test_products_round_to_the_nearest_tf32(device: torch.device) -> None:
    """Cutting would make every product smaller: here by 2 ** -11 at most."""
    from gpu_engine.kernels.fused.convolution import Conv, convolve

    x = torch.full((1, 16, 16), 1 + 2**-11 + 2**-12, device=device)
    conv = Conv(torch.ones(16, 16, device=device), torch.zeros(16, device=device), 1, 1, 16)
    out = torch.empty(1, 16, 16, device=device)
    convolve(x, conv, raw=out)
    assert torch.equal(out, torch.full_like(out, 16 * (1 + 2**-10)))


def test_what_is_not_a_number_stays_so_when_rounded(device: torch.device) -> None:
    """The GPU's own not-a-number has all bits set: one more carries into the sign."""
    from gpu_engine.kernels.fused.convolution import Conv, convolve

    bits = torch.full((1, 16, 16), 0x7FFFFFFF, dtype=torch.int32, device=device)
    conv = Conv(torch.ones(16, 16, device=device), torch.zeros(16, device=device), 1, 1, 16)
    out = torch.empty(1, 16, 16, device=device)
    convolve(bits.view(torch.float32), conv, raw=out)
    assert out.isnan().all()


def test_snake_over_the_range_of_a_sine(device: torch.device) -> None:
    from gpu_engine.kernels.fused.convolution import Conv, Snake, convolve

    x = torch.linspace(-300, 300, 64, device=device)[None, :, None].repeat(1, 1, 16)
    conv = Conv(torch.eye(16, device=device), torch.zeros(16, device=device), 1, 1, 16)
    ones, out = torch.ones(16, device=device), torch.empty(1, 64, 16, device=device)
    convolve(x, conv, ended=out, snake=Snake(ones, ones), exact=True)
    reference = x.double() + x.double().sin() ** 2
    torch.testing.assert_close(out.double(), reference, rtol=1e-7, atol=2e-5)


def test_the_window_slides_around_the_ring(device: torch.device) -> None:
    """150 frames, 12 of them seen at a time, in a ring of 128: chunks of 16 and of 7."""
    from gpu_engine.kernels.fused.window import RING, attend_window

    heads, dim, window = 2, 32, 12
    generator = torch.Generator().manual_seed(4)
    qkv = torch.randn(150, 3 * heads * dim, generator=generator).to(device)
    rates = (10000.0 ** (-torch.arange(dim // 2) / (dim // 2))).to(device)
    keys = torch.full((2, heads, RING, dim), float("nan"), device=device)
    values, slots = keys.clone(), torch.tensor([1], device=device)
    at, pieces = torch.zeros(2, dtype=torch.int64, device=device), []
    while int(at[1]) < 150:
        frames = min(16 if int(at[1]) < 100 else 7, 150 - int(at[1]))
        part = qkv[int(at[1]) : int(at[1]) + frames].contiguous()
        pieces.append(
            attend_window(part, rates, keys, values, slots, at, frames, window, exact=True)
        )
        at[1] += frames
    made = torch.cat(pieces)
    torch.testing.assert_close(made, windowed(qkv, rates, heads, window), rtol=1e-4, atol=1e-5)


def windowed(qkv: torch.Tensor, rates: torch.Tensor, heads: int, window: int) -> torch.Tensor:
    """The same over the whole sequence, in plain PyTorch."""
    steps = torch.arange(len(qkv), device=qkv.device)
    q, k, v = (part.unflatten(1, (heads, -1)).transpose(0, 1) for part in qkv.chunk(3, 1))
    angles = steps[:, None] * rates
    cos, sin = torch.cat([angles] * 2, 1).cos(), torch.cat([angles] * 2, 1).sin()

    def turn(x: torch.Tensor) -> torch.Tensor:
        low, high = x.chunk(2, -1)
        return x * cos + torch.cat([-high, low], -1) * sin

    distance = steps[:, None] - steps
    mask = (distance >= 0) & (distance < window)
    context = torch.nn.functional.scaled_dot_product_attention(turn(q), turn(k), v, attn_mask=mask)
    return context.transpose(0, 1).flatten(1)
