"""Numbers as several kernels need them."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def nearest_tf32(x):
    """Float32 rounded to the ten bits that tensor cores read: they cut, always towards zero, and
    that adds up over a product's depth. What is not a number stays so."""
    bits = (x.to(tl.int32, bitcast=True) + 0x1000) & -0x2000
    return tl.where(x == x, bits.to(tl.float32, bitcast=True), x)


@triton.jit
def sine_squared(x):
    """sin(x)**2 to 1e-7: its period is pi, so one subtraction and a polynomial do, without the
    branch for huge arguments that a general sine has."""
    n = tl.floor(x * 0.3183098861837907 + 0.5)
    r = (x - n * 3.140625) - n * 9.676535897932385e-4  # pi in two pieces, the first one short
    q = r * r
    s = 1.0 / 362880.0 - q * (1.0 / 39916800.0)
    s = 1.0 / 120.0 + q * (-1.0 / 5040.0 + q * s)
    s = r * (1.0 + q * (-1.0 / 6.0 + q * s))
    return s * s
