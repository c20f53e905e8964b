"""Whether a recording is good enough to clone from, and which stretch of it is used."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from billing.rating import expected_ms
from ttsapp.errors import invalid
from ttsapp.speech.encoders.samples import SAMPLE_RATE, Samples
from ttsapp.voices.clips.decoding import Recording
from ttsapp.voices.clips.measures import FRAME, FRAMES_PER_SECOND, Measures, measure

LEAST_SECONDS, MOST_SECONDS = 3.0, 30.0
# A timbre is known after so long; more only costs.
BEST_SECONDS = 15.0
LEAST_SPEECH_SECONDS = 2.0
LEAST_RATE, GOOD_RATE = 16_000, 24_000
QUIET_DB = -45.0
NOISY_DB, GOOD_NOISE_DB = 12.0, 25.0
MOST_CLIPPED, GOOD_CLIPPED = 0.002, 0.0002
# How much longer or shorter than the yardstick a text may take to say.
SLOWEST_SPEECH, FASTEST_SPEECH = 2.5, 0.4
_MARGIN = FRAMES_PER_SECOND // 10
_STEP = FRAMES_PER_SECOND // 5


@dataclass(frozen=True, slots=True)
class Window:
    """The stretch that is used, in samples of the recording."""

    start: int
    end: int

    @property
    def start_ms(self) -> int:
        return self.start * 1000 // SAMPLE_RATE

    @property
    def end_ms(self) -> int:
        return self.end * 1000 // SAMPLE_RATE


@dataclass(frozen=True, slots=True)
class Reference:
    """What is encoded: samples at 24 kHz, from where they are, and how good they were found."""

    samples: Samples
    window: Window
    report: dict[str, Any]


def check(recording: Recording, text: str, field: str, text_field: str) -> Reference:
    """With a text the whole recording is used, less the silence around it: its words are all
    said. Raises ApiError 400 that says what is wrong and what to do about it."""
    _check_length(recording, text, field)
    measures = measure(recording.samples)
    _check_sound(recording, measures, field)
    if text:
        check_text(text, measures, text_field)
        window = _speech(measures)
    else:
        window = best_window(recording.samples, measures)
    return Reference(
        samples=recording.samples[window.start : window.end],
        window=window,
        report=report(recording, measures, window),
    )


def check_text(text: str, measures: Measures, field: str) -> None:
    """Raises ApiError 400 for a text that is not what is said: by its length, which is what makes
    clones collapse. Words are compared by `hearing`, where there is a recogniser."""
    expected = expected_ms(text) / 1000
    heard = measures.speech_seconds
    if heard > SLOWEST_SPEECH * expected:
        message = (
            f"{field} is too short for {heard:.1f} seconds of speech: send every word that is "
            "said, or cut the recording."
        )
        raise invalid(message, field, "transcript_mismatch")
    if heard < FASTEST_SPEECH * expected:
        message = (
            f"{field} takes about {expected:.0f} seconds to say, but the recording has "
            f"{heard:.1f} seconds of speech: send only what is said in it."
        )
        raise invalid(message, field, "transcript_mismatch")


def best_window(samples: Samples, measures: Measures) -> Window:
    """The stretch with the most speech and the least clipping, cut where nobody speaks."""
    whole = _speech(measures)
    most = int(BEST_SECONDS * FRAMES_PER_SECOND)
    first, last = whole.start // FRAME, whole.end // FRAME
    if last - first <= most:
        return whole
    talk = np.concatenate(([0], np.cumsum(measures.is_speech[first:last])))
    peak = float(np.abs(samples).max())
    loud = np.abs(samples[first * FRAME : last * FRAME]).reshape(-1, FRAME).max(axis=1)
    tops = np.concatenate(([0], np.cumsum(loud >= 0.995 * peak)))
    starts = np.arange(0, last - first - most + 1, _STEP)
    scores = talk[starts + most] - talk[starts] - 5 * (tops[starts + most] - tops[starts])
    start = first + int(starts[int(np.argmax(scores))])
    return _between_words(Window(start * FRAME, (start + most) * FRAME), measures)


def report(recording: Recording, measures: Measures, window: Window) -> dict[str, Any]:
    """What people are shown; `notes` say what could be better."""
    found = asdict(measures)
    del found["is_speech"]
    rounded = {name: round(value, 4) for name, value in found.items()}
    source = {"rate": recording.rate, "channels": recording.channels}
    used = {"start_ms": window.start_ms, "end_ms": window.end_ms}
    return {**rounded, **source, **used, "notes": _notes(recording, measures)}


def _notes(recording: Recording, measures: Measures) -> list[str]:
    notes = []
    if recording.rate < GOOD_RATE:
        notes.append(f"Recorded at {recording.rate} Hz: {GOOD_RATE} Hz or more sound clearer.")
    if measures.noise_db < GOOD_NOISE_DB:
        notes.append(f"Speech stands {measures.noise_db:.0f} dB above the noise: 25 is good.")
    if measures.clipped > GOOD_CLIPPED:
        notes.append("Some peaks are clipped: record with less gain.")
    if measures.speech_seconds < 8:
        notes.append("A longer recording, 10 to 20 seconds, makes a truer voice.")
    return notes


def _check_length(recording: Recording, text: str, field: str) -> None:
    if recording.seconds < LEAST_SECONDS:
        message = (
            f"{field} is {recording.seconds:.1f} seconds long: send {LEAST_SECONDS:.0f} to "
            f"{MOST_SECONDS:.0f} seconds of speech."
        )
        raise invalid(message, field, "audio_too_short")
    if text and recording.seconds > MOST_SECONDS:
        message = (
            f"{field} is {recording.seconds:.0f} seconds long; with what is said in it, "
            f"{MOST_SECONDS:.0f} are the most: cut it, and the text with it."
        )
        raise invalid(message, field, "audio_too_long")
    if recording.rate < LEAST_RATE:
        message = (
            f"{field} was recorded at {recording.rate} Hz, like a telephone call: send one of "
            f"{LEAST_RATE} Hz or more."
        )
        raise invalid(message, field, "sample_rate_too_low")


def _check_sound(recording: Recording, measures: Measures, field: str) -> None:
    for is_wrong, code, message in (
        (
            measures.level_db < QUIET_DB,
            "audio_silent",
            f"{field} is silent, or nearly: its speech is at {measures.level_db:.0f} dB. Record it "
            "closer to the microphone, or with more gain.",
        ),
        (
            measures.clipped > MOST_CLIPPED,
            "audio_clipped",
            f"{field} is clipped ({measures.clipped:.1%} of it): record again with less gain.",
        ),
        (
            measures.noise_db < NOISY_DB,
            "audio_noisy",
            f"In {field} speech stands only {measures.noise_db:.0f} dB above the noise: record "
            "in a quiet room, close to the microphone.",
        ),
        (
            measures.speech_seconds < LEAST_SPEECH_SECONDS,
            "too_little_speech",
            f"{field} has {measures.speech_seconds:.1f} seconds of speech: send more of it.",
        ),
        (
            measures.voices > 1,
            "several_speakers",
            f"{field} has two voices in it: send a recording of one speaker alone.",
        ),
    ):
        if is_wrong:
            raise invalid(message, field, code)


def _speech(measures: Measures) -> Window:
    """From the first word to the last, with a tenth of a second around them."""
    spoken = np.flatnonzero(measures.is_speech)
    first = max(0, int(spoken[0]) - _MARGIN)
    last = min(len(measures.is_speech), int(spoken[-1]) + 1 + _MARGIN)
    return Window(first * FRAME, last * FRAME)


def _between_words(window: Window, measures: Measures) -> Window:
    """Moved inwards, by a second at most, to where there is no speech."""
    quiet = ~measures.is_speech
    first, last = window.start // FRAME, window.end // FRAME
    after = np.flatnonzero(quiet[first : first + FRAMES_PER_SECOND])
    before = np.flatnonzero(quiet[last - FRAMES_PER_SECOND : last])
    start = first + int(after[0]) if len(after) else first
    end = last - FRAMES_PER_SECOND + int(before[-1]) + 1 if len(before) else last
    return Window(start * FRAME, end * FRAME)
