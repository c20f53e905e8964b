from django.apps import AppConfig


class KeysConfig(AppConfig):
    name = "ttsapp.keys"
    verbose_name = "API keys"
