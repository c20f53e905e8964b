from django.urls import path

from ttsapp.dialects.door import nothing_here
from ttsapp.dialects.elevenlabs import making, reading, speech
from ttsapp.dialects.elevenlabs.dialect import ROOTS

_speech = "v1/text-to-speech/<str:voice_id>"
routes = [
    path(_speech, speech.convert),
    path(f"{_speech}/stream", speech.stream),
    path(f"{_speech}/with-timestamps", speech.with_timestamps),
    path(f"{_speech}/stream/with-timestamps", speech.stream_with_timestamps),
    path("v1/voices", reading.voices),
    path("v2/voices", reading.search_voices),
    path("v1/voices/add", making.add_voice),
    path("v1/voices/settings/default", reading.default_settings),
    path("v1/voices/<str:voice_id>", making.voice),
    path("v1/voices/<str:voice_id>/edit", making.edit_voice),
    path("v1/voices/<str:voice_id>/settings", making.settings),
    path("v1/voices/<str:voice_id>/settings/edit", making.edit_settings),
    path("v1/user", reading.user),
    path("v1/user/subscription", reading.subscription),
    path("v1/usage/character-stats", reading.character_stats),
    path("v1/history", reading.history_page),
    path("v1/history/download", reading.history_download),
    path("v1/history/<str:item_id>", reading.history_item),
    path("v1/history/<str:item_id>/audio", reading.history_audio),
    path("v1/single-use-token/<str:kind>", reading.single_use_token),
]
# What else lies under these is this dialect's 404 too.
nowhere = [path(f"{root[1:]}/<path:rest>", nothing_here) for root in ROOTS]
at_root = [*routes, path("v1/models", reading.models_by_header), *nowhere]
urlpatterns = [*routes, path("v1/models", reading.models), path("<path:rest>", nothing_here)]
