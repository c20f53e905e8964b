"""What who runs the engine may do with it: drain it, have voices stay or go, look into its loop."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import structlog

from gpu_engine import messages as m
from gpu_engine.errors import EngineError, InvalidRequest
from gpu_engine.proto import engine_pb2 as pb
from gpu_engine.server.link import Link
from gpu_engine.server.opening import LONGEST_NAME, Desk
from gpu_engine.server.sessions import open_session
from gpu_engine.server.supervisor import Supervisor
from gpu_engine.server.trace_file import TraceFile

log = structlog.get_logger()

ACTS: dict[int, m.Act] = {
    pb.KeepVoiceRequest.ACT_UNSPECIFIED: "look",
    pb.KeepVoiceRequest.ACT_PIN: "pin",
    pb.KeepVoiceRequest.ACT_UNPIN: "unpin",
    pb.KeepVoiceRequest.ACT_UNLOAD: "unload",
}
# What each has is told with every heartbeat.
MOST_PINS = 64
SHORTEST_TRACE_S, LONGEST_TRACE_S = 1, 30
MOST_ARTIFACTS, ARTIFACT_BYTES = 1000, 32
READ_IN, READ_IN_S = "Ready.", 3.0


@dataclass(frozen=True, slots=True)
class Pin:
    """`id` and `name` are the caller's, `artifact` and `start` what a stream in this voice is."""

    id: str
    name: str
    artifact: bytes
    start: pb.Start


