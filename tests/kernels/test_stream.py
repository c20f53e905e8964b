"""The streaming frame kernel, compiled for the CPU, every GPU thread a fiber: the same source that
runs on the GPU makes the codes that the plain path makes in bf16, or nearly always."""

from __future__ import annotations

import shutil
from copy import deepcopy
from dataclasses import replace

import pytest
import torch

from gpu_engine.config import PredictorConfig, SamplingConfig, TalkerConfig
from gpu_engine.kernels import plain
from gpu_engine.kernels.ops import make_ops
from gpu_engine.kernels.slots import Arena, arena_for
from gpu_engine.kernels.stream.pack import Shape, tiles
from gpu_engine.models.talker import Talker
from gpu_engine.runner.device.frame import FrameStep, FrameWeights
from gpu_engine.runner.device.streamed import StreamedFrame
from tests.kernels.shapes import PREDICTOR, TALKER, filled

pytestmark = pytest.mark.skipif(
    shutil.which("g++") is None or torch.cuda.is_available(),
    reason="compiles the kernel for a CPU: needs g++ (on a GPU, bench steps --check runs it)",
)

SMALL: PredictorConfig = replace(PREDICTOR, head_dim=64)
CONFIG: TalkerConfig = replace(TALKER, code_predictor_config=SMALL)
SETTINGS = [
    SamplingConfig(subtalker_top_k=9),
    SamplingConfig(subtalker_dosample=False),
    SamplingConfig(subtalker_top_k=0, subtalker_top_p=0.7, subtalker_temperature=1.2),
    SamplingConfig(subtalker_top_k=20, subtalker_top_p=0.5),
]


def shape(columns: int, blocks: int = 4) -> Shape:
    return Shape(
        64,
        96,
        4,
        2,
        64,
        2,
        16,
        64,
        columns,
        chunk=16,
        stages=67 if blocks == 2 else 33,
        blocks=blocks,
    )


@pytest.fixture(scope="module")
def talker() -> Talker:
    return filled(Talker(CONFIG), seed=9).bfloat16()


def arena_of(talker: Talker, slots: int) -> Arena:
    arena = arena_for(CONFIG, slots, 4, 2, talker.codec_head.weight)
    arena.hidden.normal_(generator=torch.Generator().manual_seed(3))
    for slot in range(slots):
        arena.open(slot, 1000 + slot, SETTINGS[slot % len(SETTINGS)])
        arena.code0[slot] = slot
    return arena


def test_a_tile_in_the_order_of_the_tensor_core() -> None:
    """Lane 4 g + t: rows g, g + 8 of columns 2 t, 2 t + 1, then of those 8 on."""
    weight = (torch.arange(32 * 32) % 251).view(32, 32).float()
    packed = tiles(weight)
    assert packed.shape == (2, 2, 32, 8)
    lane = 4 * 5 + 3
    square = weight[16:32, 0:16]
    expected = [square[r, c] for c0 in (6, 14) for r in (5, 13) for c in (c0, c0 + 1)]
    assert packed[1, 0, lane].tolist() == [float(value) for value in expected]


@pytest.mark.parametrize(
    ("columns", "rows", "blocks"),
    [(8, [1], 4), (8, [3, 1, 0, 2], 4), (16, [4, 2, 5, 0, 1], 2)],
    ids=["one row", "four rows", "five rows"],
)
def test_a_frame(talker: Talker, columns: int, rows: list[int], blocks: int) -> None:
    """One row attends in every block, four spread their attention: 2 to 10 columns in pass 0. The
    last pass's logits hang on every pass before it; they are a float32 frame's that is fed the same
    codes, and the last codes are those that the plain sampler draws from them."""
    arena, slots = arena_of(talker, 7), torch.tensor(rows)
    frame = StreamedFrame(FrameWeights(talker), arena, make_ops("plain"), shape(columns, blocks))
    logits = torch.empty(0)
    for _ in range(2):  # the second frame finds the first one's keys and values in its way
        frame(slots)
        logits = frame.room["logits"][: len(rows)].clone()
    codes = arena.codes[slots, 1]
    assert arena.frames[slots].tolist() == [2] * len(rows)
    reference = forced_logits(talker, slots, codes)
    assert float((logits - reference).norm() / reference.norm()) < 0.02
    arena.frames[slots] = 1
    drawn = codes.clone()
    plain.draw_code(logits, arena, slots, drawn, 15, None)
    assert drawn[:, 15].tolist() == codes[:, 15].tolist()


def forced_logits(talker: Talker, slots: torch.Tensor, codes: torch.Tensor) -> torch.Tensor:
    """Logits of code 15 in float32 where the codes before it are given."""
    wide = deepcopy(talker).float()
    arena = arena_of(wide, 7)
    arena.hidden.copy_(arena_of(talker, 7).hidden)
    seen: dict[int, torch.Tensor] = {}

    def draw(
        logits: torch.Tensor,
        _arena: Arena,
        _rows: torch.Tensor,
        into: torch.Tensor,
        group: int,
        table: torch.Tensor | None,
    ) -> torch.Tensor:
        seen[group] = logits
        into[:, group] = codes[:, group]
        return logits if table is None else table[codes[:, group]]

    ops = make_ops("plain")
    ops.draw_code = draw  # type: ignore[method-assign]
    FrameStep(FrameWeights(wide), arena, ops, len(slots))(slots)
    return seen[15]


def test_a_frame_in_which_every_draw_is_clear(talker: Talker) -> None:
    """With peaked heads rounding decides nothing: all codes are equal, whatever the batch."""
    sharp = filled(Talker(CONFIG), seed=11)
    for head in sharp.code_predictor.lm_head:
        head.weight.data *= 12
    sharp = sharp.bfloat16()
    weights, ops = FrameWeights(sharp), make_ops("plain")
    reference, slots = arena_of(sharp, 4), torch.tensor([0, 1, 2, 3])
    FrameStep(weights, reference, ops, 4)(slots)
    for batch in ([0, 1, 2, 3], [2], [3, 0]):
        mine = arena_of(sharp, 4)
        StreamedFrame(weights, mine, ops, shape(8))(torch.tensor(batch))
        assert torch.equal(mine.codes[batch, 0], reference.codes[batch, 0])
        torch.testing.assert_close(mine.next_input[batch], reference.next_input[batch])
