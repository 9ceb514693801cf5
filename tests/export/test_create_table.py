"""The exported CreateTable requests are valid in botocore's model of the API, and create the design's table."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import botocore.session  # type: ignore[import-untyped]
import pytest
from botocore.validate import validate_parameters  # type: ignore[import-untyped]

from keyplan.client.transports.embedded import Embedded
from keyplan.formats.deployment_options import Deployment
from keyplan.formats.registry import requests
from keyplan.store import Engine
from tests.export.designs import NAMES, design
from tests.export.test_cloudformation import WHOLE
from tests.studio.school import School


@cache
def service() -> Any:
    return botocore.session.Session().get_service_model("dynamodb")


@pytest.mark.parametrize("deployment", [Deployment(), WHOLE], ids=["plain", "whole"])
@pytest.mark.parametrize("name", NAMES)
def test_the_exported_requests_are_valid(name: str, deployment: Deployment) -> None:
    result = requests(design(name).compiled, deployment)
    assert next(iter(result)) == "CreateTable"
    for operation, request in result.items():
        validate_parameters(request, service().operation_model(operation).input_shape)


@pytest.mark.parametrize("name", NAMES)
def test_the_exported_requests_create_the_table_of_the_design(name: str, tmp_path: Path) -> None:
    """Opening the design compares the table with the design."""
    where = str(tmp_path / "made.db")
    cls = design(name)
    result = requests(cls.compiled, Deployment())
    with Engine.open(where) as engine:
        transport = Embedded(engine.call)
        for operation, request in result.items():
            transport.call(operation, request)
    with cls.open(where, create=False) as opened:
        expiry = opened.store.transport.call("DescribeTimeToLive", {"TableName": cls.compiled.table.name})
    assert expiry["TimeToLiveDescription"].get("AttributeName") == cls.compiled.ttl_attribute


def test_exported_update_requests_enable_ttl_and_backups() -> None:
    assert list(requests(design("Odd").compiled, WHOLE)) == [
        "CreateTable",
        "UpdateTimeToLive",
        "UpdateContinuousBackups",
    ]
    assert list(requests(School.compiled, Deployment())) == ["CreateTable"]
