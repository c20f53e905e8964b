"""The reference of every kernel: plain PyTorch, any device, any dtype."""

from gpu_engine.kernels.plain.attention import attend_frame, attend_prompt, attend_slots
from gpu_engine.kernels.plain.linear import gated, linear, norm
from gpu_engine.kernels.plain.rows import close_frame, close_talker, frame_input, talker_input
from gpu_engine.kernels.plain.sampling import draw_code, draw_talker

__all__ = [
    "attend_frame",
    "attend_prompt",
    "attend_slots",
    "close_frame",
    "close_talker",
    "draw_code",
    "draw_talker",
    "frame_input",
    "gated",
    "linear",
    "norm",
    "talker_input",
]
