"""Addresses of the management API. Another resource is one line here and a module in `views`."""

from __future__ import annotations

from django.urls import path
from rest_framework.routers import Route, SimpleRouter

from ttsapp.api import documents
from ttsapp.api.views.aliases import Aliases
from ttsapp.api.views.audit import Audit
from ttsapp.api.views.billing import BillingView, DocumentsView
from ttsapp.api.views.consents import Consents
from ttsapp.api.views.costs import CostsView
from ttsapp.api.views.engines import EnginesView
from ttsapp.api.views.keys import Keys
from ttsapp.api.views.lexicon import Lexicon
from ttsapp.api.views.limits import LimitsView
from ttsapp.api.views.members import Members
from ttsapp.api.views.requests import Requests
from ttsapp.api.views.settings import SettingsView
from ttsapp.api.views.tenants import PlatformTenants, TenantsView
from ttsapp.api.views.usage import UsageView
from ttsapp.api.views.voices import VoicesView


class Router(SimpleRouter):
    """What is one document, and no list, is changed at its own address by `change`."""

    routes = [  # noqa: RUF012
        route._replace(mapping={**route.mapping, "patch": "change"})
        if isinstance(route, Route) and route.mapping.get("get") == "list"
        else route
        for route in SimpleRouter.routes
    ]


router = Router(trailing_slash=False, use_regex_path=False)
router.register("tenants", TenantsView, "tenants")
router.register("tenants/<slug:tenant>/aliases", Aliases, "aliases")
router.register("tenants/<slug:tenant>/billing", BillingView, "billing")
router.register("tenants/<slug:tenant>/documents", DocumentsView, "documents")
router.register("tenants/<slug:tenant>/consents", Consents, "consents")
router.register("tenants/<slug:tenant>/audit", Audit, "audit")
router.register("tenants/<slug:tenant>/keys", Keys, "keys")
router.register("tenants/<slug:tenant>/lexicon", Lexicon, "lexicon")
router.register("tenants/<slug:tenant>/limits", LimitsView, "limits")
router.register("tenants/<slug:tenant>/members", Members, "members")
router.register("tenants/<slug:tenant>/requests", Requests, "requests")
router.register("tenants/<slug:tenant>/settings", SettingsView, "settings")
router.register("tenants/<slug:tenant>/usage", UsageView, "usage")
router.register("tenants/<slug:tenant>/voices", VoicesView, "voices")
router.register("platform/costs", CostsView, "platform-costs")
router.register("platform/engines", EnginesView, "platform-engines")
router.register("platform/tenants", PlatformTenants, "platform-tenants")

urlpatterns = [
    *router.urls,
    path("schema/", documents.schema, name="api-schema"),
    path("schema/speech/", documents.speech_schema, name="speech-schema"),
    path("docs", documents.page, name="api-docs"),
]
