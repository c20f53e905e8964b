"""Voices over two web processes and two engines: made in one, spoken in another, gone from all."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

import httpx
import pytest

from gpu_engine.assemble import assemble
from gpu_engine.proto import engine_pb2 as pb
from tests.product.fleet import Fleet, agreed, cloned, speak, until

# Four processes start for the first of them.
pytestmark = pytest.mark.timeout(600)
KEEP = pb.KeepVoiceRequest
# What is promised of a withdrawal. It is counted from its answer, and a request that comes later is
# answered by what was read later: however slow the machine is, none can be late by that.
WITHIN_SECONDS = 1.0
# While a stream waits: a piece that had begun, one that is due, and one for each patience.
PATIENCE_US = 250_000


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    folder = tmp_path_factory.mktemp("fleet")
    assemble(folder / "base")
    with Fleet(folder, folder / "base") as running:
        yield running


def test_a_voice_is_made_on_one_spoken_on_the_other_and_refused_by_both(fleet: Fleet) -> None:
    """Given a voice that was made through one process and its engine, when the other process
    speaks with it at once, by the other engine, and its consent is withdrawn through the first,
    then both refuse within a second, and no engine is asked."""
    one, other = fleet.webs
    # Its key is known there before the voice is, and so is what it may speak with.
    assert "Ann" not in {each["name"] for each in other.get("/v1/audio/voices").json()["data"]}
    before = fleet.streams()
    consent = agreed(one)
    voice = cloned(one, "Ann", consent)
    spoken = speak(other, voice)
    assert (spoken.status_code, len(spoken.content) > 24_000) == (200, True)
    until(lambda: fleet.streams() == [before[0], before[1] + 1])
    assert speak(one, voice).content == spoken.content

    one.post(f"/v1/audio/voice_consents/{consent}/withdraw").raise_for_status()
    time.sleep(WITHIN_SECONDS)
    refused = [speak(web, voice) for web in fleet.webs]

    assert [each.status_code for each in refused] == [403, 403]
    assert {each.json()["error"]["code"] for each in refused} == {"consent_withdrawn"}
    until(lambda: fleet.streams() == [before[0] + 1, before[1] + 1])


def test_one_reference_under_two_labels_is_one_entry(fleet: Fleet) -> None:
    """Given the same recording under another name, when both speak by both ways."""
    consent, stored = agreed(fleet.webs[0]), fleet.stored().count("artifact")
    names = [cloned(fleet.webs[0], name, consent, pitch=140.0) for name in ("Berta", "Carla")]
    before = [fleet.entries(place)["speakers"] for place in (0, 1)]
    held, streams = [fleet.held(web) for web in fleet.webs], fleet.streams()
    said = [speak(web, name) for web, name in product(fleet.webs, names)]
    assert [each.status_code for each in said] == [200] * 4
    assert len({each.content for each in said}) == 1
    until(lambda: fleet.streams() == [n + 2 for n in streams])
    assert [fleet.entries(place)["speakers"] for place in (0, 1)] == [n + 1 for n in before]
    assert [fleet.held(web) for web in fleet.webs] == [n + 1 for n in held]
    assert fleet.stored().count("artifact") == stored + 1


def test_a_consent_that_is_withdrawn_through_the_other_ends_on_both(fleet: Fleet) -> None:
    """Given both processes have just spoken with it."""
    one, other = fleet.webs
    consent = agreed(one)
    voice = cloned(one, "Dora", consent, pitch=160.0)
    assert [speak(web, voice).status_code for web in fleet.webs] == [200, 200]
    other.post(f"/v1/audio/voice_consents/{consent}/withdraw").raise_for_status()
    time.sleep(WITHIN_SECONDS)
    refused = [speak(web, voice) for web in fleet.webs]
    assert [each.status_code for each in refused] == [403, 403]
    assert {each.json()["error"]["code"] for each in refused} == {"consent_withdrawn"}


def test_voices_that_speak_at_once_say_what_they_say_alone(fleet: Fleet) -> None:
    """Given three of them, when each speaks twice on each engine beside the others, then nobody is
    heard in another's voice, not even at the start."""
    one = fleet.webs[0]
    consent = agreed(one)
    pitches = {"Gerd": 130.0, "Hans": 150.0, "Ida": 190.0}
    voices = [cloned(one, name, consent, pitch) for name, pitch in pitches.items()]
    alone = {voice: speak(one, voice).content for voice in voices}
    assert len(set(alone.values())) == 3
    asked = [*product(fleet.webs, voices)] * 2
    with ThreadPoolExecutor(6) as pool:
        together = list(pool.map(lambda each: spoken(*each), asked))
    assert together == [alone[voice] for _, voice in asked]


