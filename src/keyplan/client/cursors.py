"""A cursor is an opaque string that marks the end of a page, valid only for the same pattern and arguments.

A cursor is a 12-byte digest and the position, in URL-safe base64. Without a secret, the digest detects truncated
cursors and cursors of other patterns or arguments; with a secret, it also prevents forgery.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from collections.abc import Mapping
from typing import Any, TypeAlias

import orjson

from keyplan.errors import CursorError
from keyplan.model.declared.parameters import Cursor, Range
from keyplan.model.stored.field_codec import plain

Position: TypeAlias = list[str]
_DIGEST_BYTES = 12


def signing_key(secret: bytes) -> bytes:
    """The signing key for cursors, derived from a secret of any length."""
    return hashlib.blake2b(secret).digest()


def write_cursor(position: Position, place: str, arguments: Mapping[str, Any], key: bytes) -> Cursor:
    """The cursor of a position in the result of the pattern ``place`` with these arguments."""
    body = orjson.dumps(position)
    return Cursor(base64.urlsafe_b64encode(_digest(body, place, arguments, key) + body).decode("ascii").rstrip("="))


def read_cursor(cursor: str, place: str, arguments: Mapping[str, Any], key: bytes) -> Position:
    """The position of a cursor. Raises CursorError for a cursor of another pattern or other arguments."""
    try:
        raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise _foreign(place, "is invalid: it was truncated or changed") from None
    body = raw[_DIGEST_BYTES:]
    if not hmac.compare_digest(raw[:_DIGEST_BYTES], _digest(body, place, arguments, key)):
        raise _foreign(place, "belongs to another access pattern or other arguments, or was truncated or changed")
    position: Position = orjson.loads(body)
    return position


def _foreign(place: str, message: str) -> CursorError:
    return CursorError(
        f"the cursor {message}",
        place=f"{place}.cursor",
        hint="pass the previous page's cursor unchanged with the same arguments, or no cursor for the first page",
    )


def _digest(body: bytes, place: str, arguments: Mapping[str, Any], key: bytes) -> bytes:
    known = {name: _plain(value) for name, value in arguments.items()}
    bound = orjson.dumps([place, known], option=orjson.OPT_SORT_KEYS, default=str)
    mac = hashlib.blake2b(key=key, digest_size=_DIGEST_BYTES)
    mac.update(len(bound).to_bytes(8, "big"))
    mac.update(bound)
    mac.update(body)
    return mac.digest()


def _plain(value: Any) -> Any:
    if isinstance(value, Range):
        return [plain(element) for element in (value.ge, value.gt, value.le, value.lt)]
    result = plain(value)
    return sorted(result, key=str) if isinstance(result, set) else result
