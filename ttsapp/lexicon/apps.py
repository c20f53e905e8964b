from django.apps import AppConfig


class LexiconConfig(AppConfig):
    name = "ttsapp.lexicon"
    label = "lexicon"
