"""From the engine's samples to the bytes that a client asked for, chunk by chunk.

`audio_format` says whether a format is on offer, `encoder` makes the one that streams it,
`FileEncoder` the one of a file with its true length; `Encoding` and `WholeEncoding` do the same
beside the event loop."""

from ttsapp.speech.encoders.beside import Encoding, WholeEncoding
from ttsapp.speech.encoders.chain import Encoder, encoder
from ttsapp.speech.encoders.file import FileEncoder, encode_whole
from ttsapp.speech.encoders.formats import FORMATS, SAMPLE_RATES, AudioFormat, audio_format
from ttsapp.speech.encoders.samples import BYTES_PER_MS, BYTES_PER_SAMPLE, SAMPLE_RATE
from ttsapp.speech.encoders.speed import FASTEST, SLOWEST

__all__ = [
    "BYTES_PER_MS",
    "BYTES_PER_SAMPLE",
    "FASTEST",
    "FORMATS",
    "SAMPLE_RATE",
    "SAMPLE_RATES",
    "SLOWEST",
    "AudioFormat",
    "Encoder",
    "Encoding",
    "FileEncoder",
    "WholeEncoding",
    "audio_format",
    "encode_whole",
    "encoder",
]
