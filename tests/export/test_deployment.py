"""Validation of deployment options, with all errors reported together."""

from __future__ import annotations

import pytest

from keyplan.errors import RequestError
from keyplan.formats.deployment_options import Deployment, tags_of
from keyplan.formats.iam import Place


def error_details_of(error: pytest.ExceptionInfo[RequestError]) -> list[str]:
    return [f"{fault.place}: {fault.message}" for fault in error.value.errors]


def test_all_invalid_deployment_options_are_reported() -> None:
    tags = {"aws:x": "1", "": "2", "a": "b" * 257, "semi;colon": "x"}
    with pytest.raises(RequestError) as error:
        Deployment(table_name="a b", billing="provisioned", write_units=0, tags=tags)
    assert error_details_of(error) == [
        "table name: invalid table name 'a b'",
        "read units: required for provisioned billing",
        "write units: 0 is less than 1",
        "tag 'aws:x': names that begin with aws: are reserved",
        "tag '': names have 1 to 128 characters, and values at most 256",
        "tag 'a': names have 1 to 128 characters, and values at most 256",
        "tag 'semi;colon': only letters, digits, spaces and _ . : / = + - @ are allowed",
    ]


def test_capacity_units_are_rejected_with_on_demand_billing() -> None:
    with pytest.raises(RequestError) as error:
        Deployment(read_units=5)
    assert error_details_of(error) == ["read units: not allowed with on-demand billing"]


def test_a_deployment_with_more_than_50_tags_is_rejected() -> None:
    Deployment(tags={str(number): "" for number in range(50)})
    with pytest.raises(RequestError, match="at most 50 tags, not 51"):
        Deployment(tags={str(number): "" for number in range(51)})


def test_tags_are_parsed_from_name_value_pairs() -> None:
    assert tags_of(["a=b", "c=", "d=e=f"]) == {"a": "b", "c": "", "d": "e=f"}
    with pytest.raises(RequestError) as error:
        tags_of(["a", "b=1", "b=2"])
    assert error_details_of(error) == ["tag 'a': isn't name=value", "tag 'b': duplicate"]


def test_regions_and_accounts_are_validated() -> None:
    assert Place().arn("t") == "arn:aws:dynamodb:*:*:table/t"
    assert Place(region="cn-north-1").arn("t") == "arn:aws-cn:dynamodb:cn-north-1:*:table/t"
    assert Place(region="us-gov-west-1", account="123456789012").arn("t") == (
        "arn:aws-us-gov:dynamodb:us-gov-west-1:123456789012:table/t"
    )
    with pytest.raises(RequestError) as error:
        Place(region="eu-west-11", account="12")
    assert error_details_of(error) == ["region: unknown AWS region 'eu-west-11'", "account: invalid account '12'"]
