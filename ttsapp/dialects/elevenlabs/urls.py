from django.urls import path

from ttsapp.dialects import door
from ttsapp.dialects.elevenlabs import speech
from ttsapp.dialects.elevenlabs.dialect import ELEVENLABS, ROOTS

nothing_here = door.nothing_here(ELEVENLABS)

_speech = "v1/text-to-speech/<str:voice_id>"
routes = [
    path(_speech, speech.convert),
    path(f"{_speech}/stream", speech.stream),
    path(f"{_speech}/with-timestamps", speech.with_timestamps),
    path(f"{_speech}/stream/with-timestamps", speech.stream_with_timestamps),
]
# What else lies under these is this dialect's 404 too.
at_root = [*routes, *(path(f"{root[1:]}/<path:rest>", nothing_here) for root in ROOTS)]
urlpatterns = [*routes, path("<path:rest>", nothing_here)]
