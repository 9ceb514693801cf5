"""Repeated form submissions: a double click, or a resubmitted page.

Each page's forms have a random field ``once``. A form that the same visitor resubmits with the same field and content
isn't executed again: it gets the redirect of the first submission. Stored in this process, in bounded memory.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress

from starlette.responses import Response

FORMS_MAX = 5_000
WAIT_SECONDS = 30
"""How long a resubmitted form waits for the first submission."""


class Repeats:
    """Remembers the redirects of forms."""

    def __init__(self, forms_max: int = FORMS_MAX) -> None:
        self._forms_max = forms_max
        self._forms: OrderedDict[bytes, Future[str | None]] = OrderedDict()
        self._lock = threading.Lock()

    def location(
        self, visitor: str, path: str, typed: Mapping[str, str]
    ) -> tuple[str | None, Callable[[Response | None], None]]:
        """The redirect of an earlier submission, or None; and a function that records the response."""
        if not typed.get("once"):
            return None, ignored
        key = hashlib.sha256(json.dumps([visitor, path, sorted(typed.items())]).encode()).digest()
        made: Future[str | None] = Future()
        with self._lock:
            before = self._forms.get(key)
            if before is None:
                self._forms[key] = made
                while len(self._forms) > self._forms_max:
                    self._forms.popitem(last=False)
        if before is not None:
            with suppress(TimeoutError):
                return before.result(WAIT_SECONDS), ignored
            return None, ignored

        def note(response: Response | None) -> None:
            done = response is not None and response.status_code == 303
            place = response.headers.get("location") if response is not None and done else None
            if place is None:  # without a redirect, the form can be resubmitted
                with self._lock:
                    self._forms.pop(key, None)
            made.set_result(place)

        return None, note


def ignored(_response: Response | None) -> None: ...
