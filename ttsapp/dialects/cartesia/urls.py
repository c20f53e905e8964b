from django.urls import path

from ttsapp.dialects.cartesia import making, views
from ttsapp.dialects.door import nothing_here

routes = [
    path("tts/bytes", views.speech_bytes),
    path("tts/sse", views.speech_events),
    path("voices", views.voice_list),
    path("voices/clone", making.clone),
    path("voices/<str:name>", making.voice),
    path("access-token", views.access_token),
]
# Under the dialect's own prefix everything else is its 404 too.
urlpatterns = [path("", views.status), *routes, path("<path:rest>", nothing_here)]
