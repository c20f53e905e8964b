"""Pages about money: of a tenant's, and of the installation's."""

from __future__ import annotations

from django.urls import path

from ttsapp.console.platform import (
    cost_settings,
    costs,
    invoices,
    metering,
    prices,
    tenant_billing,
)
from ttsapp.console.views import billing

of_tenant = [
    path("<slug:slug>/billing", billing.billing, name="billing"),
    path("<slug:slug>/billing.csv", billing.billing_csv, name="billing_csv"),
    path("<slug:slug>/billing/<uuid:wanted>.pdf", billing.billing_pdf, name="billing_pdf"),
]
of_platform = [
    path("prices", prices.price_books, name="price_books"),
    path("prices.csv", prices.price_books_csv, name="price_books_csv"),
    path("prices/<slug:slug>", prices.price_book, name="price_book"),
    path("prices/<slug:slug>/default", prices.make_default, name="make_default"),
    path("costs", costs.costs, name="costs"),
    path("costs.csv", costs.costs_csv, {"what": "days"}, name="costs_csv"),
    path("costs/tenants.csv", costs.costs_csv, {"what": "tenants"}, name="cost_tenants_csv"),
    path("costs/voices.csv", costs.costs_csv, {"what": "voices"}, name="cost_voices_csv"),
    path("costs/whose", costs.cost_parts, name="cost_parts"),
    path("costs/settings", cost_settings.cost_settings, name="cost_settings"),
    path("costs/settings/<slug:what>", cost_settings.add_cost, name="add_cost"),
    path(
        "costs/settings/<slug:what>/<int:row_id>/remove",
        cost_settings.remove_cost,
        name="remove_cost",
    ),
    path("metering", metering.metering, name="metering"),
    path("metering.csv", metering.metering_csv, name="metering_csv"),
    path("invoices", invoices.invoices, name="invoices"),
    path("invoices.csv", invoices.invoices_csv, name="invoices_csv"),
    path("invoices/<uuid:wanted>", invoices.invoice, name="invoice"),
    path("invoices/<uuid:wanted>.pdf", invoices.invoice_pdf, name="invoice_pdf"),
    path("sellers/new", invoices.new_seller, name="new_seller"),
    path("sellers/<int:seller_id>", invoices.seller, name="seller"),
    path("tenants/<slug:slug>/billing", tenant_billing.tenant_billing, name="tenant_billing"),
    path("tenants/<slug:slug>/billing/details", tenant_billing.save_details, name="save_details"),
    path(
        "tenants/<slug:slug>/billing/agreement",
        tenant_billing.save_agreement,
        name="save_agreement",
    ),
    path("tenants/<slug:slug>/billing/credit", tenant_billing.book_credit, name="book_credit"),
]
