"""CreateGlobalTable."""

from __future__ import annotations

from keyplan.engine.database import Database
from keyplan.engine.globaltables import VERSION_GONE
from keyplan.engine.requests import Answer, Request
from keyplan.wire.errors import one_or_more


def create_global_table(database: Database, request: Request) -> Answer:  # noqa: ARG001 - the service makes none either
    """Refuse: the service makes no global tables of the version of 2017 any more."""
    raise one_or_more(VERSION_GONE)
