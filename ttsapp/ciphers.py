"""Secrets that must be read again, kept encrypted under the installation's key."""

from __future__ import annotations

import base64
import hashlib

from cryptography.fernet import Fernet
from django.conf import settings


def encrypt(purpose: str, text: str) -> str:
    return _cipher(purpose).encrypt(text.encode()).decode()


def decrypt(purpose: str, encrypted: str) -> str:
    """Raises InvalidToken for what another key or purpose encrypted."""
    return _cipher(purpose).decrypt(encrypted.encode()).decode()


def _cipher(purpose: str) -> Fernet:
    """A key for each purpose: what leaks of one says nothing of another."""
    key = hashlib.sha256(f"{purpose}\n{settings.SECRET_KEY}".encode()).digest()
    return Fernet(base64.urlsafe_b64encode(key))
