"""Which container of sound a file is, by how it begins.

FFmpeg is told which of its readers to use. Left to guess it would also try play-lists, session
descriptions and the like, which open files and connections of their own."""

from __future__ import annotations

_BEGINNINGS = (
    (b"fLaC", "flac"),
    (b"OggS", "ogg"),
    (b"\x1a\x45\xdf\xa3", "matroska"),
    (b"caff", "caf"),
    (b"riff\x2e\x91\xcf\x11\xa5\xd6\x28\xdb", "w64"),
)
_WAVES = (b"RIFF", b"RIFX", b"RF64", b"BW64")
# What the first box of an MP4 or QuickTime file may be.
_BOXES = (b"ftyp", b"moov", b"mdat", b"wide", b"free", b"skip")
_TAG_HEADER = 10
_MOST_TAGS = 8
_MOST_PADDING = 4096


def container_of(data: bytes) -> str | None:
    """FFmpeg's name of its reader; None for what is no container of sound."""
    for beginning, name in _BEGINNINGS:
        if data.startswith(beginning):
            return name
    if data[:4] in _WAVES and data[8:12] == b"WAVE":
        return "wav"
    if data[:4] == b"FORM" and data[8:12] in (b"AIFF", b"AIFC"):
        return "aiff"
    if data[4:8] in _BOXES:
        return "mov"
    return _frames_of(data)


def _frames_of(data: bytes) -> str | None:
    """What has no header but begins with its first frame, after tags and the zeros that pad."""
    start = _after_tags(data)
    begins = data[start : start + _MOST_PADDING].lstrip(b"\0")[:4]
    if begins == b"fLaC":
        return "flac"
    if len(begins) < 2 or begins[0] != 0xFF:
        return None
    # Eleven bits of sync; MPEG audio then says its layer, where ADTS has zero.
    if begins[1] & 0xF6 == 0xF0:
        return "aac"
    return "mp3" if begins[1] & 0xE0 == 0xE0 and begins[1] & 0x06 else None


def _after_tags(data: bytes) -> int:
    """Behind the ID3 tags, whose length is four times seven bits."""
    start = 0
    for _ in range(_MOST_TAGS):
        header = data[start : start + _TAG_HEADER]
        if header[:3] != b"ID3" or len(header) < _TAG_HEADER:
            break
        size = 0
        for byte in header[6:]:
            size = size << 7 | byte & 0x7F
        has_footer = bool(header[5] & 0x10)
        start += _TAG_HEADER * (1 + has_footer) + size
    return start
