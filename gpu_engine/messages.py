"""What the front and the core say to each other: msgspec structs, packed with msgpack and told
apart by their type's name. Fields only; encoding is generic. A stream's id is the front's."""

from __future__ import annotations

from typing import Literal

import msgspec


class Message(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """Base of everything that crosses the socket between front and core."""


class PromptIds(msgspec.Struct, frozen=True, array_like=True):
    """A prompt as ids: the fields of models.prompt.PromptPlan, whose docstring explains them."""

    text_ids: tuple[int, ...]
    codec_ids: tuple[int, ...]
    trailing: tuple[int, ...]
    pad_id: int
    text_tokens: int
    prefix_length: int
    vector_at: int | None = None
    frames_at: int | None = None
    reference_frames: int = 0


class SamplingChoice(msgspec.Struct, frozen=True, array_like=True):
    """Sampling of code 0, defaults filled in; temperature 0 is greedy, top_k 0 is no limit."""

    temperature: float
    top_k: int
    top_p: float
    repetition_penalty: float


# ---- front to core


class Submit(Message, frozen=True):
    """A new stream. Until `text_done` its trailing text may grow by Extend (streaming layout).
    With `word_times` the text itself comes too, for the aligner.

    `embedding` is float32 and `reference_codes` uint16 [frames, groups], both little-endian.
    `artifact` is a clone's id: what it is kept under can be asked for by it.
    """

    stream: int
    prompt: PromptIds
    text_done: bool
    embedding: bytes
    reference_codes: bytes
    sampling: SamplingChoice
    seed: int
    frame_cap: int
    ramp: tuple[int, ...]
    paced: bool
    trim_silence: bool
    tenant: str
    background: bool
    word_times: bool = False
    text: str = ""
    share: float = 1.0
    artifact: bytes = b""


class Extend(Message, frozen=True):
    """More trailing text for a stream, its end included when `done`; the frame cap grows."""

    stream: int
    trailing: tuple[int, ...]
    text_tokens: int
    done: bool
    frame_cap: int
    text: str = ""


class CancelStream(Message, frozen=True):
    stream: int


class EncodeClip(Message, frozen=True):
    """Make a voice from mono 24 kHz float32 samples (little-endian): an embedding, and on request
    codes."""

    clip: int
    pcm: bytes
    with_codes: bool


# A clone by the digest of what it is made of, a checkpoint's own voice by its code.
Speaker = bytes | int
Act = Literal["look", "pin", "unpin", "unload"]


class KeepVoice(Message, frozen=True):
    """A clone may be called by its artifact's id: the answer says who that is."""

    ask: int
    speaker: Speaker
    act: Act


class BeginTrace(Message, frozen=True):
    """Answered by TraceParts, the last of which is `done`."""

    ask: int
    seconds: float


ToCore = Submit | Extend | CancelStream | EncodeClip | KeepVoice | BeginTrace


# ---- core to front


class CoreReady(Message, frozen=True):
    """The checkpoint is loaded and a first synthesis has passed. `hardware`: the device's name."""

    fingerprint: str
    device: str
    capacity: int
    can_encode_voice: bool
    hardware: str = ""


class CoreFailed(Message, frozen=True):
    """The core cannot start; it exits right after."""

    message: str


class StreamAccepted(Message, frozen=True):
    stream: int
    expected_wait_ms: int


class AudioChunk(Message, frozen=True):
    """Signed 16-bit little-endian mono samples; `first_sample` counts delivered samples. `decoded`
    is when the first of them was, on the machine's monotonic clock."""

    stream: int
    pcm: bytes
    first_sample: int
    decoded: float = 0.0


class StreamWords(Message, frozen=True):
    """Words, each as first and end character of the text, first and end sample of the audio."""

    stream: int
    words: tuple[tuple[int, int, int, int], ...]


class StreamFinished(Message, frozen=True):
    """`reason` is stop, length or cancelled; times are ms, GPU shares are of each step's rows."""

    stream: int
    reason: str
    samples: int
    frames: int
    text_tokens: int
    first_audio_ms: float
    trimmed_samples: int
    talker_ms: float
    predictor_ms: float
    codec_ms: float


class StreamFailed(Message, frozen=True):
    stream: int
    code: str
    message: str
    field: str = ""
    retryable: bool = False
    retry_after_ms: int = 0


class ClipEncoded(Message, frozen=True):
    """Float32 speaker embedding and uint16 codes [frames, groups], both little-endian."""

    clip: int
    embedding: bytes
    codes: bytes


class ClipFailed(Message, frozen=True):
    clip: int
    code: str
    message: str


class ModuleCounters(msgspec.Struct, frozen=True, array_like=True):
    steps: int
    rows: int
    busy_seconds: float
    last_ms: float


class CacheCounters(msgspec.Struct, frozen=True, array_like=True):
    hits: int
    misses: int
    evictions: int
    entries: int
    nbytes: int
    most: int


class WaitTimes(msgspec.Struct, frozen=True, array_like=True):
    """Over the last minute."""

    rows: int
    median_ms: float
    p95_ms: float


class MemoryUse(msgspec.Struct, frozen=True, array_like=True):
    """Bytes: what the core holds, by part; what is free beside it, and what there is in all."""

    parts: dict[str, int]
    free: int
    total: int


class Held(msgspec.Struct, frozen=True, array_like=True):
    """What all caches have of one speaker."""

    speaker: Speaker
    pinned: bool
    entries: int
    nbytes: int


class VoiceKept(Message, frozen=True):
    ask: int
    before: Held
    after: Held


class TracedJob(msgspec.Struct, frozen=True, array_like=True):
    """Times are microseconds since the trace began; `device_us` is the device's own."""

    kind: str
    at: int
    length: int
    rows: int
    frames: int
    device_us: int


class TracedStream(msgspec.Struct, frozen=True, array_like=True):
    """`what`: begin, first audio or end; behind it `live` streams, of which `waiting` have no audio
    yet."""

    stream: int
    what: str
    at: int
    live: int
    waiting: int


class TracePart(Message, frozen=True):
    ask: int
    jobs: tuple[TracedJob, ...]
    streams: tuple[TracedStream, ...]
    done: bool = False
    is_cut: bool = False


class CoreStatus(Message, frozen=True):
    """The core's heartbeat: sent about twice a second, busy or idle."""

    streams: int
    waiting_first_audio: int
    streams_total: int
    frames_total: int
    underruns_total: int
    memory_bytes: int
    modules: dict[str, ModuleCounters]
    caches: dict[str, CacheCounters]
    waiting_background: int = 0
    lead_low_ms: int = 0
    lead_median_ms: int = 0
    pinned: tuple[Held, ...] = ()
    waits: dict[str, WaitTimes] = {}
    memory: MemoryUse = MemoryUse({}, 0, 0)
    longest_wait_ms: int = 0


ToFront = (
    CoreReady
    | CoreFailed
    | StreamAccepted
    | AudioChunk
    | StreamWords
    | StreamFinished
    | StreamFailed
    | ClipEncoded
    | ClipFailed
    | VoiceKept
    | TracePart
    | CoreStatus
)

_encoder = msgspec.msgpack.Encoder()
_to_core: msgspec.msgpack.Decoder[ToCore] = msgspec.msgpack.Decoder(ToCore)
_to_front: msgspec.msgpack.Decoder[ToFront] = msgspec.msgpack.Decoder(ToFront)


def encode(message: Message) -> bytes:
    return _encoder.encode(message)


def decode_to_core(raw: bytes) -> ToCore:
    """Raises msgspec.ValidationError for anything a front does not send."""
    return _to_core.decode(raw)


def decode_to_front(raw: bytes) -> ToFront:
    """Raises msgspec.ValidationError for anything a core does not send."""
    return _to_front.decode(raw)
