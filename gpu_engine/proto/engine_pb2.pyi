from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class TextLayout(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TEXT_LAYOUT_UNSPECIFIED: _ClassVar[TextLayout]
    TEXT_LAYOUT_FULL: _ClassVar[TextLayout]
    TEXT_LAYOUT_STREAMING: _ClassVar[TextLayout]
    TEXT_LAYOUT_REFERENCE_FIRST: _ClassVar[TextLayout]

class ChunkProfile(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CHUNK_PROFILE_UNSPECIFIED: _ClassVar[ChunkProfile]
    CHUNK_PROFILE_LATENCY: _ClassVar[ChunkProfile]
    CHUNK_PROFILE_BALANCED: _ClassVar[ChunkProfile]
    CHUNK_PROFILE_THROUGHPUT: _ClassVar[ChunkProfile]

class Priority(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PRIORITY_UNSPECIFIED: _ClassVar[Priority]
    PRIORITY_INTERACTIVE: _ClassVar[Priority]
    PRIORITY_BACKGROUND: _ClassVar[Priority]

class FinishReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    FINISH_REASON_UNSPECIFIED: _ClassVar[FinishReason]
    FINISH_REASON_STOP: _ClassVar[FinishReason]
    FINISH_REASON_LENGTH: _ClassVar[FinishReason]
    FINISH_REASON_CANCELLED: _ClassVar[FinishReason]
TEXT_LAYOUT_UNSPECIFIED: TextLayout
TEXT_LAYOUT_FULL: TextLayout
TEXT_LAYOUT_STREAMING: TextLayout
TEXT_LAYOUT_REFERENCE_FIRST: TextLayout
CHUNK_PROFILE_UNSPECIFIED: ChunkProfile
CHUNK_PROFILE_LATENCY: ChunkProfile
CHUNK_PROFILE_BALANCED: ChunkProfile
CHUNK_PROFILE_THROUGHPUT: ChunkProfile
PRIORITY_UNSPECIFIED: Priority
PRIORITY_INTERACTIVE: Priority
PRIORITY_BACKGROUND: Priority
FINISH_REASON_UNSPECIFIED: FinishReason
FINISH_REASON_STOP: FinishReason
FINISH_REASON_LENGTH: FinishReason
FINISH_REASON_CANCELLED: FinishReason

class SynthesizeRequest(_message.Message):
    __slots__ = ("start", "append", "end", "cancel")
    START_FIELD_NUMBER: _ClassVar[int]
    APPEND_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    CANCEL_FIELD_NUMBER: _ClassVar[int]
    start: Start
    append: Append
    end: End
    cancel: Cancel
    def __init__(self, start: _Optional[_Union[Start, _Mapping]] = ..., append: _Optional[_Union[Append, _Mapping]] = ..., end: _Optional[_Union[End, _Mapping]] = ..., cancel: _Optional[_Union[Cancel, _Mapping]] = ...) -> None: ...

class Start(_message.Message):
    __slots__ = ("request_id", "model", "voice", "text", "language", "instructions", "layout", "sampling", "seed", "max_frames", "profile", "keep_silence", "tenant", "priority", "complete", "word_times", "share")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    VOICE_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    LANGUAGE_FIELD_NUMBER: _ClassVar[int]
    INSTRUCTIONS_FIELD_NUMBER: _ClassVar[int]
    LAYOUT_FIELD_NUMBER: _ClassVar[int]
    SAMPLING_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    MAX_FRAMES_FIELD_NUMBER: _ClassVar[int]
    PROFILE_FIELD_NUMBER: _ClassVar[int]
    KEEP_SILENCE_FIELD_NUMBER: _ClassVar[int]
    TENANT_FIELD_NUMBER: _ClassVar[int]
    PRIORITY_FIELD_NUMBER: _ClassVar[int]
    COMPLETE_FIELD_NUMBER: _ClassVar[int]
    WORD_TIMES_FIELD_NUMBER: _ClassVar[int]
    SHARE_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    model: str
    voice: Voice
    text: str
    language: str
    instructions: str
    layout: TextLayout
    sampling: Sampling
    seed: int
    max_frames: int
    profile: ChunkProfile
    keep_silence: bool
    tenant: str
    priority: Priority
    complete: bool
    word_times: bool
    share: float
    def __init__(self, request_id: _Optional[str] = ..., model: _Optional[str] = ..., voice: _Optional[_Union[Voice, _Mapping]] = ..., text: _Optional[str] = ..., language: _Optional[str] = ..., instructions: _Optional[str] = ..., layout: _Optional[_Union[TextLayout, str]] = ..., sampling: _Optional[_Union[Sampling, _Mapping]] = ..., seed: _Optional[int] = ..., max_frames: _Optional[int] = ..., profile: _Optional[_Union[ChunkProfile, str]] = ..., keep_silence: _Optional[bool] = ..., tenant: _Optional[str] = ..., priority: _Optional[_Union[Priority, str]] = ..., complete: _Optional[bool] = ..., word_times: _Optional[bool] = ..., share: _Optional[float] = ...) -> None: ...

class Append(_message.Message):
    __slots__ = ("text",)
    TEXT_FIELD_NUMBER: _ClassVar[int]
    text: str
    def __init__(self, text: _Optional[str] = ...) -> None: ...

class End(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class Cancel(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class Voice(_message.Message):
    __slots__ = ("preset", "embedding", "reference", "described", "artifact")
    PRESET_FIELD_NUMBER: _ClassVar[int]
    EMBEDDING_FIELD_NUMBER: _ClassVar[int]
    REFERENCE_FIELD_NUMBER: _ClassVar[int]
    DESCRIBED_FIELD_NUMBER: _ClassVar[int]
    ARTIFACT_FIELD_NUMBER: _ClassVar[int]
    preset: str
    embedding: SpeakerEmbedding
    reference: Reference
    described: bool
    artifact: Artifact
    def __init__(self, preset: _Optional[str] = ..., embedding: _Optional[_Union[SpeakerEmbedding, _Mapping]] = ..., reference: _Optional[_Union[Reference, _Mapping]] = ..., described: _Optional[bool] = ..., artifact: _Optional[_Union[Artifact, _Mapping]] = ...) -> None: ...

class Artifact(_message.Message):
    __slots__ = ("data", "embedding_only")
    DATA_FIELD_NUMBER: _ClassVar[int]
    EMBEDDING_ONLY_FIELD_NUMBER: _ClassVar[int]
    data: bytes
    embedding_only: bool
    def __init__(self, data: _Optional[bytes] = ..., embedding_only: _Optional[bool] = ...) -> None: ...

class SpeakerEmbedding(_message.Message):
    __slots__ = ("values",)
    VALUES_FIELD_NUMBER: _ClassVar[int]
    values: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, values: _Optional[_Iterable[float]] = ...) -> None: ...

class Reference(_message.Message):
    __slots__ = ("embedding", "codes", "text")
    EMBEDDING_FIELD_NUMBER: _ClassVar[int]
    CODES_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    embedding: SpeakerEmbedding
    codes: bytes
    text: str
    def __init__(self, embedding: _Optional[_Union[SpeakerEmbedding, _Mapping]] = ..., codes: _Optional[bytes] = ..., text: _Optional[str] = ...) -> None: ...

class Sampling(_message.Message):
    __slots__ = ("temperature", "top_k", "top_p", "repetition_penalty")
    TEMPERATURE_FIELD_NUMBER: _ClassVar[int]
    TOP_K_FIELD_NUMBER: _ClassVar[int]
    TOP_P_FIELD_NUMBER: _ClassVar[int]
    REPETITION_PENALTY_FIELD_NUMBER: _ClassVar[int]
    temperature: float
    top_k: int
    top_p: float
    repetition_penalty: float
    def __init__(self, temperature: _Optional[float] = ..., top_k: _Optional[int] = ..., top_p: _Optional[float] = ..., repetition_penalty: _Optional[float] = ...) -> None: ...

class SynthesizeEvent(_message.Message):
    __slots__ = ("accepted", "audio", "finished", "error", "words")
    ACCEPTED_FIELD_NUMBER: _ClassVar[int]
    AUDIO_FIELD_NUMBER: _ClassVar[int]
    FINISHED_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    WORDS_FIELD_NUMBER: _ClassVar[int]
    accepted: Accepted
    audio: Audio
    finished: Finished
    error: Error
    words: Words
    def __init__(self, accepted: _Optional[_Union[Accepted, _Mapping]] = ..., audio: _Optional[_Union[Audio, _Mapping]] = ..., finished: _Optional[_Union[Finished, _Mapping]] = ..., error: _Optional[_Union[Error, _Mapping]] = ..., words: _Optional[_Union[Words, _Mapping]] = ...) -> None: ...

class Words(_message.Message):
    __slots__ = ("words",)
    WORDS_FIELD_NUMBER: _ClassVar[int]
    words: _containers.RepeatedCompositeFieldContainer[Word]
    def __init__(self, words: _Optional[_Iterable[_Union[Word, _Mapping]]] = ...) -> None: ...

class Word(_message.Message):
    __slots__ = ("first_character", "end_character", "first_sample", "end_sample")
    FIRST_CHARACTER_FIELD_NUMBER: _ClassVar[int]
    END_CHARACTER_FIELD_NUMBER: _ClassVar[int]
    FIRST_SAMPLE_FIELD_NUMBER: _ClassVar[int]
    END_SAMPLE_FIELD_NUMBER: _ClassVar[int]
    first_character: int
    end_character: int
    first_sample: int
    end_sample: int
    def __init__(self, first_character: _Optional[int] = ..., end_character: _Optional[int] = ..., first_sample: _Optional[int] = ..., end_sample: _Optional[int] = ...) -> None: ...

class Accepted(_message.Message):
    __slots__ = ("text_tokens", "expected_wait_ms", "sample_rate", "engine_id")
    TEXT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_WAIT_MS_FIELD_NUMBER: _ClassVar[int]
    SAMPLE_RATE_FIELD_NUMBER: _ClassVar[int]
    ENGINE_ID_FIELD_NUMBER: _ClassVar[int]
    text_tokens: int
    expected_wait_ms: int
    sample_rate: int
    engine_id: str
    def __init__(self, text_tokens: _Optional[int] = ..., expected_wait_ms: _Optional[int] = ..., sample_rate: _Optional[int] = ..., engine_id: _Optional[str] = ...) -> None: ...

class Audio(_message.Message):
    __slots__ = ("pcm", "first_sample")
    PCM_FIELD_NUMBER: _ClassVar[int]
    FIRST_SAMPLE_FIELD_NUMBER: _ClassVar[int]
    pcm: bytes
    first_sample: int
    def __init__(self, pcm: _Optional[bytes] = ..., first_sample: _Optional[int] = ...) -> None: ...

class Finished(_message.Message):
    __slots__ = ("reason", "samples", "frames", "text_tokens", "first_audio_ms", "gpu", "trimmed_samples", "first_audible_ms")
    REASON_FIELD_NUMBER: _ClassVar[int]
    SAMPLES_FIELD_NUMBER: _ClassVar[int]
    FRAMES_FIELD_NUMBER: _ClassVar[int]
    TEXT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    FIRST_AUDIO_MS_FIELD_NUMBER: _ClassVar[int]
    GPU_FIELD_NUMBER: _ClassVar[int]
    TRIMMED_SAMPLES_FIELD_NUMBER: _ClassVar[int]
    FIRST_AUDIBLE_MS_FIELD_NUMBER: _ClassVar[int]
    reason: FinishReason
    samples: int
    frames: int
    text_tokens: int
    first_audio_ms: int
    gpu: GpuTime
    trimmed_samples: int
    first_audible_ms: int
    def __init__(self, reason: _Optional[_Union[FinishReason, str]] = ..., samples: _Optional[int] = ..., frames: _Optional[int] = ..., text_tokens: _Optional[int] = ..., first_audio_ms: _Optional[int] = ..., gpu: _Optional[_Union[GpuTime, _Mapping]] = ..., trimmed_samples: _Optional[int] = ..., first_audible_ms: _Optional[int] = ...) -> None: ...

class GpuTime(_message.Message):
    __slots__ = ("talker_ms", "predictor_ms", "codec_ms")
    TALKER_MS_FIELD_NUMBER: _ClassVar[int]
    PREDICTOR_MS_FIELD_NUMBER: _ClassVar[int]
    CODEC_MS_FIELD_NUMBER: _ClassVar[int]
    talker_ms: float
    predictor_ms: float
    codec_ms: float
    def __init__(self, talker_ms: _Optional[float] = ..., predictor_ms: _Optional[float] = ..., codec_ms: _Optional[float] = ...) -> None: ...

class Error(_message.Message):
    __slots__ = ("code", "message", "field", "retryable", "retry_after_ms")
    CODE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    FIELD_FIELD_NUMBER: _ClassVar[int]
    RETRYABLE_FIELD_NUMBER: _ClassVar[int]
    RETRY_AFTER_MS_FIELD_NUMBER: _ClassVar[int]
    code: str
    message: str
    field: str
    retryable: bool
    retry_after_ms: int
    def __init__(self, code: _Optional[str] = ..., message: _Optional[str] = ..., field: _Optional[str] = ..., retryable: _Optional[bool] = ..., retry_after_ms: _Optional[int] = ...) -> None: ...

class EncodeVoiceRequest(_message.Message):
    __slots__ = ("model", "pcm", "text", "embedding")
    MODEL_FIELD_NUMBER: _ClassVar[int]
    PCM_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    EMBEDDING_FIELD_NUMBER: _ClassVar[int]
    model: str
    pcm: bytes
    text: str
    embedding: SpeakerEmbedding
    def __init__(self, model: _Optional[str] = ..., pcm: _Optional[bytes] = ..., text: _Optional[str] = ..., embedding: _Optional[_Union[SpeakerEmbedding, _Mapping]] = ...) -> None: ...

class EncodeVoiceResponse(_message.Message):
    __slots__ = ("embedding", "codes", "artifact", "id", "fingerprint")
    EMBEDDING_FIELD_NUMBER: _ClassVar[int]
    CODES_FIELD_NUMBER: _ClassVar[int]
    ARTIFACT_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    FINGERPRINT_FIELD_NUMBER: _ClassVar[int]
    embedding: SpeakerEmbedding
    codes: bytes
    artifact: bytes
    id: str
    fingerprint: str
    def __init__(self, embedding: _Optional[_Union[SpeakerEmbedding, _Mapping]] = ..., codes: _Optional[bytes] = ..., artifact: _Optional[bytes] = ..., id: _Optional[str] = ..., fingerprint: _Optional[str] = ...) -> None: ...

class ModelsRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ModelsResponse(_message.Message):
    __slots__ = ("models",)
    MODELS_FIELD_NUMBER: _ClassVar[int]
    models: _containers.RepeatedCompositeFieldContainer[Model]
    def __init__(self, models: _Optional[_Iterable[_Union[Model, _Mapping]]] = ...) -> None: ...

class Model(_message.Message):
    __slots__ = ("id", "kind", "size", "presets", "languages", "sample_rate", "max_text_tokens", "can_encode_voice", "fingerprint", "word_time_languages", "can_encode_reference", "embedding_size")
    ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    PRESETS_FIELD_NUMBER: _ClassVar[int]
    LANGUAGES_FIELD_NUMBER: _ClassVar[int]
    SAMPLE_RATE_FIELD_NUMBER: _ClassVar[int]
    MAX_TEXT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    CAN_ENCODE_VOICE_FIELD_NUMBER: _ClassVar[int]
    FINGERPRINT_FIELD_NUMBER: _ClassVar[int]
    WORD_TIME_LANGUAGES_FIELD_NUMBER: _ClassVar[int]
    CAN_ENCODE_REFERENCE_FIELD_NUMBER: _ClassVar[int]
    EMBEDDING_SIZE_FIELD_NUMBER: _ClassVar[int]
    id: str
    kind: str
    size: str
    presets: _containers.RepeatedCompositeFieldContainer[Preset]
    languages: _containers.RepeatedScalarFieldContainer[str]
    sample_rate: int
    max_text_tokens: int
    can_encode_voice: bool
    fingerprint: str
    word_time_languages: _containers.RepeatedScalarFieldContainer[str]
    can_encode_reference: bool
    embedding_size: int
    def __init__(self, id: _Optional[str] = ..., kind: _Optional[str] = ..., size: _Optional[str] = ..., presets: _Optional[_Iterable[_Union[Preset, _Mapping]]] = ..., languages: _Optional[_Iterable[str]] = ..., sample_rate: _Optional[int] = ..., max_text_tokens: _Optional[int] = ..., can_encode_voice: _Optional[bool] = ..., fingerprint: _Optional[str] = ..., word_time_languages: _Optional[_Iterable[str]] = ..., can_encode_reference: _Optional[bool] = ..., embedding_size: _Optional[int] = ...) -> None: ...

class Preset(_message.Message):
    __slots__ = ("name", "native_language", "description")
    NAME_FIELD_NUMBER: _ClassVar[int]
    NATIVE_LANGUAGE_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    name: str
    native_language: str
    description: str
    def __init__(self, name: _Optional[str] = ..., native_language: _Optional[str] = ..., description: _Optional[str] = ...) -> None: ...

class StatusRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class WatchStatusRequest(_message.Message):
    __slots__ = ("interval_ms",)
    INTERVAL_MS_FIELD_NUMBER: _ClassVar[int]
    interval_ms: int
    def __init__(self, interval_ms: _Optional[int] = ...) -> None: ...

class EngineStatus(_message.Message):
    __slots__ = ("engine_id", "version", "state", "device", "uptime_seconds", "streams", "waiting_first_audio", "capacity", "streams_total", "frames_total", "underruns_total", "core_restarts", "modules", "memory_bytes", "caches", "waiting_background", "lead_low_ms", "lead_median_ms", "pinned", "memory", "waits", "hardware", "silent", "longest_wait_ms")
    class State(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        STATE_UNSPECIFIED: _ClassVar[EngineStatus.State]
        STATE_STARTING: _ClassVar[EngineStatus.State]
        STATE_READY: _ClassVar[EngineStatus.State]
        STATE_DRAINING: _ClassVar[EngineStatus.State]
        STATE_DOWN: _ClassVar[EngineStatus.State]
    STATE_UNSPECIFIED: EngineStatus.State
    STATE_STARTING: EngineStatus.State
    STATE_READY: EngineStatus.State
    STATE_DRAINING: EngineStatus.State
    STATE_DOWN: EngineStatus.State
    class ModulesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: ModuleStatus
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[ModuleStatus, _Mapping]] = ...) -> None: ...
    class CachesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: CacheStatus
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[CacheStatus, _Mapping]] = ...) -> None: ...
    class WaitsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: WaitStatus
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[WaitStatus, _Mapping]] = ...) -> None: ...
    ENGINE_ID_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    DEVICE_FIELD_NUMBER: _ClassVar[int]
    UPTIME_SECONDS_FIELD_NUMBER: _ClassVar[int]
    STREAMS_FIELD_NUMBER: _ClassVar[int]
    WAITING_FIRST_AUDIO_FIELD_NUMBER: _ClassVar[int]
    CAPACITY_FIELD_NUMBER: _ClassVar[int]
    STREAMS_TOTAL_FIELD_NUMBER: _ClassVar[int]
    FRAMES_TOTAL_FIELD_NUMBER: _ClassVar[int]
    UNDERRUNS_TOTAL_FIELD_NUMBER: _ClassVar[int]
    CORE_RESTARTS_FIELD_NUMBER: _ClassVar[int]
    MODULES_FIELD_NUMBER: _ClassVar[int]
    MEMORY_BYTES_FIELD_NUMBER: _ClassVar[int]
    CACHES_FIELD_NUMBER: _ClassVar[int]
    WAITING_BACKGROUND_FIELD_NUMBER: _ClassVar[int]
    LEAD_LOW_MS_FIELD_NUMBER: _ClassVar[int]
    LEAD_MEDIAN_MS_FIELD_NUMBER: _ClassVar[int]
    PINNED_FIELD_NUMBER: _ClassVar[int]
    MEMORY_FIELD_NUMBER: _ClassVar[int]
    WAITS_FIELD_NUMBER: _ClassVar[int]
    HARDWARE_FIELD_NUMBER: _ClassVar[int]
    SILENT_FIELD_NUMBER: _ClassVar[int]
    LONGEST_WAIT_MS_FIELD_NUMBER: _ClassVar[int]
    engine_id: str
    version: str
    state: EngineStatus.State
    device: str
    uptime_seconds: float
    streams: int
    waiting_first_audio: int
    capacity: int
    streams_total: int
    frames_total: int
    underruns_total: int
    core_restarts: int
    modules: _containers.MessageMap[str, ModuleStatus]
    memory_bytes: int
    caches: _containers.MessageMap[str, CacheStatus]
    waiting_background: int
    lead_low_ms: int
    lead_median_ms: int
    pinned: _containers.RepeatedCompositeFieldContainer[HeldVoice]
    memory: MemoryStatus
    waits: _containers.MessageMap[str, WaitStatus]
    hardware: str
    silent: bool
    longest_wait_ms: int
    def __init__(self, engine_id: _Optional[str] = ..., version: _Optional[str] = ..., state: _Optional[_Union[EngineStatus.State, str]] = ..., device: _Optional[str] = ..., uptime_seconds: _Optional[float] = ..., streams: _Optional[int] = ..., waiting_first_audio: _Optional[int] = ..., capacity: _Optional[int] = ..., streams_total: _Optional[int] = ..., frames_total: _Optional[int] = ..., underruns_total: _Optional[int] = ..., core_restarts: _Optional[int] = ..., modules: _Optional[_Mapping[str, ModuleStatus]] = ..., memory_bytes: _Optional[int] = ..., caches: _Optional[_Mapping[str, CacheStatus]] = ..., waiting_background: _Optional[int] = ..., lead_low_ms: _Optional[int] = ..., lead_median_ms: _Optional[int] = ..., pinned: _Optional[_Iterable[_Union[HeldVoice, _Mapping]]] = ..., memory: _Optional[_Union[MemoryStatus, _Mapping]] = ..., waits: _Optional[_Mapping[str, WaitStatus]] = ..., hardware: _Optional[str] = ..., silent: _Optional[bool] = ..., longest_wait_ms: _Optional[int] = ...) -> None: ...

