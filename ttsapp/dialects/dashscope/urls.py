from django.urls import path

from ttsapp.dialects.dashscope import enrolment, generation, synthesizer
from ttsapp.dialects.dashscope.dialect import ROOTS
from ttsapp.dialects.door import nothing_here

_services = "api/v1/services"
routes = [
    path(f"{_services}/aigc/multimodal-generation/generation", generation.generation),
    path(f"{_services}/audio/tts/SpeechSynthesizer", synthesizer.synthesizer),
    path(f"{_services}/audio/tts/customization", enrolment.customization),
]
at_root = [*routes, *(path(f"{root[1:]}/<path:rest>", nothing_here) for root in ROOTS)]
urlpatterns = [
    *routes,
    path("audio/<str:name>", generation.audio, name="dashscope-audio"),
    path("<path:rest>", nothing_here),
]
