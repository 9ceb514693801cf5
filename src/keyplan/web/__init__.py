"""A REST API for a design, with an OpenAPI document and a page with forms. Requires the extra ``web``. Run ``app`` with
uvicorn or another ASGI server.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from keyplan.session.design import Design
    from keyplan.web.policy import Policy

__all__ = ["app"]


def app(design: Design, *, hosts: Sequence[str] | None = None, policy: Policy | None = None) -> Starlette:
    """The ASGI application of an opened design: ``/api/<pattern>``, ``/openapi.json``, and the page at ``/``. ``hosts``
    are the allowed host names of requests (without a port); None allows all. ``policy`` authorizes calls
    (``keyplan.web.policy``); without it, every client may call every pattern. Shutting down the application closes the
    design.
    """
    from keyplan.web.application import application  # noqa: PLC0415 - the import of keyplan.web needs no extra

    return application(design, hosts=hosts, policy=policy)
