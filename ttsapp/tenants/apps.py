from django.apps import AppConfig


class TenantsConfig(AppConfig):
    name = "ttsapp.tenants"
    verbose_name = "Tenants"
