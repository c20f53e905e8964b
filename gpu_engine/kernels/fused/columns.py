"""What happens to the codec's columns beside products: ConvNeXt's mixing, and layers' memories on
their way between slots and buffers."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor


@triton.jit
def _mix_kernel(x, taps, bias, gain, shift, y, T, C, x_stride, eps, TAPS: tl.constexpr,
                BLOCK: tl.constexpr):  # fmt: skip
    """Depthwise causal convolution and LayerNorm of one column."""
    b, t, c = tl.program_id(1).to(tl.int64), tl.program_id(0), tl.arange(0, BLOCK)
    inside = c < C
    acc = tl.load(bias + c, mask=inside, other=0.0).to(tl.float32)
    for tap in tl.static_range(TAPS):
        v = tl.load(x + b * x_stride + (t + tap) * C + c, mask=inside, other=0.0).to(tl.float32)
        acc += v * tl.load(taps + tap * C + c, mask=inside, other=0.0).to(tl.float32)
    mean = tl.sum(acc, 0) / C
    centred = tl.where(inside, acc - mean, 0.0)
    acc = centred * tl.rsqrt(tl.sum(centred * centred, 0) / C + eps)
    acc = acc * tl.load(gain + c, mask=inside, other=0.0).to(tl.float32)
    acc += tl.load(shift + c, mask=inside, other=0.0).to(tl.float32)
    tl.store(y + (b * T + t) * C + c, acc.to(y.dtype.element_ty), mask=inside)


@triton.jit
def _memory_kernel(places, slots, frames, ITEM: tl.constexpr, BACK: tl.constexpr,
                   BLOCK: tl.constexpr):  # fmt: skip
    """One layer's memory of one row: from its slot to before the new columns, or BACK from the end
    of `frames` new frames to the slot. `places` [layers, 5]: slot array, buffer, numbers of a
    memory, of a buffer's row, of a frame."""
    row, layer = tl.program_id(0), tl.program_id(1)
    table = places + layer * 5
    size, line = tl.load(table + 2), tl.load(table + 3)
    slot = tl.load(slots + row)
    arena = tl.load(table).to(tl.pointer_type(ITEM)) + slot * size
    buffer = tl.load(table + 1).to(tl.pointer_type(ITEM)) + row * line
    i = tl.arange(0, BLOCK)
    if BACK:
        buffer += tl.load(frames) * tl.load(table + 4)
    for start in range(0, size, BLOCK):
        inside = start + i < size
        if BACK:
            tl.store(arena + start + i, tl.load(buffer + start + i, mask=inside), mask=inside)
        else:
            tl.store(buffer + start + i, tl.load(arena + start + i, mask=inside), mask=inside)


def mix(x: Tensor, taps: Tensor, bias: Tensor, norm: tuple[Tensor, Tensor], eps: float) -> Tensor:
    """ConvNeXt's first half: x [B, taps - 1 + T, C] (a buffer), taps [kernel, C] to [B, T, C]."""
    batch, channels = x.shape[0], x.shape[2]
    steps = x.shape[1] - len(taps) + 1
    y = x.new_empty(batch, steps, channels)
    _mix_kernel[(steps, batch)](
        x, taps, bias, *norm, y, steps, channels, x.stride(0), eps,
        TAPS=len(taps), BLOCK=triton.next_power_of_2(channels), num_warps=4,
    )  # fmt: skip
    return y


def remember(places: Tensor, slots: Tensor, frames: Tensor, item: torch.dtype, back: bool) -> None:
    """All layers' memories between slots and buffers in one launch: see `_memory_kernel`."""
    kinds = {torch.float32: tl.float32, torch.float16: tl.float16, torch.bfloat16: tl.bfloat16}
    _memory_kernel[(len(slots), len(places))](
        places, slots, frames, ITEM=kinds[item], BACK=back, BLOCK=1024, num_warps=4
    )
