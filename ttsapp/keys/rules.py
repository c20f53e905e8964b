"""What a key may be used for, and from where. Each refusal says what to do about it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

from ttsapp.errors import ApiError

Network = IPv4Network | IPv6Network


class KeyScope(StrEnum):
    """What calls of the API a key is good for."""

    SPEECH = "speech"
    READ = "read"
    MANAGE = "manage"


# What a key has unless it is made for less or more: nobody gets to manage an account by chance.
USUAL_SCOPES = (KeyScope.SPEECH.value, KeyScope.READ.value)
_MEANING = {
    KeyScope.SPEECH: "may not speak or change anything",
    KeyScope.READ: "may not list or look anything up",
    KeyScope.MANAGE: "may not manage its account",
}


@dataclass(frozen=True, slots=True)
class KeyRules:
    """Empty voices, models or networks: any. Names in lower case."""

    scopes: frozenset[str] = frozenset(USUAL_SCOPES)
    voices: frozenset[str] = frozenset()
    models: frozenset[str] = frozenset()
    networks: tuple[Network, ...] = ()

    @classmethod
    def of(
        cls,
        scopes: Iterable[str],
        voices: Iterable[str],
        models: Iterable[str],
        networks: Iterable[str],
    ) -> KeyRules:
        return cls(
            frozenset(scopes),
            frozenset(voice.casefold() for voice in voices),
            frozenset(model.casefold() for model in models),
            tuple(ip_network(network) for network in networks),
        )

    def check_call(self, scope: KeyScope, address: str) -> None:
        """Raises ApiError 403."""
        if self.networks and not self._covers(address):
            message = (
                f"This API key may not be used from {address or 'an unknown address'}: call from "
                "one of its networks, or have this one added to it in the console."
            )
            raise ApiError(403, "address_not_allowed", message)
        if scope.value not in self.scopes:
            message = f"This API key {_MEANING[scope]}: use one with the scope {scope.value}."
            raise ApiError(403, "key_out_of_scope", message)

    def allows_model(self, name: str) -> bool:
        return not self.models or name.casefold() in self.models

    def allows_voice(self, names: Iterable[str]) -> bool:
        """`names`: all that one voice may be known by."""
        return not self.voices or any(name.casefold() in self.voices for name in names)

    def check_speech(self, model: str, voice: str) -> None:
        """Raises ApiError 403 on the field; names as the engine has them."""
        for field, name, allowed in (("model", model, self.models), ("voice", voice, self.voices)):
            if allowed and name.casefold() not in allowed:
                names = ", ".join(sorted(allowed))
                message = (
                    f"This API key may not use the {field} {name}: choose one of {names}, or have "
                    "it added to the key."
                )
                raise ApiError(403, f"{field}_not_allowed", message, field=field)

    def _covers(self, address: str) -> bool:
        """An IPv4 address that came by IPv6 is the IPv4 address."""
        try:
            found = ip_address(address)
        except ValueError:
            return False
        mapped = getattr(found, "ipv4_mapped", None) or found
        return any(mapped in network for network in self.networks)


def networks(text: str) -> list[str]:
    """Addresses and networks of a list with commas or lines, as they are stored. ValueError names
    the first that is none."""
    found = []
    for word in text.replace("\n", ",").split(","):
        if word.strip():
            try:
                found.append(str(ip_network(word.strip())))
            except ValueError:
                message = f"{word.strip()[:50]!r} is no network: write 192.0.2.7 or 192.0.2.0/24."
                raise ValueError(message) from None
    return found


def names(text: str) -> list[str]:
    return [word.strip() for word in text.replace("\n", ",").split(",") if word.strip()]
