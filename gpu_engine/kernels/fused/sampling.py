"""One program draws one row's code: processors, top-k, top-p and the draw, without a sort.

The k-th largest score is found by its bits, two at a time: how many scores reach each of three
candidates is one reduction (sixteen candidates at once spilled registers). The draw is the CPU's
(`gpu_engine.models.sampling`): the same uniform number against the same distribution.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from gpu_engine.kernels.slots import Arena, Draws
from gpu_engine.models.sampling import MIN_TOKENS, SpeechRules


@triton.jit
def _ordered(x):
    """Float32 as uint32 that compares alike."""
    bits = x.to(tl.int32, bitcast=True)
    return (bits ^ ((bits >> 31) & 0x7FFFFFFF)).to(tl.uint32, bitcast=True) ^ 0x80000000


@triton.jit
def _kth_largest(key, k, STEPS: tl.constexpr):
    """The k-th largest of `key` [V < 2**20] uint32, k >= 1, in its first 2 * STEPS bits."""
    found = tl.zeros((1,), tl.uint32)
    for step in range(STEPS):
        shift = 30 - 2 * step
        one = tl.full((1,), 1, tl.uint32) << shift
        # How many reach each of three candidates, side by side in one sum.
        reached = (key >= found + one).to(tl.int64)
        reached += (key >= found + 2 * one).to(tl.int64) << 20
        reached += (key >= found + 3 * one).to(tl.int64) << 40
        counts = tl.sum(reached, 0)
        digit = ((counts & 0xFFFFF) >= k).to(tl.uint32) + (((counts >> 20) & 0xFFFFF) >= k).to(
            tl.uint32
        )
        digit += ((counts >> 40) >= k).to(tl.uint32)
        found += digit << shift
    return found


@triton.jit
def _nucleus(key, mass, tail):
    """The smallest key whose mass together with all below it exceeds `tail`."""
    found = tl.zeros((1,), tl.uint32)
    for step in range(16):
        shift = 30 - 2 * step
        one = tl.full((1,), 1, tl.uint32) << shift
        digit = (tl.sum(tl.where(key < found + one, mass, 0.0), 0) <= tail).to(tl.uint32)
        digit += (tl.sum(tl.where(key < found + 2 * one, mass, 0.0), 0) <= tail).to(tl.uint32)
        digit += (tl.sum(tl.where(key < found + 3 * one, mass, 0.0), 0) <= tail).to(tl.uint32)
        found += digit << shift
    return found


@triton.jit
def _drawn(score, i, slot, V, temperature, top_k, top_p, seed, frame, group,
           STEPS: tl.constexpr):  # fmt: skip
    """The id that the row's settings and its uniform number choose from `score` [padded V], of
    which the first 2 * STEPS bits differ."""
    heat = tl.load(temperature + slot)
    greedy = tl.argmax(score, 0)
    key = _ordered(score)
    score = score / tl.where(heat > 0, heat, 1.0)
    k = tl.load(top_k + slot)
    if k > 0:
        floor = _kth_largest(key, tl.minimum(k, V), STEPS)
        score = tl.where(key >= floor, score, float("-inf"))
    mass = tl.exp(score - tl.max(score, 0))
    p = tl.load(top_p + slot)
    if p < 1.0:
        floor = _nucleus(_ordered(score), mass / tl.sum(mass, 0), 1.0 - p)
        mass = tl.where(_ordered(score) >= floor, mass, 0.0)
    mass = mass / tl.sum(mass, 0)
    risen = tl.cumsum(mass, 0)
    word, _1, _2, _3 = tl.philox(tl.load(seed + slot), tl.load(frame + slot).to(tl.uint32), group,
                                 0, 0)  # fmt: skip
    noise = (word >> 9).to(tl.float32) * 1.1920928955078125e-07  # 2**-23
    total = tl.max(tl.where(i < V, risen, 0.0), 0)
    drawn = tl.sum(((risen <= noise * total) & (i < V)).to(tl.int32), 0)
    # Not a number compares false everywhere: whatever comes out stays an id.
    return tl.minimum(tl.where(heat > 0, drawn, greedy), V - 1)


@triton.jit
def _talker_kernel(logits, slots, seen, tokens, blocked, temperature, top_k, top_p, penalty, seed,
                   frames, chosen, V, end, least, BLOCK: tl.constexpr,
                   EARLY: tl.constexpr):  # fmt: skip
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    if EARLY:
        tl.extra.cuda.gdc_launch_dependents()
        tl.extra.cuda.gdc_wait()
    slot = tl.load(slots + row)
    score = tl.load(logits + row * V + i, mask=i < V, other=float("-inf")).to(tl.float32)
    rate = tl.load(penalty + slot)
    before = tl.load(seen + slot * V + i, mask=i < V, other=0) != 0
    score = tl.where(before, tl.where(score < 0, score * rate, score / rate), score)
    count = tl.load(tokens + slot)
    never = tl.load(blocked + i, mask=i < V, other=1) != 0
    score = tl.where(never | ((i == end) & (count < least)), float("-inf"), score)
    code = _drawn(score, i, slot, V, temperature, top_k, top_p, seed, frames, 0, 16)
    tl.debug_barrier()  # the history was read by other threads than the one that writes it
    tl.store(seen + slot * V + code, 1)
    tl.store(tokens + slot, count + 1)
    tl.store(chosen + row, code.to(tl.int64))


@triton.jit
def _code_kernel(logits, slots, temperature, top_k, top_p, seed, frames, codes, table, out, V,
                 group, GROUPS, K, BLOCK: tl.constexpr, WIDTH: tl.constexpr,
                 EARLY: tl.constexpr):  # fmt: skip
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    if EARLY:
        tl.extra.cuda.gdc_launch_dependents()
        tl.extra.cuda.gdc_wait()
    slot = tl.load(slots + row)
    score = tl.load(logits + row * V + i, mask=i < V, other=float("-inf")).to(tl.float32)
    # Scores that were bf16 have sixteen bits.
    steps: tl.constexpr = 8 if logits.dtype.element_ty == tl.bfloat16 else 16
    code = _drawn(score, i, slot, V, temperature, top_k, top_p, seed, frames, group, steps)
    tl.store(codes + row * GROUPS + group, code.to(tl.int64))
    if WIDTH:
        k = tl.arange(0, WIDTH)
        entry = tl.load(table + code.to(tl.int64) * K + k, mask=k < K, other=0.0)
        tl.store(out + row * K + k, entry, mask=k < K)


def draw_talker(
    logits: Tensor, arena: Arena, rows: Tensor, rules: SpeechRules, early: bool = False
) -> Tensor:
    """As `plain.draw_talker`."""
    chosen = rows.new_empty(len(logits))
    vocabulary = logits.shape[1]
    _talker_kernel[(len(logits),)](
        logits, rows, arena.seen.view(dtype=torch.uint8), arena.tokens,
        rules.blocked.view(dtype=torch.uint8),
        *_settings(arena.talker), arena.talker.penalty, arena.seed, arena.frames, chosen,
        vocabulary, rules.end, MIN_TOKENS, BLOCK=triton.next_power_of_2(vocabulary), EARLY=early,
        num_warps=16, **({"launch_pdl": True} if early else {}),
    )  # fmt: skip
    return chosen


def draw_code(
    logits: Tensor,
    arena: Arena,
    rows: Tensor,
    codes: Tensor,
    group: int,
    table: Tensor | None,
    early: bool = False,
) -> Tensor:
    """As `plain.draw_code`."""
    vocabulary = logits.shape[1]
    entry = logits if table is None else table.new_empty(len(logits), table.shape[1])
    width = 0 if table is None else triton.next_power_of_2(table.shape[1])
    _code_kernel[(len(logits),)](
        logits, rows, *_settings(arena.predictor), arena.seed, arena.frames, codes,
        logits if table is None else table, entry, vocabulary, group, codes.shape[1],
        entry.shape[1], BLOCK=triton.next_power_of_2(vocabulary), WIDTH=width, EARLY=early,
        num_warps=8, **({"launch_pdl": True} if early else {}),
    )  # fmt: skip
    return entry


def _settings(draws: Draws) -> tuple[Tensor, Tensor, Tensor]:
    return draws.temperature, draws.top_k, draws.top_p
