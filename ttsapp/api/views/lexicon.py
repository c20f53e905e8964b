"""A tenant's own pronunciations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db import IntegrityError
from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from ttsapp.api.base import TenantView
from ttsapp.api.fields import Strict
from ttsapp.errors import ApiError
from ttsapp.lexicon import selectors, services
from ttsapp.lexicon.models import Word
from ttsapp.tenants.models import Permission


class ChangedWord(Strict):
    alias = serializers.CharField(
        max_length=200,
        validators=Word._meta.get_field("alias").validators,
        help_text="What is said in place of the word.",
    )
    is_case_sensitive = serializers.BooleanField(
        default=False, help_text="Only in the word's own spelling."
    )


class NewWord(ChangedWord):
    word = serializers.CharField(max_length=100, validators=Word._meta.get_field("word").validators)
    language = serializers.ChoiceField(
        Word._meta.get_field("language").choices or (),
        default="",
        help_text="A code; empty: every language that has no entry of its own.",
    )


class LexiconWord(NewWord):
    id = serializers.IntegerField()
    created_at = serializers.DateTimeField()


@extend_schema(tags=["lexicon"])
class Lexicon(TenantView):
    paged_actions = frozenset({"list"})
    permissions = dict.fromkeys(("create", "partial_update", "destroy"), Permission.MANAGE_VOICES)
    lookup_field = "id"
    lookup_value_converter = "int"

    @extend_schema(summary="List words, newest first", responses=LexiconWord(many=True))
    def list(self, request: Request) -> Response:
        return self.paged(selectors.words(self.access.tenant), _documents)

    @extend_schema(summary="Add a word", request=NewWord, responses={201: LexiconWord})
    def create(self, request: Request) -> Response:
        wanted = NewWord.of_body(request)
        try:
            word = services.add_word(self.access.actor, self.access.tenant, **wanted)
        except IntegrityError:
            message = "This word is there already for that language: change it instead."
            raise ApiError(409, "word_exists", message, field="word") from None
        return Response(LexiconWord(word).data, status.HTTP_201_CREATED)

    @extend_schema(summary="Look at a word", responses=LexiconWord)
    def retrieve(self, request: Request, id: int) -> Response:
        return Response(LexiconWord(self._word(id)).data)

    @extend_schema(
        summary="Change what is said for a word", request=ChangedWord, responses=LexiconWord
    )
    def partial_update(self, request: Request, id: int) -> Response:
        word = self._word(id)
        now = {"alias": word.alias, "is_case_sensitive": word.is_case_sensitive}
        wanted = {**now, **ChangedWord.of_body(request, partial=True)}
        services.change_word(self.access.actor, word, **wanted)
        return Response(LexiconWord(self._word(id)).data)

    @extend_schema(summary="Remove a word", responses={204: None})
    def destroy(self, request: Request, id: int) -> Response:
        services.remove_word(self.access.actor, self._word(id))
        return Response(status=status.HTTP_204_NO_CONTENT)

    def _word(self, word_id: int) -> Word:
        word = selectors.words(self.access.tenant).filter(pk=word_id).first()
        if word is None:
            raise Http404
        return word


def _documents(words: Iterable[Word]) -> Any:
    return LexiconWord(words, many=True).data
