"""A transport over httpx, which shows the code that an adapter to another HTTP client requires."""

from __future__ import annotations

import time

import httpx

from keyplan.client.transports.http1 import Reply
from keyplan.client.transports.http_sync import exchange_failed
from keyplan.client.transports.signing import Signed
from keyplan.client.transports.urls import Location


class OverHttpx:
    """A transport that sends requests with httpx's synchronous and asynchronous clients."""

    def __init__(self, location: Location) -> None:
        self.location = location
        self.client = httpx.Client()
        self.async_client = httpx.AsyncClient()

    def exchange(self, request: Signed, deadline: float) -> Reply:
        try:
            return _reply(self.client.send(self._request(request, deadline)))
        except httpx.TransportError as error:
            raise exchange_failed(self.location, OSError(str(error))) from error

    async def async_exchange(self, request: Signed, deadline: float) -> Reply:
        try:
            return _reply(await self.async_client.send(self._request(request, deadline)))
        except httpx.TransportError as error:
            raise exchange_failed(self.location, OSError(str(error))) from error

    def _request(self, request: Signed, deadline: float) -> httpx.Request:
        seconds = min(self.location.settings.answer_seconds, deadline - time.monotonic())
        return httpx.Request(
            "POST",
            self.location.endpoint,
            headers=request.headers,
            content=request.body,
            extensions={"timeout": httpx.Timeout(seconds).as_dict()},
        )


def _reply(answer: httpx.Response) -> Reply:
    headers = {name.lower(): value for name, value in answer.headers.raw}
    headers.pop(b"content-encoding", None)  # httpx has decompressed it
    return Reply(answer.status_code, headers, answer.content, keep=True)
