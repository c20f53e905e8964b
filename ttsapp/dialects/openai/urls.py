from django.urls import path

from ttsapp.dialects.openai import views

urlpatterns = [
    path("", views.root),
    path("/", views.root),
    path("/audio/speech", views.speech),
    path("/audio/speech/requests/<uuid:wanted>", views.speech_request),
    path("/audio/voices", views.voices),
    path("/text/preview", views.text_preview),
    path("/models", views.models),
    path("/models/<path:name>", views.model),
    path("/<path:rest>", views.nothing_here),
]