def spoken(web: httpx.Client, voice: str) -> bytes:
    """Asked again while the engine is full."""
    while (answer := speak(web, voice)).status_code == 503:
        time.sleep(float(answer.headers["retry-after"]))
    assert answer.status_code == 200, answer.text
    return answer.content


def test_a_cold_voice_keeps_nobody_waiting(fleet: Fleet) -> None:
    """Given a known voice that speaks while the same engine makes eight others, then these are
    encoded a piece at a time while a stream waits for its first audio, and what the known voice
    says is what it said alone."""
    web = fleet.webs[0]
    voice = cloned(web, "Emil", agreed(web), pitch=100.0)
    alone = speak(web, voice).content
    with ThreadPoolExecutor(5) as pool:
        tracing = pool.submit(fleet.trace, 0, 20.0)
        making = [pool.submit(fleet.encode, 0, 170.0 + 5 * n) for n in range(8)]
        beside = [speak(web, voice).content]
        while not tracing.done():
            beside.append(speak(web, voice).content)
        for each in making:
            each.result()
        events = tracing.result()
    encoded = [event for event in events if event["ph"] == "X" and event["name"] == "encode"]
    waits = first_waits(events)
    assert set(beside) == {alone}
    assert len(encoded) >= 8
    assert waits
    for begin, first in waits:
        meanwhile = [each for each in encoded if begin < each["ts"] < first]
        assert len(meanwhile) <= 2 + (first - begin) // PATIENCE_US


def first_waits(events: list[dict]) -> list[tuple[int, int]]:
    """From a stream's arrival to its first audio, in microseconds."""
    moments = [event for event in events if event.get("cat") == "streams"]
    begun = {event["id"]: event["ts"] for event in moments if event["ph"] == "b"}
    first = {event["id"]: event["ts"] for event in moments if event["ph"] == "n"}
    return [(begun[each], at) for each, at in first.items() if each in begun]


def test_a_deleted_voice_is_gone_from_everywhere(fleet: Fleet) -> None:
    """Given voices that spoke on both engines through both processes, one of them pinned in both,
    when their consents are deleted, then nothing of them is left."""
    one, other = fleet.webs
    consent = agreed(one)
    voice = cloned(one, "Fritz", consent, pitch=110.0)
    assert [speak(web, voice).status_code for web in fleet.webs] == [200, 200]
    contents = [file.read_bytes() for file in (fleet.folder / "voices").rglob("?" * 64)]
    # A signature, then what the engine made.
    made = next(each[32:] for each in contents if each[32:].startswith(b"PVA1"))
    for stub in fleet.stubs:
        pinned = pb.Voice(artifact=pb.Artifact(data=made))
        stub.KeepVoice(KEEP(voice=pinned, id=voice, name="Fritz", act=KEEP.ACT_PIN))

    for each in one.get("/v1/audio/voice_consents", params={"limit": 100}).json()["data"]:
        one.delete(f"/v1/audio/voice_consents/{each['id']}").raise_for_status()
    time.sleep(WITHIN_SECONDS)

    refused = [speak(web, voice).json()["error"]["code"] for web in fleet.webs]
    assert refused == ["unknown_voice"] * 2
    # Looked at twice a second, where the processors are free.
    until(lambda: [fleet.held(web) for web in fleet.webs] == [0, 0])
    assert fleet.stored() == []
    fleet.start_worker()
    until(lambda: len(fleet.audit("voice.forgotten")) == len(fleet.audit("voice.deleted")))
    until(lambda: [fleet.entries(place) for place in (0, 1)] == fleet.fresh)
    assert [list(fleet.status(place).pinned) for place in (0, 1)] == [[], []]
    told = [engine for each in fleet.audit("voice.forgotten") for engine in each["engines"]]
    assert {engine["engine"] for engine in told if engine["before"]["pinned"]} == {1, 2}
    assert all(engine["after"] == {"pinned": False, "entries": 0, "bytes": 0} for engine in told)
    assert other.get("/v1/audio/voices").json()["data"] == []
    assert left_behind(fleet.folder, contents) == []


def left_behind(folder: Path, contents: list[bytes]) -> list[Path]:
    """Files below it that have the middle of one of these in them."""
    parts = [each[len(each) // 2 :][:64] for each in contents]
    return [file for file in folder.rglob("*") if any(part in _read(file) for part in parts)]


def _read(file: Path) -> bytes:
    """Databases have files that come and go."""
    try:
        return file.read_bytes() if file.is_file() else b""
    except FileNotFoundError:
        return b""
