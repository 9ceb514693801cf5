"""Signed strings. A signature is an HMAC-SHA256 with a separate key for each purpose, so that a string signed for one
purpose is invalid for another. The string itself isn't encrypted.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
from collections.abc import Mapping
from typing import Any

SECRET_BYTES_MIN = 16
TOKEN_CHARACTERS_MAX = 4000
_TOKEN_BYTES = 32


def random_token() -> str:
    return secrets.token_urlsafe(_TOKEN_BYTES)


class Signer:
    """Signs strings and verifies signatures."""

    def __init__(self, secret: bytes) -> None:
        if len(secret) < SECRET_BYTES_MIN:
            raise ValueError(f"a secret must have {SECRET_BYTES_MIN} bytes or more")
        self._secret = secret
        self._keys: dict[str, bytes] = {}

    def signature(self, purpose: str, text: str) -> str:
        """The signature of a string for a purpose: 43 URL-safe characters."""
        key = self._keys.get(purpose)
        if key is None:
            key = self._keys[purpose] = hmac.digest(self._secret, purpose.encode(), hashlib.sha256)
        made = hmac.digest(key, text.encode("utf-8", "surrogatepass"), hashlib.sha256)
        return base64.urlsafe_b64encode(made).rstrip(b"=").decode("ascii")

    def sign(self, purpose: str, text: str) -> str:
        """The string, a dot and its signature."""
        return f"{text}.{self.signature(purpose, text)}"

    def unsign(self, purpose: str, signed: str) -> str | None:
        """The string that was signed for this purpose; None if the signature is invalid."""
        text, dot, given = signed.rpartition(".")
        if not dot or not self.matches(purpose, text, given):
            return None
        return text

    def pack(self, purpose: str, facts: Mapping[str, Any], until: float) -> str:
        """A signed token with values of JSON, which expires at a time in seconds since 1970.

        The purpose of the signature isn't that of ``sign``, because a string that ``sign`` signed can't be unpacked.
        """
        text = json.dumps({**facts, "until": int(until)}, separators=(",", ":"))
        return self.sign(f"packed {purpose}", base64.urlsafe_b64encode(text.encode()).rstrip(b"=").decode())

    def unpack(self, purpose: str, token: str, at: float) -> dict[str, Any] | None:
        """The values of a token; None if it is forged or has expired."""
        text = self.unsign(f"packed {purpose}", token) if len(token) <= TOKEN_CHARACTERS_MAX else None
        if text is None:
            return None
        facts: dict[str, Any] = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        return facts if facts.pop("until") > at else None

    def matches(self, purpose: str, text: str, given: str) -> bool:
        """Whether a signature is valid, compared in constant time."""
        return hmac.compare_digest(self.signature(purpose, text).encode(), given.encode("utf-8", "surrogatepass"))
