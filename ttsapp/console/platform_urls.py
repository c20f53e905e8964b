from django.urls import path

from ttsapp.console import money_urls
from ttsapp.console.platform import audit, engines, tenants

app_name = "platform"

urlpatterns = [
    *money_urls.of_platform,
    path("audit", audit.audit, name="audit"),
    path("audit.jsonl", audit.audit_export, name="audit_export"),
    path("engines", engines.engines, name="engines"),
    path("engines/now", engines.engines_now, name="engines_now"),
    path("tenants", tenants.tenants, name="tenants"),
    path("tenants/<slug:slug>", tenants.tenant, name="tenant"),
    path("tenants/<slug:slug>/suspend", tenants.suspend, name="suspend"),
    path("tenants/<slug:slug>/invite", tenants.invite, name="invite"),
    path("tenants/<slug:slug>/restore", tenants.restore, name="restore"),
]