class CacheStatus(_message.Message):
    __slots__ = ("hits", "misses", "evictions", "entries", "bytes", "most_bytes")
    HITS_FIELD_NUMBER: _ClassVar[int]
    MISSES_FIELD_NUMBER: _ClassVar[int]
    EVICTIONS_FIELD_NUMBER: _ClassVar[int]
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    BYTES_FIELD_NUMBER: _ClassVar[int]
    MOST_BYTES_FIELD_NUMBER: _ClassVar[int]
    hits: int
    misses: int
    evictions: int
    entries: int
    bytes: int
    most_bytes: int
    def __init__(self, hits: _Optional[int] = ..., misses: _Optional[int] = ..., evictions: _Optional[int] = ..., entries: _Optional[int] = ..., bytes: _Optional[int] = ..., most_bytes: _Optional[int] = ...) -> None: ...

class MemoryStatus(_message.Message):
    __slots__ = ("parts", "free_bytes", "total_bytes")
    class PartsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    PARTS_FIELD_NUMBER: _ClassVar[int]
    FREE_BYTES_FIELD_NUMBER: _ClassVar[int]
    TOTAL_BYTES_FIELD_NUMBER: _ClassVar[int]
    parts: _containers.ScalarMap[str, int]
    free_bytes: int
    total_bytes: int
    def __init__(self, parts: _Optional[_Mapping[str, int]] = ..., free_bytes: _Optional[int] = ..., total_bytes: _Optional[int] = ...) -> None: ...

