"""An API beside a site: one application, of which the API has its own addresses, and the site all others."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from threading import Event

from starlette.applications import Starlette
from starlette.routing import Mount, Route, Router
from starlette.types import Receive, Scope, Send

__all__ = ["Beside"]


class Beside:
    """Two applications as one. The API keeps the addresses that it has, but for ``/``; the site has all others.

    The API begins first and ends last, since it closes the design that the site uses. ``site.state.beside`` is this
    object, so that what a site does in the background can wait until it ``is_idle``: no request is being answered.
    """

    def __init__(self, api: Starlette, site: Starlette) -> None:
        self.api = api
        self.site = site
        paths = [route.path for route in api.routes if isinstance(route, Route) and route.path != "/"]
        self._places = frozenset(path for path in paths if "{" not in path)
        self._folders = tuple(path.partition("{")[0] for path in paths if "{" in path)
        self.is_idle = Event()
        self.is_idle.set()
        self._in_flight = 0
        site.state.beside = self
        self._router = Router(routes=[Mount("/", self._either)], lifespan=self._lifespan)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or begin and end."""
        if scope["type"] == "lifespan":
            await self._router(scope, receive, send)
        else:
            await self._either(scope, receive, send)

    async def _either(self, scope: Scope, receive: Receive, send: Send) -> None:
        path: str = scope.get("path", "")
        is_api = path in self._places or path.startswith(self._folders)
        self._in_flight += 1
        self.is_idle.clear()
        try:
            await (self.api if is_api else self.site)(scope, receive, send)
        finally:
            self._in_flight -= 1
            if self._in_flight == 0:
                self.is_idle.set()

    @asynccontextmanager
    async def _lifespan(self, _application: Starlette) -> AsyncGenerator[None]:
        async with AsyncExitStack() as stack:
            for starlette in (self.api, self.site):
                await stack.enter_async_context(starlette.router.lifespan_context(starlette))
            yield
