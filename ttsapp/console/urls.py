from django.contrib.auth.views import LoginView, LogoutView
from django.urls import path

from ttsapp.console import views

app_name = "console"

urlpatterns = [
    path("", views.home, name="home"),
    path("login", LoginView.as_view(template_name="console/login.html"), name="login"),
    path("logout", LogoutView.as_view(), name="logout"),
    path("<slug:slug>", views.overview, name="overview"),
    path("<slug:slug>/keys", views.create_key, name="create_key"),
    path("<slug:slug>/keys/<str:public_id>/revoke", views.revoke_key, name="revoke_key"),
    path("<slug:slug>/speak", views.speak, name="speak"),
]
