from django.urls import path

from ttsapp.console.platform import tenants

app_name = "platform"

urlpatterns = [
    path("tenants", tenants.tenants, name="tenants"),
    path("tenants/<slug:slug>", tenants.tenant, name="tenant"),
    path("tenants/<slug:slug>/suspend", tenants.suspend, name="suspend"),
    path("tenants/<slug:slug>/invite", tenants.invite, name="invite"),
    path("tenants/<slug:slug>/restore", tenants.restore, name="restore"),
]