class WaitStatus(_message.Message):
    __slots__ = ("rows", "median_ms", "p95_ms")
    ROWS_FIELD_NUMBER: _ClassVar[int]
    MEDIAN_MS_FIELD_NUMBER: _ClassVar[int]
    P95_MS_FIELD_NUMBER: _ClassVar[int]
    rows: int
    median_ms: float
    p95_ms: float
    def __init__(self, rows: _Optional[int] = ..., median_ms: _Optional[float] = ..., p95_ms: _Optional[float] = ...) -> None: ...

class ModuleStatus(_message.Message):
    __slots__ = ("steps", "rows", "busy_seconds", "last_ms")
    STEPS_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    BUSY_SECONDS_FIELD_NUMBER: _ClassVar[int]
    LAST_MS_FIELD_NUMBER: _ClassVar[int]
    steps: int
    rows: int
    busy_seconds: float
    last_ms: float
    def __init__(self, steps: _Optional[int] = ..., rows: _Optional[int] = ..., busy_seconds: _Optional[float] = ..., last_ms: _Optional[float] = ...) -> None: ...

class DrainRequest(_message.Message):
    __slots__ = ("drained",)
    DRAINED_FIELD_NUMBER: _ClassVar[int]
    drained: bool
    def __init__(self, drained: _Optional[bool] = ...) -> None: ...

