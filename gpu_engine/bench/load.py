"""Load from outside: an open loop that waits for nobody, one stream alone, several together."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence

from gpu_engine.bench.client import Take, Target, speak
from gpu_engine.bench.texts import paragraph, sentences

Tell = Callable[[int], None]


def poisson(rate: float, seconds: float, seed: int) -> list[float]:
    """Send times of a Poisson process, at least one."""
    rng = random.Random(seed)
    times = [0.0]
    while (following := times[-1] + rng.expovariate(rate)) < seconds:
        times.append(following)
    return times


async def open_loop(
    target: Target, rate: float, seconds: float, seed: int, tell: Tell
) -> list[Take]:
    """One request at each arrival, however many are under way. `tell` hears how many have ended."""
    times = poisson(rate, seconds, seed)
    texts = sentences(len(times), seed)
    ended = 0

    async def one(at: float, text: str, number: int) -> Take:
        nonlocal ended
        await asyncio.sleep(at)
        take = await speak(target, text, number)
        ended += 1
        tell(ended)
        return take

    tasks = [one(*job, number) for number, job in enumerate(zip(times, texts, strict=True))]
    return list(await asyncio.gather(*tasks))


async def one_by_one(target: Target, texts: Sequence[str], seed: int) -> list[Take]:
    return [await speak(target, text, seed + number) for number, text in enumerate(texts)]


async def together(target: Target, texts: Sequence[str], seed: int) -> list[Take]:
    """All sent at once."""
    takes = (speak(target, text, seed + number) for number, text in enumerate(texts))
    return list(await asyncio.gather(*takes))


def long_texts(count: int, seed: int, characters: int = 150) -> list[str]:
    """About ten seconds of speech each."""
    return [paragraph(characters, seed + number) for number in range(count)]
