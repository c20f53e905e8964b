"""Prompts to vectors by graphs: one copy of ids and one launch, where `embed_prompt` takes fifteen
launches, shapes that cuBLAS has not met and two copies that wait for all that runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from gpu_engine.models.prompt import NO_CODE, Prompt, PromptPlan, embed_prompt
from gpu_engine.models.talker import Talker
from gpu_engine.runner.device.lanes import Lane, Replay

# Ids of a prompt and of the text behind it; longer ones are embedded without a graph.
LENGTHS = (32, 64, 128, 256, 512)


@dataclass(frozen=True, slots=True)
class _Graph:
    """`ids` int64 [2, n]: text and codec ids; `vectors` [2, n, H]: of the text alone, of both."""

    ids: Tensor
    vectors: Tensor
    replay: Replay


class PromptGraphs:
    """As `embed_prompt`; what it returns is overwritten by the next call, but for `inputs`."""

    def __init__(self, talker: Talker, lane: Lane) -> None:
        self._lane = lane
        self._graphs = {length: self._captured(talker, length) for length in LENGTHS}

    def _captured(self, talker: Talker, length: int) -> _Graph:
        table = talker.codec_head.weight
        ids = torch.zeros(2, length, dtype=torch.int64, device=table.device)
        vectors = table.new_zeros(2, length, table.shape[1])

        def run() -> None:
            coded = talker.codec_embedding(ids[1].clamp(min=0))
            vectors[0] = talker.embed_text(ids[0])
            vectors[1] = vectors[0] + coded.masked_fill((ids[1] == NO_CODE)[:, None], 0.0)

        return _Graph(ids, vectors, self._lane.capture(run))

    def __call__(
        self,
        talker: Talker,
        plan: PromptPlan,
        vector: Tensor | None = None,
        frames: Tensor | None = None,
    ) -> Prompt:
        count, length = len(plan.text_ids), len(plan.text_ids) + len(plan.trailing) + 1
        graph = next((self._graphs[n] for n in LENGTHS if n >= length), None)
        if graph is None:
            return embed_prompt(talker, plan, vector, frames)
        self._lane.put(graph.ids, torch.tensor(list(_padded(plan, graph.ids.shape[1]))))
        graph.replay()
        text, both = graph.vectors
        inputs = both[:count].clone()
        if plan.vector_at is not None and vector is not None:
            inputs[plan.vector_at] += vector
        if plan.frames_at is not None and frames is not None:
            inputs[plan.frames_at : plan.frames_at + len(frames)] += frames
        trailing = text[count : length - 1]
        return Prompt(inputs, trailing, text[length - 1], plan.text_tokens, plan.prefix_length)


def _padded(plan: PromptPlan, length: int) -> Iterator[list[int]]:
    for ids, rest in (
        ((*plan.text_ids, *plan.trailing), plan.pad_id),
        (plan.codec_ids, NO_CODE),
    ):
        yield [*ids, *[rest] * (length - len(ids))]