class DrainResponse(_message.Message):
    __slots__ = ("was_drained", "drained", "streams")
    WAS_DRAINED_FIELD_NUMBER: _ClassVar[int]
    DRAINED_FIELD_NUMBER: _ClassVar[int]
    STREAMS_FIELD_NUMBER: _ClassVar[int]
    was_drained: bool
    drained: bool
    streams: int
    def __init__(self, was_drained: _Optional[bool] = ..., drained: _Optional[bool] = ..., streams: _Optional[int] = ...) -> None: ...

class KeepVoiceRequest(_message.Message):
    __slots__ = ("model", "voice", "name", "act", "id", "artifacts")
    class Act(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        ACT_UNSPECIFIED: _ClassVar[KeepVoiceRequest.Act]
        ACT_PIN: _ClassVar[KeepVoiceRequest.Act]
        ACT_UNPIN: _ClassVar[KeepVoiceRequest.Act]
        ACT_UNLOAD: _ClassVar[KeepVoiceRequest.Act]
    ACT_UNSPECIFIED: KeepVoiceRequest.Act
    ACT_PIN: KeepVoiceRequest.Act
    ACT_UNPIN: KeepVoiceRequest.Act
    ACT_UNLOAD: KeepVoiceRequest.Act
    MODEL_FIELD_NUMBER: _ClassVar[int]
    VOICE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    ACT_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    ARTIFACTS_FIELD_NUMBER: _ClassVar[int]
    model: str
    voice: Voice
    name: str
    act: KeepVoiceRequest.Act
    id: str
    artifacts: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, model: _Optional[str] = ..., voice: _Optional[_Union[Voice, _Mapping]] = ..., name: _Optional[str] = ..., act: _Optional[_Union[KeepVoiceRequest.Act, str]] = ..., id: _Optional[str] = ..., artifacts: _Optional[_Iterable[str]] = ...) -> None: ...

