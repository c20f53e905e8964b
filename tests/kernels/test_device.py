"""The graph device with its references, on a CPU, against the CPU's own device: same codes, same
audio, whatever the batch; what is not tested here is only what a GPU does by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
import torch

from gpu_engine.config import SamplingConfig
from gpu_engine.models.checkpoint import Checkpoint
from gpu_engine.models.prompt import PromptRequest, Reference, plan_prompt
from gpu_engine.runner import Device, LocalDevice, Runner, Session
from gpu_engine.runner.device.plan import Plan
from gpu_engine.runner.device.runner import GraphDevice
from tests.parity.conftest import checkpoint, checkpoint_folder

__all__ = ["checkpoint", "checkpoint_folder"]

CUSTOM, BASE = "tiny-1b7-custom_voice", "tiny-1b7-base"
SLOTS, POSITIONS = 4, 96
SAMPLING = [SamplingConfig(), SamplingConfig(do_sample=False), SamplingConfig(top_k=5, top_p=0.8)]


def requests(checkpoint: Checkpoint) -> Iterator[PromptRequest]:
    """Three streams: full text, streamed text of one voice, and of that voice once more."""
    if checkpoint.config.kind == "base":
        width = checkpoint.config.talker.hidden_size
        generator = torch.Generator().manual_seed(1)
        vector = torch.randn(width, generator=generator)
        codes = torch.randint(0, 32, (5, 16), generator=generator)
        reference = Reference("Who speaks here?", codes)
        yield PromptRequest("It is me.", embedding=vector, reference=reference)
        yield PromptRequest("Or somebody else.", embedding=-vector)
        yield PromptRequest("Nobody knows.", embedding=-vector, layout="full")
        return
    speaker = next(iter(checkpoint.config.talker.spk_id))
    yield PromptRequest("Good morning.", speaker=speaker)
    yield PromptRequest("All is well today.", speaker=speaker, layout="streaming")
    yield PromptRequest("And tomorrow too.", speaker=speaker, layout="streaming")


def opened(device: Device, checkpoint: Checkpoint) -> list[int]:
    """Opens the three streams in slots 2, 0, 3 and prefills those that ask for it."""
    slots = [2, 0, 3]
    for slot, sampling, request in zip(slots, SAMPLING, requests(checkpoint), strict=True):
        plan = plan_prompt(checkpoint.config, checkpoint.tokenizer, request)
        codes = request.reference.codes if request.reference else None
        session = Session(plan, sampling, 99 + slot, request.embedding, codes)
        prefills = device.open(slot, session)
        jobs = [device.prefill] * prefills or [device.talk]
        assert not any(job(np.array([slot])).wait().broken.any() for job in jobs)
    return slots


def spoken(device: Device, slots: list[int], frames: int) -> None:
    every = np.array(slots)
    for frame in range(frames):
        device.predict(every)
        if frame + 1 < frames:
            device.talk(every)


@pytest.mark.parametrize("name", [CUSTOM, BASE])
def test_codes_and_audio_are_the_cpu_device_s(
    checkpoint: Callable[[str], Checkpoint], name: str
) -> None:
    loaded = checkpoint(name)
    plan = Plan.plain(SLOTS, POSITIONS)
    devices = GraphDevice(loaded, plan), LocalDevice(Runner(loaded, SLOTS, POSITIONS))
    codes, audio = [], []
    for device in devices:
        slots = opened(device, loaded)
        spoken(device, slots, 5)
        codes.append([device.spoken_codes(slot, 5).tolist() for slot in slots])
        first = device.decode(np.array(slots), 1).wait().audio
        rest = device.decode(np.array([0, 3]), 4).wait().audio
        assert first is not None
        assert rest is not None
        audio.append((first, rest))
    assert codes[0] == codes[1]
    for mine, theirs in zip(*audio, strict=True):
        assert mine.shape == theirs.shape
        np.testing.assert_allclose(mine, theirs, atol=2e-5)


def test_the_batch_does_not_change_a_stream(checkpoint: Callable[[str], Checkpoint]) -> None:
    loaded = checkpoint(CUSTOM)
    codes = []
    for together in (True, False):
        device = GraphDevice(loaded, Plan.plain(SLOTS, POSITIONS))
        slots = opened(device, loaded)
        for part in [slots] if together else [[slot] for slot in slots]:
            spoken(device, part, 4)
        codes.append([device.spoken_codes(slot, 4).tolist() for slot in slots])
    assert codes[0] == codes[1]


def test_the_beginning_of_a_prompt_is_read_once(checkpoint: Callable[[str], Checkpoint]) -> None:
    """A voice's second streamed text joins without a prefill."""
    device = GraphDevice(checkpoint(CUSTOM), Plan.plain(SLOTS, POSITIONS))
    opened(device, checkpoint(CUSTOM))
    stats = device.kept.stats()["beginnings"]
    assert (stats.hits, stats.misses, stats.entries) == (1, 1, 1)
    assert stats.nbytes > 0


