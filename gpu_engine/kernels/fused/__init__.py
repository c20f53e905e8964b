"""The functions of `gpu_engine.kernels.plain` in Triton, or in its interpreter without a GPU."""

from gpu_engine.kernels.fused.attention import attend_frame
from gpu_engine.kernels.fused.linear import Tuning, gated, linear
from gpu_engine.kernels.fused.prompt_attention import attend_prompt
from gpu_engine.kernels.fused.rows import (
    close_frame,
    close_talker,
    frame_input,
    gate,
    norm,
    talker_input,
)
from gpu_engine.kernels.fused.sampling import draw_code, draw_talker
from gpu_engine.kernels.fused.slot_attention import attend_slots

__all__ = [
    "Tuning",
    "attend_frame",
    "attend_prompt",
    "attend_slots",
    "close_frame",
    "close_talker",
    "draw_code",
    "draw_talker",
    "frame_input",
    "gate",
    "gated",
    "linear",
    "norm",
    "talker_input",
]
