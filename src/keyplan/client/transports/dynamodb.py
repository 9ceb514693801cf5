"""A DynamoDB endpoint as a store's backend. The transports are created on first use, and are closed together."""

from __future__ import annotations

import threading

from keyplan.client.call_records import OnCall
from keyplan.client.transports.credentials import Source
from keyplan.client.transports.endpoint import AsyncExchange, Endpoint, Exchange
from keyplan.client.transports.http_async import AsyncHttp
from keyplan.client.transports.http_sync import Http
from keyplan.client.transports.urls import Location
from keyplan.client.transports.workers import Workers


class DynamoDB:
    """Amazon DynamoDB, or another endpoint with DynamoDB's protocol."""

    def __init__(
        self,
        location: Location,
        source: Source | None = None,
        *,
        exchange: Exchange | None = None,
        async_exchange: AsyncExchange | None = None,
    ) -> None:
        self.endpoint = Endpoint(location, source)
        self.transport = Http(self.endpoint, exchange)
        self._async_exchange = async_exchange
        self.ahead = Workers(self.endpoint.settings.parallel, "keyplan-ahead")
        """Threads in which iterators prefetch. Parallel requests run in other threads."""
        self._async: AsyncHttp | None = None
        self._making = threading.Lock()
        self._closed = False

    @property
    def async_transport(self) -> AsyncHttp:
        if self._async is None:
            with self._making:
                self._async = self._async or self._make_async()
        return self._async

    def _make_async(self) -> AsyncHttp:
        made = AsyncHttp(self.endpoint, self._async_exchange)
        if self._closed:
            made.close()  # so that calls of the closed store raise an error
        return made

    @property
    def on_call(self) -> OnCall | None:
        return self.endpoint.on_call

    @on_call.setter
    def on_call(self, hook: OnCall | None) -> None:
        self.endpoint.on_call = hook

    def close(self) -> None:
        """Close all connections and stop the threads."""
        self._closed = True
        self.ahead.shutdown(cancel_futures=True)
        if self._async is not None:
            self._async.close()
        self.transport.close()

    async def aclose(self) -> None:
        """Close all connections without waiting for threads."""
        self._closed = True
        self.ahead.shutdown(wait=False, cancel_futures=True)
        if self._async is not None:
            await self._async.aclose()
        self.transport.close(wait=False)
