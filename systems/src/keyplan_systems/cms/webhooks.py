"""Webhook requests: body, signature and delivery. ``keeping`` schedules them.

Only URLs in the settings are called, never stored ones. Redirects aren't followed, and only the response status is
used.
"""

from __future__ import annotations

import hashlib
import hmac
import http.client
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import get_args
from urllib.parse import urlsplit

from keyplan_systems.cms.entities import Event, EventKind

__all__ = ["EVENTS", "Send", "Webhook", "post", "request_of", "signature"]

EVENTS: tuple[str, ...] = get_args(EventKind)
TIMEOUT_SECONDS = 10

Send = Callable[[str, bytes, Mapping[str, str]], str | None]
"""Sends a body with headers to a URL; returns the reason of a failure, or None."""


@dataclass(frozen=True)
class Webhook:
    """A URL that receives events. ``secret`` signs them."""

    name: str
    url: str
    secret: str = field(repr=False)
    events: tuple[str, ...] = EVENTS


def signature(secret: str, seconds: int, body: bytes) -> str:
    """The signature header: HMAC-SHA256 of time, a dot, and body."""
    made = hmac.new(secret.encode(), f"{seconds}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={seconds},v1={made}"


def request_of(hook: Webhook, event: Event, moment: datetime) -> tuple[bytes, dict[str, str]]:
    """The body and headers of an event."""
    result = {
        "id": event.event_id,
        "kind": event.kind,
        "at": event.at.isoformat(),
        "article_id": event.article_id,
        "slug": event.slug,
        "title": event.title,
        "locale": event.locale,
        "version": event.version,
    }
    body = json.dumps(result, ensure_ascii=False).encode()
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "keyplan-cms",
        "Keyplan-Event": event.event_id,
        "Keyplan-Signature": signature(hook.secret, int(moment.timestamp()), body),
    }
    return body, headers


def post(url: str, body: bytes, headers: Mapping[str, str]) -> str | None:
    """Send a request. Returns the reason of a failure: a status other than 2xx, or no response."""
    parts = urlsplit(url)
    secure = parts.scheme == "https"
    kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=TIMEOUT_SECONDS)
    try:
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection.request("POST", path, body, dict(headers))
        status = connection.getresponse().status
    except (OSError, http.client.HTTPException) as error:
        return f"{type(error).__name__}: {error}"
    finally:
        connection.close()
    return None if 200 <= status < 300 else f"answered {status}"
