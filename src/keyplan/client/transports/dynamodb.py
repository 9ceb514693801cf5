"""A DynamoDB endpoint as a store's backend: its transports, made when they are first used, and closed together."""

from __future__ import annotations

from concurrent.futures import Executor, ThreadPoolExecutor

from keyplan.client.transports.credentials import Source
from keyplan.client.transports.endpoint import Endpoint
from keyplan.client.transports.http_async import AsyncHttp
from keyplan.client.transports.http_sync import Http
from keyplan.client.transports.urls import Location
from keyplan.client.watching import OnCall

__all__ = ["DynamoDB"]


class DynamoDB:
    """Amazon DynamoDB, or another endpoint that speaks its protocol."""

    def __init__(self, location: Location, source: Source | None = None) -> None:
        self.endpoint = Endpoint(location, source)
        self.transport = Http(self.endpoint)
        self._async: AsyncHttp | None = None
        self._ahead: Executor | None = None

    @property
    def async_transport(self) -> AsyncHttp:
        """The transport for asynchronous callers."""
        if self._async is None:
            self._async = AsyncHttp(self.endpoint)
        return self._async

    @property
    def ahead(self) -> Executor:
        """Threads in which iterators fetch their next part; their requests in parallel run in others."""
        if self._ahead is None:
            self._ahead = ThreadPoolExecutor(self.endpoint.settings.parallel, thread_name_prefix="keyplan-ahead")
        return self._ahead

    @property
    def on_call(self) -> OnCall | None:
        """The hook that is told of every call."""
        return self.endpoint.on_call

    @on_call.setter
    def on_call(self, hook: OnCall | None) -> None:
        self.endpoint.on_call = hook

    def close(self) -> None:
        """Close every connection, and end the threads."""
        if self._ahead is not None:
            self._ahead.shutdown(cancel_futures=True)
        if self._async is not None:
            self._async.close()
        self.transport.close()

    async def aclose(self) -> None:
        """The same from asynchronous code, which need not wait for threads."""
        if self._ahead is not None:
            self._ahead.shutdown(wait=False, cancel_futures=True)
        if self._async is not None:
            await self._async.aclose()
        self.transport.close()
