"""Memory asked for before anybody can use it: the L2 fetches it while a kernel does something else.

A chain of small kernels leaves the memory idle wherever one waits for another. What the next will
read is known, so the one that runs asks for it; nothing is kept in registers, and nobody waits.
"""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def ask(address, size):
    """One thread of the program has `size` bytes from `address` on fetched (both whole multiples
    of 16; none where `size` is not above 0). The memory stays what it is."""
    tl.inline_asm_elementwise(
        """{
        .reg .pred one, some;
        .reg .u32 thread;
        mov.u32 thread, %tid.x;
        setp.eq.u32 one, thread, 0;
        setp.gt.and.s32 some, $2, 0, one;
        @some cp.async.bulk.prefetch.L2.global [$1], $2;
        mov.u32 $0, 0;
        }""",
        "=r,l,r",
        [address.to(tl.int64), size.to(tl.int32)],
        dtype=tl.int32,
        is_pure=False,
        pack=1,
    )


@triton.jit
def ask_share(address, total, number, count):
    """The program's share, `number` of `count`, of `total` bytes: whole lines, in order."""
    line: tl.constexpr = 128
    share = (total + count * line - 1) // (count * line) * line
    begin = number * share
    ask(address.to(tl.int64) + begin, tl.minimum(share, total - begin))
