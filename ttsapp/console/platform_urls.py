from django.urls import path

from ttsapp.console import money_urls, place_urls
from ttsapp.console.platform import alerts, engines, overview, settings, tenants

app_name = "platform"

urlpatterns = [
    *money_urls.of_platform,
    *place_urls.of_platform,
    path("alerts/<slug:code>", alerts.rule, name="alert_rule"),
    path("engines", engines.engines, name="engines"),
    path("engines/now", engines.engines_now, name="engines_now"),
    path("engines/<int:number>/<slug:action>", engines.act, name="engine_act"),
    path("overview", overview.overview, name="overview"),
    path("settings.csv", settings.settings_csv, name="settings_csv"),
    path("settings", settings.settings, name="settings"),
    path("tenants", tenants.tenants, name="tenants"),
    path("tenants.csv", tenants.tenants_csv, name="tenants_csv"),
    path("tenants/<slug:slug>", tenants.tenant, name="tenant"),
    path("tenants/<slug:slug>/suspend", tenants.suspend, name="suspend"),
    path("tenants/<slug:slug>/invite", tenants.invite, name="invite"),
    path("tenants/<slug:slug>/restore", tenants.restore, name="restore"),
]
