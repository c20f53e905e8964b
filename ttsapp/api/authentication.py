"""Who calls: a key that may manage its account, or a person who is signed in."""

from __future__ import annotations

from dataclasses import dataclass

from asgiref.sync import async_to_sync
from rest_framework.authentication import BaseAuthentication, SessionAuthentication
from rest_framework.request import Request

from ttsapp.keys import credentials
from ttsapp.keys.authentication import Caller, authenticate
from ttsapp.keys.rules import KeyScope


@dataclass(frozen=True, slots=True)
class KeyUser:
    """Stands where the framework expects a person."""

    caller: Caller
    is_authenticated = True
    is_active = True


class KeyAuthentication(BaseAuthentication):
    """First in the list, so that whoever is nobody gets a 401 that says how to be somebody."""

    def authenticate(self, request: Request) -> tuple[KeyUser, Caller] | None:
        """None where no key was sent. Raises ApiError 401 or 403."""
        credential = credentials.of_request(request._request)
        if not credential:
            return None
        caller = async_to_sync(authenticate)(credential, needs=KeyScope.MANAGE)
        return KeyUser(caller), caller

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


class PersonAuthentication(SessionAuthentication):
    """The console's own session, with its CSRF token for whatever changes something."""
