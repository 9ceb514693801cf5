"""Signature Version 4: the string to sign and the signing key, for the client that signs and the server that verifies.

Source: "Create a signed AWS API request" in the IAM user guide.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Mapping
from hashlib import sha256

ALGORITHM = "AWS4-HMAC-SHA256"
TERMINATOR = "aws4_request"
"""What a credential's scope ends with."""
STAMP = "%Y%m%dT%H%M%SZ"
"""The form of X-Amz-Date, for strftime and strptime."""


def canonical_headers(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Headers by name in lower case; those of one name joined by commas, white space within values folded."""
    values: dict[str, list[str]] = {}
    for name, value in headers:
        values.setdefault(name.lower().strip(), []).append(" ".join(value.split()))
    return {name: ",".join(texts) for name, texts in values.items()}


def canonical_request(
    method: str,
    headers: Mapping[str, str],
    signed: Iterable[str],
    payload_hash: str,
    *,
    path: str = "/",
    query: str = "",
) -> str:
    """The canonical form of a request: ``headers`` as ``canonical_headers`` gives them, ``signed`` the names of those
    that are signed, in the order in which they are listed. ``query`` is canonical already: sorted and quoted.
    """
    names = list(signed)
    lines = "".join([f"{name}:{headers.get(name, '')}\n" for name in names])
    return f"{method}\n{path}\n{query}\n{lines}\n{';'.join(names)}\n{payload_hash}"


def string_to_sign(date: str, scope: str, canonical: str) -> str:
    """What is signed: the time (YYYYMMDDTHHMMSSZ), the scope, and the hash of the canonical request."""
    return f"{ALGORITHM}\n{date}\n{scope}\n{sha256(canonical.encode()).hexdigest()}"


def signing_key(secret_key: str, day: str, region: str, service: str) -> bytes:
    """The key of one day, region and service: four hashes of work. ``day`` is YYYYMMDD."""
    key = f"AWS4{secret_key}".encode()
    for part in (day, region, service, TERMINATOR):
        key = hmac.digest(key, part.encode(), "sha256")
    return key


def signature(key: bytes, text: str) -> str:
    """The signature of a string to sign, in hexadecimal digits."""
    return hmac.digest(key, text.encode(), "sha256").hex()
