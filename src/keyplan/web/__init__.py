"""A REST API made from any design, with its OpenAPI document and a page to look at it. Needs the extra ``web``.

``uvicorn``, or any ASGI server, runs what ``app`` gives. What a pattern asks is explained in
``keyplan.explain``; nothing here knows how a pattern is carried out.
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
    """The ASGI application of an opened design: ``/api/<pattern>``, ``/openapi.json``, and the page at ``/``.

    ``hosts`` are the host names that requests may name (without a port); None takes any. ``policy`` says who may call
    what (``keyplan.web.policy``); without one, everybody may call everything. Shutting the application down closes the
    design.
    """
    from keyplan.web.application import application  # noqa: PLC0415 - its parts are used without the extra too

    return application(design, hosts=hosts, policy=policy)
