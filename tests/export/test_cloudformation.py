"""cfn-lint accepts the CloudFormation templates, YAML and JSON are equal, and the table matches the design."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from cfnlint.api import lint  # type: ignore[import-untyped]
from cfnlint.config import ManualArgs  # type: ignore[import-untyped]

from keyplan.formats.cloudformation import cloudformation_json, cloudformation_yaml
from keyplan.formats.deployment_options import Deployment
from keyplan_systems.blog.design import Blog
from tests.export.designs import NAMES, design

WHOLE = Deployment(
    table_name="the-table",
    billing="provisioned",
    read_units=5,
    write_units=7,
    table_class="infrequent-access",
    deletion_protection=True,
    recovery=True,
    stream="new-and-old",
    tags={"Team": "data + more", "yes": "no", "n": ""},
)


class Loader(yaml.SafeLoader):
    """A YAML loader that supports CloudFormation's short forms."""


def _function(loader: yaml.SafeLoader, suffix: str, node: yaml.Node) -> Any:
    assert isinstance(node, yaml.ScalarNode)
    text = loader.construct_scalar(node)
    if suffix == "Ref":
        return {"Ref": text}
    return {f"Fn::{suffix}": str(text).split(".") if suffix == "GetAtt" else text}


Loader.add_multi_constructor("!", _function)


def loaded(name: str, deployment: Deployment) -> Any:
    return yaml.load(cloudformation_yaml(design(name).compiled, deployment), Loader)


def properties(name: str, deployment: Deployment) -> Any:
    (resource,) = loaded(name, deployment)["Resources"].values()
    return resource["Properties"]


@pytest.mark.parametrize(
    ("name", "deployment"), [*((name, Deployment()) for name in NAMES), (NAMES[0], WHOLE)], ids=[*NAMES, "whole"]
)
def test_cfn_lint_accepts_the_exported_template(name: str, deployment: Deployment) -> None:
    text = cloudformation_yaml(design(name).compiled, deployment)
    result = lint(text, config=ManualArgs(regions=["eu-west-1"]))
    assert [str(value) for value in result] == []


def test_cfn_lint_rejects_an_invalid_template() -> None:
    text = cloudformation_yaml(Blog.compiled, Deployment()).replace("AttributeName: sk", "AttributeName: other", 1)
    assert lint(text, config=ManualArgs(regions=["eu-west-1"]))


@pytest.mark.parametrize("deployment", [Deployment(), WHOLE], ids=["plain", "whole"])
@pytest.mark.parametrize("name", NAMES)
def test_the_yaml_template_equals_the_json_template(name: str, deployment: Deployment) -> None:
    assert loaded(name, deployment) == json.loads(cloudformation_json(design(name).compiled, deployment))


@pytest.mark.parametrize("name", NAMES)
def test_the_table_resource_matches_the_design(name: str) -> None:
    """The properties of the resource are the members of the CreateTable request."""
    compiled = design(name).compiled
    result = properties(name, Deployment(table_name="the-table"))
    expiry = result.pop("TimeToLiveSpecification", None)
    assert result == compiled.table.create_request("the-table")
    wanted = {"AttributeName": compiled.ttl_attribute, "Enabled": True} if compiled.ttl_attribute else None
    assert expiry == wanted


def test_deployment_options_become_properties_of_the_resource() -> None:
    result = properties("Odd", WHOLE)
    units = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 7}
    assert result["BillingMode"] == "PROVISIONED"
    assert result["ProvisionedThroughput"] == units
    assert [index["ProvisionedThroughput"] for index in result["GlobalSecondaryIndexes"]] == [units, units]
    assert result["TableClass"] == "STANDARD_INFREQUENT_ACCESS"
    assert result["DeletionProtectionEnabled"] is True
    assert result["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}
    assert result["StreamSpecification"] == {"StreamViewType": "NEW_AND_OLD_IMAGES"}
    assert result["Tags"] == [{"Key": name, "Value": value} for name, value in WHOLE.tags.items()]
    whole = loaded("Odd", WHOLE)
    assert whole["Resources"]["DynamoDBTable"]["DeletionPolicy"] == "Retain"
    assert "Parameters" not in whole
    assert set(whole["Outputs"]) == {"TableName", "TableArn", "StreamArn"}


def test_comments_in_the_template_describe_keys_and_indexes() -> None:
    text = cloudformation_yaml(design("Library").compiled, Deployment())
    assert "- IndexName: BY_PRICE # priced\n" in text
    assert "- AttributeName: price_pk # KIND#{kind}\n" in text
    assert "- AttributeName: sk # #META, COPY#{number:04d:desc}, {at}#{isbn}, META, CLAIM, {at}#{event_id}\n" in text


DOCUMENT = {
    "USERS_BY_EMAIL": ("user_email_pk",),
    "USERS_BY_USERNAME": ("username",),
    "USERS_BY_STATUS_RATING": ("user_status_pk", "rating_sk"),
    "USERS_BY_STATUS_CREATED_AT_2": ("user_status_pk", "created_at"),
    "POSTS_BY_STATUS_CREATED_AT_2": ("post_status_pk", "created_at"),
    "POSTS_BY_STATUS_RATING": ("post_status_pk", "rating_sk"),
    "POSTS_BY_USER_STATUS_CREATED_AT_2": ("post_user_status_pk", "created_at"),
    "POSTS_BY_SLUG": ("post_slug",),
    "TAGS_BY_TYPE_RATING": ("tag_type_pk", "rating_sk"),
    "TAGS_BY_TYPE_NAME": ("tag_type_pk", "tag_name_sk"),
}
"""The indexes of the document's template. Its table calls created_at created_at_sk, and its indexes have no _2 there;
the design follows the table."""


def test_the_template_of_the_blog_matches_the_published_one() -> None:
    """The name and shape of the resource, the billing mode, and the published indexes that the design has are equal.
    The blog's README explains why other indexes are omitted.
    """
    whole = loaded("Blog", Deployment())
    assert list(whole["Resources"]) == ["DynamoDBTable"]
    resource = whole["Resources"]["DynamoDBTable"]
    assert resource["Type"] == "AWS::DynamoDB::Table"
    result = resource["Properties"]
    assert result["TableName"] == {"Fn::Sub": "${AWS::StackName}-${Stage}"}
    assert result["BillingMode"] == "PAY_PER_REQUEST"
    assert result["KeySchema"] == [
        {"AttributeName": "pk", "KeyType": "HASH"},
        {"AttributeName": "sk", "KeyType": "RANGE"},
    ]
    document = {
        name.removesuffix("_2"): tuple("created_at_sk" if text == "created_at" else text for text in key)
        for name, key in DOCUMENT.items()
    }
    indexes = {
        index["IndexName"]: tuple(part["AttributeName"] for part in index["KeySchema"])
        for index in result["GlobalSecondaryIndexes"]
    }
    shared = indexes.keys() & document.keys()
    assert len(shared) >= 5
    assert {name: indexes[name] for name in shared} == {name: document[name] for name in shared}
