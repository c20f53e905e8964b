from django.apps import AppConfig


class ConsoleConfig(AppConfig):
    name = "ttsapp.console"
    verbose_name = "Console"