def test_a_reference_that_comes_first_is_kept_whole(
    checkpoint: Callable[[str], Checkpoint],
) -> None:
    """Heard in parts by who comes first; who comes second joins without a prefill."""
    loaded = checkpoint(BASE)
    generator = torch.Generator().manual_seed(1)
    vector = torch.randn(loaded.config.talker.hidden_size, generator=generator)
    reference = Reference("Who speaks here?", torch.randint(0, 32, (20, 16), generator=generator))
    made = []
    for device in (
        GraphDevice(loaded, Plan.plain(SLOTS, POSITIONS)),
        LocalDevice(Runner(loaded, SLOTS, POSITIONS)),
    ):
        prefills, audio = [], []
        for slot, text in enumerate(("It is me.", "And me again.")):
            request = PromptRequest(
                text, embedding=vector, reference=reference, layout="reference_first"
            )
            plan = plan_prompt(loaded.config, loaded.tokenizer, request)
            prefills.append(
                device.open(slot, Session(plan, SAMPLING[0], 7, vector, reference.codes))
            )
            for job in [device.prefill] * prefills[-1] or [device.talk]:
                assert not job(np.array([slot])).wait().broken.any()
            spoken(device, [slot], 4)
            audio.append(device.decode(np.array([slot]), 4).wait().audio)
        codes = [device.spoken_codes(slot, 4).tolist() for slot in (0, 1)]
        made.append((prefills[1], codes, audio))
        assert prefills[0] > 2
        assert device.kept.stats()["references"].hits == 1
    (joined, codes, audio), (_, cpu_codes, cpu_audio) = made
    assert joined == 0
    assert codes == cpu_codes
    for mine, theirs in zip(audio, cpu_audio, strict=True):
        np.testing.assert_allclose(mine, theirs, atol=2e-5)


def test_a_voice_that_is_made_is_the_cpu_device_s(checkpoint: Callable[[str], Checkpoint]) -> None:
    loaded = checkpoint(BASE)
    tone = np.sin(np.arange(30_000) / 20) * np.linspace(0.1, 0.8, 30_000)
    made = []
    for device in (
        GraphDevice(loaded, Plan.plain(SLOTS, POSITIONS)),
        LocalDevice(Runner(loaded, SLOTS, POSITIONS)),
    ):
        encoding = device.begin_voice(tone.astype("<f4").tobytes(), with_codes=True)
        outcomes = [device.encode(encoding).wait()]
        while outcomes[-1].voice is None:
            outcomes.append(device.encode(encoding).wait())
        assert not any(outcome.broken.any() for outcome in outcomes)
        made.append(outcomes[-1].voice)
    (vector, codes), (cpu_vector, cpu_codes) = made
    assert codes == cpu_codes
    values = (np.frombuffer(each, "<f4") for each in (vector, cpu_vector))
    np.testing.assert_allclose(*values, atol=1e-5)


def test_text_that_comes_later_is_spoken(checkpoint: Callable[[str], Checkpoint]) -> None:
    """Four more text tokens after the first frame: the codes are the CPU device's."""
    loaded = checkpoint(CUSTOM)
    codes = []
    for device in (
        GraphDevice(loaded, Plan.plain(SLOTS, POSITIONS)),
        LocalDevice(Runner(loaded, SLOTS, POSITIONS)),
    ):
        slots = opened(device, loaded)
        spoken(device, [0], 1)
        device.extend(0, [5, 6, 7, 8])
        for _ in range(6):
            device.talk(np.array([0]))
            device.predict(np.array([0]))
        codes.append(device.spoken_codes(0, 7).tolist())
        assert slots[1] == 0
    assert codes[0] == codes[1]


def test_a_row_that_breaks_is_told_alone(checkpoint: Callable[[str], Checkpoint]) -> None:
    device = GraphDevice(checkpoint(CUSTOM), Plan.plain(SLOTS, POSITIONS))
    slots = opened(device, checkpoint(CUSTOM))
    spoken(device, slots, 1)
    with torch.inference_mode():
        device.arena.next_input[0] = float("nan")
    told = device.talk(np.array(slots)).wait()
    assert told.broken.tolist() == [False, True, False]
    spoken(device, [2, 3], 1)
    assert not device.talk(np.array([2, 3])).wait().broken.any()


def test_a_slot_starts_anew(checkpoint: Callable[[str], Checkpoint]) -> None:
    """What was spoken in a slot before is nowhere in what is spoken next."""
    loaded = checkpoint(CUSTOM)
    device = GraphDevice(loaded, Plan.plain(SLOTS, POSITIONS))
    heard = []
    for _ in range(2):
        slots = opened(device, loaded)
        spoken(device, slots, 3)
        audio = device.decode(np.array(slots), 3).wait().audio
        assert audio is not None
        heard.append(([device.spoken_codes(slot, 3).tolist() for slot in slots], audio))
        for slot in slots:
            device.close(slot)
    assert heard[0][0] == heard[1][0]
    np.testing.assert_array_equal(heard[0][1], heard[1][1])
