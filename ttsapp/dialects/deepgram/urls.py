from django.urls import path

from ttsapp.dialects.deepgram import views
from ttsapp.dialects.door import nothing_here

routes = [path("v1/speak", views.speak)]
# Under the dialect's own prefix everything else is its 404 too.
urlpatterns = [*routes, path("<path:rest>", nothing_here)]