class KeepVoiceResponse(_message.Message):
    __slots__ = ("before", "after")
    BEFORE_FIELD_NUMBER: _ClassVar[int]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    before: HeldVoice
    after: HeldVoice
    def __init__(self, before: _Optional[_Union[HeldVoice, _Mapping]] = ..., after: _Optional[_Union[HeldVoice, _Mapping]] = ...) -> None: ...

class HeldVoice(_message.Message):
    __slots__ = ("name", "pinned", "entries", "bytes", "id")
    NAME_FIELD_NUMBER: _ClassVar[int]
    PINNED_FIELD_NUMBER: _ClassVar[int]
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    BYTES_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    name: str
    pinned: bool
    entries: int
    bytes: int
    id: str
    def __init__(self, name: _Optional[str] = ..., pinned: _Optional[bool] = ..., entries: _Optional[int] = ..., bytes: _Optional[int] = ..., id: _Optional[str] = ...) -> None: ...

class TraceRequest(_message.Message):
    __slots__ = ("seconds",)
    SECONDS_FIELD_NUMBER: _ClassVar[int]
    seconds: float
    def __init__(self, seconds: _Optional[float] = ...) -> None: ...

class TraceResponse(_message.Message):
    __slots__ = ("json_gz", "jobs", "is_cut")
    JSON_GZ_FIELD_NUMBER: _ClassVar[int]
    JOBS_FIELD_NUMBER: _ClassVar[int]
    IS_CUT_FIELD_NUMBER: _ClassVar[int]
    json_gz: bytes
    jobs: int
    is_cut: bool
    def __init__(self, json_gz: _Optional[bytes] = ..., jobs: _Optional[int] = ..., is_cut: _Optional[bool] = ...) -> None: ...
