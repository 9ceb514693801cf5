"""Exports spans of pattern calls, with child spans for their requests, and metrics by pattern to OpenTelemetry.

``blog.store.watch(Telemetry())`` enables the export, which requires the extra ``otel``. ``keyplan.client.call_records``
defines the records; the application configures exporters with the SDK.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from opentelemetry import metrics, trace
from opentelemetry.trace import SpanKind, StatusCode

from keyplan._version import __version__
from keyplan.client.call_records import CallRecord, PatternRecord

if TYPE_CHECKING:
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import TracerProvider

__all__ = ["Telemetry"]

_SYSTEM = "aws.dynamodb"


class Telemetry:
    """Exports a store's calls to OpenTelemetry: ``blog.store.watch(Telemetry())``.

    Each call has a span named after the pattern (``Blog.latest_posts``), and each request has a span (``Query``), with
    the attributes of OpenTelemetry's semantic conventions for databases and DynamoDB. The metrics are
    ``db.client.operation.duration`` (s) by operation; ``keyplan.pattern.duration`` (s), ``keyplan.requests``,
    ``keyplan.retries``, ``keyplan.read_units`` and ``keyplan.write_units`` by pattern. The default providers are
    OpenTelemetry's global ones.
    """

    def __init__(
        self, *, tracer_provider: TracerProvider | None = None, meter_provider: MeterProvider | None = None
    ) -> None:
        self._tracer = trace.get_tracer("keyplan", __version__, tracer_provider)
        meter = metrics.get_meter("keyplan", __version__, meter_provider)
        self._operations = meter.create_histogram(
            "db.client.operation.duration", "s", "Duration of one request, with its retries"
        )
        self._patterns = meter.create_histogram(
            "keyplan.pattern.duration", "s", "Duration of a call to an access pattern or a CRUD method"
        )
        self._requests = meter.create_counter("keyplan.requests", "{request}", "Requests, without retries")
        self._retries = meter.create_counter("keyplan.retries", "{request}", "Retried requests")
        self._read_units = meter.create_counter("keyplan.read_units", "{unit}", "Read units consumed")
        self._write_units = meter.create_counter("keyplan.write_units", "{unit}", "Write units consumed")

    def __call__(self, record: PatternRecord) -> None:
        """Export the spans and metrics of one call, reported by a store."""
        self._spans(record)
        labels: dict[str, Any] = {"keyplan.pattern": record.pattern}
        failed = {} if record.error is None else {"error.type": record.error}
        self._patterns.record(record.latency_ms / 1000, {**labels, **failed})
        for counter, amount in (
            (self._requests, record.requests),
            (self._retries, record.retries),
            (self._read_units, record.read_units),
            (self._write_units, record.write_units),
        ):
            if amount:
                counter.add(amount, labels)
        for call in record.calls:
            self._operations.record(call.latency_ms / 1000, _attributes(call))

    def _spans(self, record: PatternRecord) -> None:
        """The spans of a finished call, as children of the current span."""
        attributes: dict[str, Any] = {
            "db.system.name": _SYSTEM,
            "db.operation.name": record.pattern,
            "keyplan.read_units": record.read_units,
            "keyplan.write_units": record.write_units,
        }
        span = self._tracer.start_span(record.pattern, start_time=record.started_ns, attributes=attributes)
        if record.error is not None:
            span.set_attribute("error.type", record.error)
            span.set_status(StatusCode.ERROR, record.error)
        within = trace.set_span_in_context(span)
        end_ns = record.started_ns + int(record.latency_ms * 1e6)
        for call in record.calls:
            self._span(call, within)
            end_ns = max(end_ns, _end_ns(call))
        span.end(end_ns)

    def _span(self, call: CallRecord, within: Any) -> None:
        attributes: dict[str, Any] = {
            **_attributes(call),
            "aws.dynamodb.table_names": _tables(call),
            "keyplan.read_units": call.read_units,
            "keyplan.write_units": call.write_units,
            "keyplan.retries": call.retries,
            "keyplan.request_bytes": call.request_bytes,
            "keyplan.response_bytes": call.response_bytes,
        }
        index = call.parameters.get("IndexName")
        if index is not None:
            attributes["aws.dynamodb.index_name"] = index
        span = self._tracer.start_span(call.operation, within, SpanKind.CLIENT, attributes, start_time=call.started_ns)
        if call.error is not None:
            span.set_status(StatusCode.ERROR, call.error)
        span.end(_end_ns(call))


def _attributes(call: CallRecord) -> dict[str, Any]:
    result: dict[str, Any] = {"db.system.name": _SYSTEM, "db.operation.name": call.operation}
    if call.error is not None:
        result["error.type"] = call.error
    return result


def _end_ns(call: CallRecord) -> int:
    return call.started_ns + int(call.latency_ms * 1e6)


def _tables(call: CallRecord) -> list[str]:
    parameters = call.parameters
    if "TableName" in parameters:
        return [parameters["TableName"]]
    if "RequestItems" in parameters:
        return sorted(parameters["RequestItems"])
    actions = parameters.get("TransactItems", ())
    return sorted({next(iter(action.values()))["TableName"] for action in actions})
