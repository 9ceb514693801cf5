"""Logs one line per request, at level DEBUG, in the logger ``keyplan.requests``.

A line has the operation, the tables and indexes, the names of key attributes, the consumed capacity, the latency and
the number of retries. The log never contains values of keys, items, conditions or error messages.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping
from typing import Any

from keyplan.client.call_records import CallRecord

_LOG = logging.getLogger("keyplan.requests")
_NAME = re.compile(r"#?[A-Za-z_][\w.-]*")
_NOT_NAMES = frozenset({"AND", "BETWEEN", "begins_with"})


def is_logged() -> bool:
    return _LOG.isEnabledFor(logging.DEBUG)


def log_request(record: CallRecord) -> None:
    _LOG.debug("%s", _Line(record))


class _Line:
    """A line of the log, which is formatted only if it is written."""

    def __init__(self, record: CallRecord) -> None:
        self.record = record

    def __str__(self) -> str:
        record = self.record
        parts = [f"{record.operation} {' '.join(_places(record.parameters))}".rstrip()]
        for units, what in ((record.read_units, "read"), (record.write_units, "write")):
            if units:
                parts.append(f"{units:g} {what} unit{'' if units == 1 else 's'}")
        parts.append(f"{record.latency_ms:.1f} ms")
        if record.retries:
            parts.append(f"retried {record.retries} time{'s' * (record.retries > 1)}")
        if record.error is not None:
            parts.append(record.error)
        return f"{record.pattern + ': ' if record.pattern else ''}{', '.join(parts)}"


def _places(parameters: Mapping[str, Any]) -> Iterator[str]:
    """The tables and indexes of a request, with the names of key attributes or the number of items."""
    if "TableName" in parameters:
        index = parameters.get("IndexName")
        names = ", ".join(dict.fromkeys(_keys(parameters)))
        yield f"{parameters['TableName']}{f'/{index}' if index else ''}{f' ({names})' if names else ''}"
        return
    counts: dict[str, int] = {}
    for action in parameters.get("TransactItems", ()):
        for inner in action.values():
            counts[inner["TableName"]] = counts.get(inner["TableName"], 0) + 1
    for table, asked in parameters.get("RequestItems", {}).items():
        counts[table] = len(asked["Keys"] if isinstance(asked, Mapping) else asked)
    for table, count in counts.items():
        yield f"{table} × {count}"


def _keys(parameters: Mapping[str, Any]) -> Iterator[str]:
    yield from parameters.get("Key", ())
    condition = parameters.get("KeyConditionExpression", "")
    names = parameters.get("ExpressionAttributeNames", {})
    for match in _NAME.finditer(condition):
        before = condition[match.start() - 1 : match.start()]
        if before != ":" and match[0] not in _NOT_NAMES:  # names after : are placeholders for values
            yield names.get(match[0], match[0])
