from django.urls import path

from ttsapp.dialects import door
from ttsapp.dialects.dashscope import enrolment, generation
from ttsapp.dialects.dashscope.dialect import DASHSCOPE, ROOTS

nothing_here = door.nothing_here(DASHSCOPE)

_services = "api/v1/services"
routes = [
    path(f"{_services}/aigc/multimodal-generation/generation", generation.generation),
    path(f"{_services}/audio/tts/customization", enrolment.customization),
]
at_root = [*routes, *(path(f"{root[1:]}/<path:rest>", nothing_here) for root in ROOTS)]
urlpatterns = [
    *routes,
    path("audio/<str:name>", generation.audio, name="dashscope-audio"),
    path("<path:rest>", nothing_here),
]
