"""OpenTelemetry spans of access patterns and their requests, and OpenTelemetry metrics."""

from __future__ import annotations

from typing import Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from keyplan.errors import ItemNotFound
from keyplan.telemetry import Telemetry
from tests.client.test_hooks import NOTE, Notes


def test_spans_of_requests_are_nested_in_the_span_of_their_call() -> None:
    spans = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    with Notes.open(":memory:") as notes, provider.get_tracer("app").start_as_current_span("page") as page:
        notes.store.watch(Telemetry(tracer_provider=provider))
        notes.of_authors(["ada", "ben"])
        with pytest.raises(ItemNotFound):
            notes.note("nowhere")
    result = {
        (value.name, value.attributes["keyplan.read_units"] if value.attributes else 0): value
        for value in _ended(spans)
    }
    pattern, query = result["Notes.of_authors", 1], result["Query", 0.5]
    assert pattern.parent is not None
    assert query.parent is not None
    assert pattern.parent.span_id == page.get_span_context().span_id
    assert query.parent.span_id == pattern.context.span_id
    assert query.attributes["aws.dynamodb.index_name"] == "BY_AUTHOR"
    assert tuple(query.attributes["aws.dynamodb.table_names"]) == ("notes",)
    assert pattern.start_time <= query.start_time <= query.end_time <= pattern.end_time
    failed = result["Notes.note", 0.5]
    assert (failed.status.status_code, failed.attributes["error.type"]) == (StatusCode.ERROR, "ItemNotFound")


def _ended(spans: InMemorySpanExporter) -> list[Any]:
    return [span for span in spans.get_finished_spans() if span.name != "page"]


def test_opentelemetry_metrics_are_summed_by_access_pattern() -> None:
    reader = InMemoryMetricReader()
    provider = MeterProvider([reader])
    with Notes.open(":memory:") as notes:
        notes.store.watch(Telemetry(meter_provider=provider))
        notes.put(NOTE)
        for _ in range(3):
            notes.note("a")
    data = reader.get_metrics_data()
    assert data is not None
    metrics = {metric.name: metric.data.data_points for metric in data.resource_metrics[0].scope_metrics[0].metrics}
    by_pattern = {(point.attributes or {})["keyplan.pattern"]: point for point in metrics["keyplan.pattern.duration"]}
    assert (by_pattern["Notes.note"].count, by_pattern["Notes.put"].count) == (3, 1)  # type: ignore[union-attr]
    assert {point.value for point in metrics["keyplan.read_units"]} == {1.5}  # type: ignore[union-attr]
    assert {point.value for point in metrics["keyplan.write_units"]} == {2}  # type: ignore[union-attr]
    provider.shutdown()
