"""Signature Version 4: the string to sign and the signing key, for clients and servers.

The source is "Create a signed AWS API request" in the IAM user guide.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Mapping
from hashlib import sha256

ALGORITHM = "AWS4-HMAC-SHA256"
TERMINATOR = "aws4_request"
"""The last part of a credential scope."""
STAMP = "%Y%m%dT%H%M%SZ"
"""The format of X-Amz-Date, for strftime and strptime."""


def canonical_headers(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Headers by lower-case name; repeated headers are joined by commas, white space in values is collapsed."""
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
    """The canonical request. ``headers`` is the result of ``canonical_headers``, ``signed`` the names of the signed
    headers in order, and ``query`` the canonical query string (sorted and quoted).
    """
    names = list(signed)
    lines = "".join([f"{name}:{headers.get(name, '')}\n" for name in names])
    return f"{method}\n{path}\n{query}\n{lines}\n{';'.join(names)}\n{payload_hash}"


def string_to_sign(date: str, scope: str, canonical: str) -> str:
    """The string to sign: the time (YYYYMMDDTHHMMSSZ), the scope and the hash of the canonical request."""
    return f"{ALGORITHM}\n{date}\n{scope}\n{sha256(canonical.encode()).hexdigest()}"


def signing_key(secret_key: str, day: str, region: str, service: str) -> bytes:
    """The signing key of a day (YYYYMMDD), region and service. Computes four hashes, so cache the result."""
    key = f"AWS4{secret_key}".encode()
    for part in (day, region, service, TERMINATOR):
        key = hmac.digest(key, part.encode(), "sha256")
    return key


def signature(key: bytes, text: str) -> str:
    return hmac.digest(key, text.encode(), "sha256").hex()
