from django.urls import path

from ttsapp.dialects.door import nothing_here
from ttsapp.dialects.openai import views, voices

urlpatterns = [
    path("", views.root),
    path("/", views.root),
    path("/audio/speech", views.speech),
    path("/audio/speech/requests/<uuid:wanted>", views.speech_request),
    path("/audio/voices", voices.voices),
    path("/audio/voices/<str:name>", voices.voice),
    path("/audio/voice_consents", voices.voice_consents),
    path("/audio/voice_consents/<str:name>", voices.voice_consent),
    path("/audio/voice_consents/<str:name>/withdraw", voices.withdrawal),
    path("/text/preview", views.text_preview),
    path("/models", views.models),
    path("/models/<path:name>", views.model),
    path("/<path:rest>", nothing_here),
]
