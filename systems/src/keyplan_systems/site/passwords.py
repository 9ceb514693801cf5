"""Hashes of passwords, argon2id. What a password must be, and how often one is tried, is the callers' business."""

from __future__ import annotations

import secrets
from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

__all__ = ["hash_password", "needs_rehash", "password_fits"]

_hasher = PasswordHasher()


def hash_password(password: str) -> str:
    """The hash of a password, with its salt and parameters: argon2id, 64 MiB, 3 passes (RFC 9106's second choice)."""
    return _hasher.hash(password)


def password_fits(password_hash: str | None, password: str) -> bool:
    """Whether a password has this hash. Without a hash it doesn't, and takes as long to say so."""
    try:
        _hasher.verify(password_hash or _nobodys_hash(), password)
    except (VerificationError, InvalidHashError):
        return False
    return password_hash is not None


def needs_rehash(password_hash: str) -> bool:
    """Whether a hash was made with other parameters than today's."""
    return _hasher.check_needs_rehash(password_hash)


@cache
def _nobodys_hash() -> str:
    return _hasher.hash(secrets.token_urlsafe())
