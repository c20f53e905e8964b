"""The front's end of the socket to one core, and the mailboxes of its streams."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import zmq
import zmq.asyncio

from gpu_engine import messages as m
from gpu_engine.errors import EngineError, EngineFull
from gpu_engine.scheduler.waits import Minute

StreamEvent = m.StreamAccepted | m.AudioChunk | m.StreamWords | m.StreamFinished | m.StreamFailed
BYTES_PER_SECOND = 48_000
SENT = "sent"
MOST_CLIPS, CLIP_WAIT_MS = 8, 5000


class Mailbox:
    """Events of one stream, in order. Closed by StreamFinished or StreamFailed, exactly once."""

    def __init__(self, unread_limit: int, sent: Minute | None = None) -> None:
        """`sent` learns how long audio was on its way from the decode to the reader."""
        self._queue: asyncio.Queue[StreamEvent] = asyncio.Queue()
        self._limit, self._unread, self._sent = unread_limit, 0, sent
        self.closed = False

    def put(self, event: StreamEvent) -> bool:
        """False when the reader has fallen too far behind; nothing is taken after the close."""
        if self.closed:
            return True
        self._queue.put_nowait(event)
        self.closed = isinstance(event, m.StreamFinished | m.StreamFailed)
        if isinstance(event, m.AudioChunk):
            self._unread += len(event.pcm)
        return self._unread <= self._limit

    async def get(self) -> StreamEvent:
        event = await self._queue.get()
        if isinstance(event, m.AudioChunk):
            self._unread -= len(event.pcm)
            if self._sent is not None:
                now = time.monotonic()
                self._sent.note(SENT, now - event.decoded, 1, now)
        return event


class Link:
    """One core's socket. Streams and clips are told apart by numbers that this side gives out."""

    def __init__(self, address: str, unread_seconds: float) -> None:
        self._context = zmq.asyncio.Context()
        self._socket = self._context.socket(zmq.PAIR)
        self._socket.set_hwm(0)
        self._socket.linger = 0
        self._socket.bind(address)
        self._unread_limit = int(unread_seconds * BYTES_PER_SECOND)
        self._sent = Minute((SENT,))
        self._streams: dict[int, Mailbox] = {}
        self._clips: dict[int, asyncio.Future[m.ClipEncoded]] = {}
        self._asked: dict[int, asyncio.Queue[m.VoiceKept | m.TracePart | EngineError]] = {}
        self._last = 0

    def tell(self, message: m.ToCore) -> None:
        """Never waits: without a high-water mark the socket takes every message at once. A core
        that is gone needs no news."""
        if not self._socket.closed:
            sent = asyncio.ensure_future(self._socket.send(m.encode(message), zmq.NOBLOCK))
            sent.add_done_callback(_look_away)

    def number(self) -> int:
        self._last += 1
        return self._last

    def open(self, stream: int) -> Mailbox:
        self._streams[stream] = Mailbox(self._unread_limit, self._sent)
        return self._streams[stream]

    def close(self, stream: int) -> None:
        """The reader is gone: whatever the core still does for this stream stops."""
        mailbox = self._streams.pop(stream)
        if not mailbox.closed:
            self.tell(m.CancelStream(stream))

    async def encode(self, pcm: bytes, with_codes: bool = False) -> m.ClipEncoded:
        """Raises EngineFull when too many clips wait already, EngineError when it fails."""
        if len(self._clips) >= MOST_CLIPS:
            raise EngineFull(CLIP_WAIT_MS)
        clip = self.number()
        self._clips[clip] = asyncio.get_running_loop().create_future()
        self.tell(m.EncodeClip(clip, pcm, with_codes))
        try:
            return await self._clips[clip]
        finally:
            del self._clips[clip]

    async def keep(self, speaker: m.Speaker, act: m.Act) -> m.VoiceKept:
        """Raises EngineError when the core goes away."""
        ask = self.number()
        async for answer in self._answers(ask, m.KeepVoice(ask, speaker, act)):
            if isinstance(answer, m.VoiceKept):
                return answer
        raise AssertionError("answers end with an error or not at all")

    async def trace(self, seconds: float) -> AsyncIterator[m.TracePart]:
        """Its parts, twice a second. Raises EngineError when the core goes away."""
        ask = self.number()
        async for answer in self._answers(ask, m.BeginTrace(ask, seconds)):
            if isinstance(answer, m.TracePart):
                yield answer
                if answer.done:
                    return

    async def _answers(
        self, ask: int, message: m.ToCore
    ) -> AsyncIterator[m.VoiceKept | m.TracePart]:
        answers = self._asked[ask] = asyncio.Queue()
        self.tell(message)
        try:
            while True:
                answer = await answers.get()
                if isinstance(answer, EngineError):
                    raise answer
                yield answer
        finally:
            del self._asked[ask]

    async def receive(self, notice: Callable[[m.ToFront], None]) -> None:
        """Delivers for ever; what is about the core itself goes to `notice`."""
        while True:
            message = m.decode_to_front(await self._socket.recv())
            match message:
                case m.ClipEncoded():
                    self._settle(message.clip, message)
                case m.ClipFailed():
                    self._settle(message.clip, EngineError(message.code, message.message))
                case m.VoiceKept() | m.TracePart():
                    if (asked := self._asked.get(message.ask)) is not None:
                        asked.put_nowait(message)
                case m.CoreReady() | m.CoreFailed() | m.CoreStatus():
                    notice(message)
                case _:
                    self._post(message)

    def fail_all(self, code: str, text: str) -> None:
        """The core is gone: everything open ends here and now."""
        for stream, mailbox in self._streams.items():
            mailbox.put(m.StreamFailed(stream, code, text, retryable=True))
        for clip in list(self._clips):
            self._settle(clip, EngineError(code, text, retryable=True))
        for asked in self._asked.values():
            asked.put_nowait(EngineError(code, text, retryable=True))

    def sent(self) -> m.WaitTimes:
        """How long chunks of the last minute waited until they were handed on."""
        wait = self._sent.told(time.monotonic())[SENT]
        return m.WaitTimes(wait.rows, 1000 * wait.median, 1000 * wait.p95)

    def shut(self) -> None:
        self._socket.close()
        self._context.term()

    def _post(self, event: StreamEvent) -> None:
        mailbox = self._streams.get(event.stream)
        if mailbox is None or mailbox.put(event):
            return
        mailbox.put(m.StreamFailed(event.stream, "slow_client", "the audio was not read in time"))
        self.tell(m.CancelStream(event.stream))

    def _settle(self, clip: int, outcome: m.ClipEncoded | EngineError) -> None:
        waiting = self._clips.get(clip)
        if waiting is None or waiting.done():
            return
        if isinstance(outcome, EngineError):
            waiting.set_exception(outcome)
        else:
            waiting.set_result(outcome)


def _look_away(sent: asyncio.Future[Any]) -> None:
    if not sent.cancelled():
        sent.exception()


def socket_address(folder: Path, generation: int) -> str:
    """A path of its own for every core, so that a new one never reads an old one's mail."""
    return f"ipc://{folder}/core-{generation}.ipc"
