"""Password hashes with argon2id. Callers validate passwords and limit attempts."""

from __future__ import annotations

import secrets
from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

_hasher = PasswordHasher()


def hash_password(password: str) -> str:
    """A password's hash with its salt and parameters: argon2id, 64 MiB, 3 passes (RFC 9106's second recommendation)."""
    return _hasher.hash(password)


def password_fits(password_hash: str | None, password: str) -> bool:
    """Whether a password has this hash. Without a hash, False after the same time."""
    try:
        _hasher.verify(password_hash or _nobodys_hash(), password)
    except (VerificationError, InvalidHashError):
        return False
    return password_hash is not None


def needs_rehash(password_hash: str) -> bool:
    return _hasher.check_needs_rehash(password_hash)


@cache
def _nobodys_hash() -> str:
    return _hasher.hash(secrets.token_urlsafe())