class Operations:
    """Pins are kept here, since a core that dies takes its caches along."""

    def __init__(self, desk: Desk, supervisor: Supervisor) -> None:
        self._desk, self._supervisor = desk, supervisor
        self._pins: dict[m.Speaker, Pin] = {}
        self._renewing: set[asyncio.Task[None]] = set()
        self._is_traced = False

    def drain(self, request: pb.DrainRequest) -> pb.DrainResponse:
        was_drained = self._supervisor.drain(request.drained)
        status = self._supervisor.status
        streams = status.streams if status is not None else 0
        return pb.DrainResponse(was_drained=was_drained, drained=request.drained, streams=streams)

    async def keep(self, request: pb.KeepVoiceRequest) -> pb.KeepVoiceResponse:
        """Raises EngineError."""
        act = ACTS.get(request.act)
        if act is None:
            raise InvalidRequest("unknown act", "act")
        if max(len(request.name), len(request.id)) > LONGEST_NAME:
            raise InvalidRequest(f"longer than {LONGEST_NAME} characters", "name")
        artifacts = _artifacts(request)
        if act != "pin":
            return await self._keep(request, artifacts, act)
        if artifacts:
            raise InvalidRequest("a voice is pinned by its content, not by an id", "artifacts")
        return await self._pin(request)

    async def _pin(self, request: pb.KeepVoiceRequest) -> pb.KeepVoiceResponse:
        """Counted before anything is waited for: many at once find no more places than there are.
        One that is unpinned or unloaded meanwhile is not read in."""
        start = self._start(request)
        submit, speaker = self._first(start)
        self._check_room(speaker)
        pin = Pin(request.id, request.name, submit.artifact, start)
        before_that, self._pins[speaker] = self._pins.get(speaker), pin
        try:
            link = self._supervisor.control
            before = (await link.keep(speaker, "pin")).before
            await self._read_in(link, speaker, pin)
            after = (await link.keep(speaker, "look")).after
        except EngineError:
            self._take_back(speaker, pin, before_that)
            raise
        return pb.KeepVoiceResponse(before=_public(before, request), after=_public(after, request))

    def _take_back(self, speaker: m.Speaker, pin: Pin, before: Pin | None) -> None:
        if self._pins.get(speaker) is pin:
            del self._pins[speaker]
            if before is not None:
                self._pins[speaker] = before

    async def _keep(
        self, request: pb.KeepVoiceRequest, artifacts: list[bytes], act: m.Act
    ) -> pb.KeepVoiceResponse:
        """Of the voice, of these artifacts, and of all that is pinned under the same id: what is
        deleted elsewhere can still be named. Their pins end first: no new core learns of them."""
        speakers: set[m.Speaker] = {*artifacts, *self._pinned_as(request.id, artifacts)}
        if request.HasField("voice"):
            speakers.add(self._first(self._start(request))[1])
        told: dict[m.Speaker, tuple[m.Held, m.Held]] = {}
        for speaker in speakers:
            if act != "look":
                self._pins.pop(speaker, None)
            answer = await self._supervisor.control.keep(speaker, act)
            found = answer.before.speaker
            if act != "look":
                self._pins.pop(found, None)
            told[found] = told.get(found, (answer.before, answer.after))[0], answer.after
        before, after = ([pair[at] for pair in told.values()] for at in (0, 1))
        return pb.KeepVoiceResponse(before=_sum(before, request), after=_sum(after, request))

    def _pinned_as(self, id: str, artifacts: list[bytes]) -> set[m.Speaker]:
        return {
            speaker
            for speaker, pin in self._pins.items()
            if (id and pin.id == id) or pin.artifact in artifacts
        }

    def renew_pins(self) -> None:
        """In a core that may be new."""
        if self._pins:
            task = asyncio.create_task(self._renew_pins())
            self._renewing.add(task)
            task.add_done_callback(self._renewing.discard)

    async def trace(self, request: pb.TraceRequest) -> pb.TraceResponse:
        """Raises EngineError; one at a time."""
        if not SHORTEST_TRACE_S <= request.seconds <= LONGEST_TRACE_S:
            limits = f"{SHORTEST_TRACE_S} to {LONGEST_TRACE_S} s"
            raise InvalidRequest(f"a trace is {limits} long", "seconds")
        if self._is_traced:
            problem = "a trace is being made already: ask again when it is done"
            raise EngineError("trace_running", problem, retryable=True, retry_after_ms=5000)
        file, self._is_traced = TraceFile(self._desk.settings.engine_id), True
        try:
            async for part in self._supervisor.control.trace(request.seconds):
                file.add(part)
        finally:
            self._is_traced = False
        packed = await asyncio.to_thread(file.packed)
        return pb.TraceResponse(json_gz=packed, jobs=len(file.jobs), is_cut=file.is_cut)

    def public(self, held: m.Held) -> pb.HeldVoice:
        """A pinned voice, by the name that it was pinned under."""
        return _public(held, self._pins.get(held.speaker))

    def _start(self, request: pb.KeepVoiceRequest) -> pb.Start:
        """What a first stream in this voice would ask for."""
        languages = self._desk.config.talker.codec_language_id
        language = next(iter(languages)) if len(languages) == 1 else "auto"
        if request.voice.WhichOneof("kind") == "described":
            raise InvalidRequest("a described voice is another one each time", "voice")
        start = pb.Start(model=request.model, voice=request.voice, language=language)
        return self._desk.admit(start)

    def _first(self, start: pb.Start) -> tuple[m.Submit, m.Speaker]:
        """A first stream in this voice, and whom it speaks as."""
        submit = self._desk.submit(0, start, READ_IN, done=True)
        if start.voice.WhichOneof("kind") == "preset":
            return submit, self._desk.config.talker.spk_id[start.voice.preset.lower()]
        return submit, open_session(submit, self._desk.config).voice

    def _check_room(self, speaker: m.Speaker) -> None:
        if speaker not in self._pins and len(self._pins) >= MOST_PINS:
            problem = f"{MOST_PINS} voices are pinned already: unpin one first"
            raise InvalidRequest(problem, "voice")

    async def _renew_pins(self) -> None:
        for speaker, pin in tuple(self._pins.items()):
            if self._pins.get(speaker) is not pin:
                continue
            try:
                link = self._supervisor.control
                await link.keep(speaker, "pin")
                await self._read_in(link, speaker, pin)
            except EngineError as error:
                log.warning("a voice could not be pinned again", voice=pin.id, why=error.code)

    async def _read_in(self, link: Link, speaker: m.Speaker, pin: Pin) -> None:
        """By a stream of one frame behind all others, whose audio nobody hears. Where there is no
        room for it the voice comes with its first use."""
        if self._pins.get(speaker) is not pin:
            return
        number = link.number()
        wanted = pb.Start(max_frames=1, priority=pb.PRIORITY_BACKGROUND, keep_silence=True)
        wanted.MergeFrom(pin.start)
        mailbox = link.open(number)
        try:
            link.tell(self._desk.submit(number, wanted, READ_IN, done=True))
            with suppress(TimeoutError):
                async with asyncio.timeout(READ_IN_S):
                    while not isinstance(await mailbox.get(), m.StreamFinished | m.StreamFailed):
                        pass
        finally:
            link.close(number)


def _artifacts(request: pb.KeepVoiceRequest) -> list[bytes]:
    """Raises InvalidRequest."""
    if len(request.artifacts) > MOST_ARTIFACTS:
        raise InvalidRequest(f"more than {MOST_ARTIFACTS} at once", "artifacts")
    try:
        found = [bytes.fromhex(each) for each in request.artifacts]
    except ValueError:
        found = [b""]
    if any(len(each) != ARTIFACT_BYTES for each in found):
        raise InvalidRequest("an artifact's id is the SHA-256 that came with it", "artifacts")
    return found


def _sum(held: Sequence[m.Held], request: pb.KeepVoiceRequest) -> pb.HeldVoice:
    is_pinned = any(each.pinned for each in held)
    entries, nbytes = sum(each.entries for each in held), sum(each.nbytes for each in held)
    return _public(m.Held(b"", is_pinned, entries, nbytes), request)


def _public(held: m.Held, called: Pin | pb.KeepVoiceRequest | None) -> pb.HeldVoice:
    name, id = (called.name, called.id) if called is not None else ("", "")
    return pb.HeldVoice(
        name=name, id=id, pinned=held.pinned, entries=held.entries, bytes=held.nbytes
    )
