"""A design's table as requests to DynamoDB's API, in the order to send them: CreateTable, then updates.

Each is input for the AWS CLI's ``--cli-input-json``.
"""

from __future__ import annotations

from typing import Any

from keyplan.formats.deployment_options import Deployment
from keyplan.model.compiled.compiled_design import CompiledDesign

__all__ = ["requests"]


def requests(design: CompiledDesign, deployment: Deployment) -> dict[str, dict[str, Any]]:
    """The requests by operation. Send the later ones when the table is ACTIVE."""
    create = deployment.members(design)
    name = create["TableName"]
    result = {"CreateTable": create}
    if design.ttl_attribute is not None:
        setting = {"Enabled": True, "AttributeName": design.ttl_attribute}
        result["UpdateTimeToLive"] = {"TableName": name, "TimeToLiveSpecification": setting}
    if deployment.recovery:
        recovery = {"PointInTimeRecoveryEnabled": True}
        result["UpdateContinuousBackups"] = {"TableName": name, "PointInTimeRecoverySpecification": recovery}
    return result
