"""One Synthesize call: reads what the client says, tells the core, hands back what it answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import structlog

from gpu_engine import messages as m
from gpu_engine.config import SAMPLE_RATE
from gpu_engine.errors import EngineError, InvalidRequest
from gpu_engine.proto import engine_pb2 as pb
from gpu_engine.server.limits import is_speakable
from gpu_engine.server.link import Link, Mailbox, StreamEvent
from gpu_engine.server.opening import Desk
from gpu_engine.server.text_feed import TextFeed

log = structlog.get_logger()

Requests = AsyncIterator[pb.SynthesizeRequest]
REASONS = {
    "stop": pb.FINISH_REASON_STOP,
    "length": pb.FINISH_REASON_LENGTH,
    "cancelled": pb.FINISH_REASON_CANCELLED,
}


class CancelSaid(Exception):
    """The client said Cancel."""


class Conversation:
    """Lives as long as the call. Leaving `events` early, however that happens, frees the core."""

    def __init__(self, desk: Desk, link: Link, requests: Requests) -> None:
        self._desk, self._link, self._requests = desk, link, requests
        self._stream = link.number()
        self._start = pb.Start()
        self._text = ""
        self._tokens = 0
        self._submit: m.Submit | None = None

    async def events(self) -> AsyncIterator[pb.SynthesizeEvent]:
        """Ends with exactly one Finished or Error. Raises InvalidRequest before any other event."""
        first = await self._next()
        if first is None or first.WhichOneof("message") != "start":
            raise InvalidRequest("the first message must be start", "start")
        self._start = self._desk.admit(first.start)
        mailbox = self._link.open(self._stream)
        reading = asyncio.create_task(self._read(mailbox))
        reading.add_done_callback(lambda task: self._reader_ended(task, mailbox))
        try:
            while True:
                event = await mailbox.get()
                yield self._public(event)
                if isinstance(event, m.StreamFinished | m.StreamFailed):
                    return
        finally:
            reading.cancel()
            self._link.close(self._stream)

    # ---- the client's side

    async def _read(self, mailbox: Mailbox) -> None:
        try:
            await self._take_text()
            while (request := await self._next()) is not None:
                if request.WhichOneof("message") != "cancel":
                    raise InvalidRequest("only cancel may follow end", "append")
                raise CancelSaid
        except CancelSaid:
            self._stop(mailbox)
        except EngineError as error:
            self._link.tell(m.CancelStream(self._stream))
            mailbox.put(failed(self._stream, error))

    def _reader_ended(self, task: asyncio.Task[None], mailbox: Mailbox) -> None:
        """A reader that broke must not leave its stream waiting for ever."""
        if not task.cancelled() and task.exception() is not None:
            log.error("reading a client failed", exc_info=task.exception())
            self._link.tell(m.CancelStream(self._stream))
            mailbox.put(m.StreamFailed(self._stream, "internal", "the request could not be read"))

    async def _take_text(self) -> None:
        """Until the client ends its text; speech may begin before that in streaming layout."""
        streams, feed = self._desk.streams_text(self._start), TextFeed()
        piece: str | None = self._start.text
        while piece is not None:
            self._desk.check_length(self._text + piece, "text")
            safe = feed.push(piece)
            if streams:
                self._speak(safe, done=False)
            else:
                self._text += safe
            piece = None if self._start.complete else await self._next_piece()
        self._speak(feed.finish(), done=True)

    async def _next_piece(self) -> str | None:
        """The next Append's text, or None after End or the client's half-close. An empty Append
        is no text: the wait goes on."""
        try:
            async with asyncio.timeout(self._desk.settings.text_timeout):
                while (request := await self._next()) is not None and _is_empty(request):
                    pass
        except TimeoutError:
            raise EngineError("text_timeout", "no more text and no end of it came") from None
        match request.WhichOneof("message") if request is not None else "end":
            case "append":
                assert request is not None
                return request.append.text
            case "end":
                return None
            case "cancel":
                raise CancelSaid
        raise InvalidRequest("start is sent once, before anything else", "start")

    async def _next(self) -> pb.SynthesizeRequest | None:
        return await anext(self._requests, None)

    def _speak(self, piece: str, done: bool) -> None:
        self._text += piece
        if self._submit is None:
            if done or is_speakable(self._text):
                self._submit = self._desk.submit(self._stream, self._start, self._text, done)
                self._tokens = self._submit.prompt.text_tokens
                self._link.tell(self._submit)
        elif piece or done:
            more = self._desk.extend(
                self._submit, self._start, self._text, piece, done, self._tokens
            )
            self._tokens += more.text_tokens
            self._link.tell(more)

    def _stop(self, mailbox: Mailbox) -> None:
        if self._submit is None:
            mailbox.put(m.StreamFinished(self._stream, "cancelled", 0, 0, 0, 0, 0, 0, 0, 0))
        else:
            self._link.tell(m.CancelStream(self._stream))

    # ---- the core's side

    def _public(self, event: StreamEvent) -> pb.SynthesizeEvent:
        match event:
            case m.StreamAccepted():
                tokens = self._submit.prompt.text_tokens if self._submit else 0
                accepted = pb.Accepted(
                    text_tokens=tokens,
                    expected_wait_ms=event.expected_wait_ms,
                    sample_rate=SAMPLE_RATE,
                    engine_id=self._desk.settings.engine_id,
                )
                return pb.SynthesizeEvent(accepted=accepted)
            case m.AudioChunk():
                return pb.SynthesizeEvent(
                    audio=pb.Audio(pcm=event.pcm, first_sample=event.first_sample)
                )
            case m.StreamWords():
                return pb.SynthesizeEvent(words=pb.Words(words=map(_word, event.words)))
            case m.StreamFinished():
                return pb.SynthesizeEvent(finished=_finished(event))
            case m.StreamFailed():
                return error_event(event)


def _is_empty(request: pb.SynthesizeRequest) -> bool:
    return request.WhichOneof("message") == "append" and not request.append.text


def failed(stream: int, error: EngineError) -> m.StreamFailed:
    return m.StreamFailed(
        stream, error.code, error.message, error.field, error.retryable, error.retry_after_ms
    )


def error_event(error: m.StreamFailed | EngineError) -> pb.SynthesizeEvent:
    return pb.SynthesizeEvent(
        error=pb.Error(
            code=error.code,
            message=error.message,
            field=error.field,
            retryable=error.retryable,
            retry_after_ms=error.retry_after_ms,
        )
    )


def _word(word: tuple[int, int, int, int]) -> pb.Word:
    first, end, first_sample, end_sample = word
    return pb.Word(
        first_character=first, end_character=end, first_sample=first_sample, end_sample=end_sample
    )


def _finished(event: m.StreamFinished) -> pb.Finished:
    return pb.Finished(
        reason=REASONS[event.reason],
        samples=event.samples,
        frames=event.frames,
        text_tokens=event.text_tokens,
        first_audio_ms=round(event.first_audio_ms),
        gpu=pb.GpuTime(
            talker_ms=event.talker_ms,
            predictor_ms=event.predictor_ms,
            codec_ms=event.codec_ms,
        ),
        trimmed_samples=event.trimmed_samples,
    )
