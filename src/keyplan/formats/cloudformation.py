"""A design's table as a CloudFormation template, in YAML with comments or in JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keyplan.formats.deployment_options import Deployment
from keyplan.formats.yaml_json import Noted, json_tree, noted, yaml_text
from keyplan.model.compiled.compiled_design import CompiledDesign, key_notes, patterns_of_index

RESOURCE = "DynamoDBTable"
DESCRIPTION_BYTES_MAX = 1024


def template(design: CompiledDesign, deployment: Deployment) -> dict[str, Any]:
    """The template as a tree. Without a table name in ``deployment``, the name is ``<stack>-<stage>``."""
    resource: dict[str, Any] = {"Type": "AWS::DynamoDB::Table"}
    if deployment.deletion_protection:
        resource |= {"DeletionPolicy": "Retain", "UpdateReplacePolicy": "Retain"}
    resource["Properties"] = _properties(design, deployment)
    result: dict[str, Any] = {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Description": _description(design),
    }
    if deployment.table_name is None:
        stage = {"Type": "String", "Default": "dev", "AllowedPattern": "[A-Za-z0-9_.-]+"}
        result["Parameters"] = {"Stage": {**stage, "Description": "Suffix of the table name, such as dev or prod"}}
    result["Resources"] = {RESOURCE: resource}
    result["Outputs"] = {
        "TableName": {"Value": {"Ref": RESOURCE}},
        "TableArn": {"Value": {"Fn::GetAtt": f"{RESOURCE}.Arn"}},
    }
    if deployment.stream is not None:
        result["Outputs"]["StreamArn"] = {"Value": {"Fn::GetAtt": f"{RESOURCE}.StreamArn"}}
    return result


def cloudformation_yaml(design: CompiledDesign, deployment: Deployment) -> str:
    return yaml_text(template(design, deployment))


def cloudformation_json(design: CompiledDesign, deployment: Deployment) -> str:
    """The template in JSON, without comments and with the full names of functions."""
    result = template(design, deployment)
    for output in result["Outputs"].values():
        if "Fn::GetAtt" in output["Value"]:
            output["Value"] = {"Fn::GetAtt": output["Value"]["Fn::GetAtt"].split(".")}
    return json_tree(result)


def _description(design: CompiledDesign) -> str:
    text = design.doc.partition("\n\n")[0].replace("\n", " ") or f"The table of {design.name}."
    return text.encode()[:DESCRIPTION_BYTES_MAX].decode(errors="ignore")


def _properties(design: CompiledDesign, deployment: Deployment) -> dict[str, Any]:
    members = deployment.members(design)
    if deployment.table_name is None:
        members["TableName"] = {"Fn::Sub": "${AWS::StackName}-${Stage}"}
    first = ("TableName", "BillingMode", "AttributeDefinitions", "KeySchema")
    result: dict[str, Any] = {name: members[name] for name in first} | members
    if deployment.stream is not None:
        del result["StreamSpecification"]["StreamEnabled"]  # CloudFormation has no property StreamEnabled
    _annotate(result, design)
    if design.ttl_attribute is not None:
        result["TimeToLiveSpecification"] = {"AttributeName": design.ttl_attribute, "Enabled": True}
    if deployment.recovery:
        result["PointInTimeRecoverySpecification"] = {"PointInTimeRecoveryEnabled": True}
    return result


def _annotate(properties: dict[str, Any], design: CompiledDesign) -> None:
    """Add comments: the content of each key attribute, and the access patterns of each index."""
    patterns = patterns_of_index(design)
    _note_keys(properties["KeySchema"], key_notes(design, None))
    for index in (*properties.get("GlobalSecondaryIndexes", ()), *properties.get("LocalSecondaryIndexes", ())):
        name = index["IndexName"]
        _note_keys(index["KeySchema"], key_notes(design, name))
        index["IndexName"] = Noted(name, ", ".join(patterns[name]) or "no pattern")


def _note_keys(schema: list[dict[str, Any]], notes: Mapping[str, str]) -> None:
    for element in schema:
        element["AttributeName"] = noted(element["AttributeName"], notes)
