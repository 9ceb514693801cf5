"""Store URLs: parsing, environment variables, and errors."""

from __future__ import annotations

import pytest

from keyplan.client.transports.urls import Settings, is_url, parse_url
from keyplan.errors import StoreError


@pytest.mark.parametrize(
    ("url", "endpoint", "region", "table"),
    [
        ("dynamodb://eu-west-1/cms-prod", "https://dynamodb.eu-west-1.amazonaws.com", "eu-west-1", "cms-prod"),
        ("dynamodb://eu-west-1", "https://dynamodb.eu-west-1.amazonaws.com", "eu-west-1", "own"),
        ("dynamodb://cn-north-1/cms", "https://dynamodb.cn-north-1.amazonaws.com.cn", "cn-north-1", "cms"),
        ("dynamodb://us-gov-west-1/cms", "https://dynamodb.us-gov-west-1.amazonaws.com", "us-gov-west-1", "cms"),
        ("dynamodb+http://localhost:8000/cms", "http://localhost:8000", "us-east-1", "cms"),
        ("dynamodb+http://[::1]:8000/cms", "http://[::1]:8000", "us-east-1", "cms"),
        ("dynamodb+https://db.example/cms", "https://db.example", "us-east-1", "cms"),
        (
            "dynamodb+https://dynamodb.eu-west-1.amazonaws.com/cms",
            "https://dynamodb.eu-west-1.amazonaws.com",
            "eu-west-1",
            "cms",
        ),
        (
            "dynamodb+https://dynamodb-fips.us-east-2.amazonaws.com/cms",
            "https://dynamodb-fips.us-east-2.amazonaws.com",
            "us-east-2",
            "cms",
        ),
        ("dynamodb+http://localhost:8000/cms?region=eu-north-1", "http://localhost:8000", "eu-north-1", "cms"),
    ],
)
def test_store_urls_are_parsed(url: str, endpoint: str, region: str, table: str) -> None:
    """If the URL contains no table name, the name in the design is used."""
    assert is_url(url)
    location = parse_url(url, "own", {})
    assert (location.endpoint, location.region, location.table) == (endpoint, region, table)


def test_region_of_a_store_url_comes_from_environment_variables() -> None:
    """A region in the URL takes precedence over the variables."""
    environment = {"AWS_REGION": "eu-south-1", "AWS_DEFAULT_REGION": "eu-south-2"}
    assert parse_url("dynamodb:///cms", "own", environment).region == "eu-south-1"
    assert parse_url("dynamodb:///cms", "own", {"AWS_DEFAULT_REGION": "eu-south-2"}).region == "eu-south-2"
    assert parse_url("dynamodb://eu-west-1/cms", "own", environment).region == "eu-west-1"
    assert parse_url("dynamodb:///cms", "own", {}).region == ""


def test_endpoint_environment_variable_replaces_the_aws_endpoint() -> None:
    environment = {"AWS_ENDPOINT_URL_DYNAMODB": "http://localhost:4566", "AWS_ENDPOINT_URL": "http://other"}
    location = parse_url("dynamodb://eu-west-1/cms", "own", environment)
    assert (location.endpoint, location.region) == ("http://localhost:4566", "eu-west-1")
    ignoring = {**environment, "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "true"}
    assert parse_url("dynamodb://eu-west-1/cms", "own", ignoring).host == "dynamodb.eu-west-1.amazonaws.com"
    with pytest.raises(StoreError, match="isn't an http or https URL"):
        parse_url("dynamodb://eu-west-1/cms", "own", {"AWS_ENDPOINT_URL": "localhost:4566"})


def test_query_parameters_of_a_store_url_become_settings() -> None:
    text = "dynamodb://eu-west-1/cms?attempts=8&total_seconds=2.5&gzip=true&profile=prod&connections=1"
    location = parse_url(text, "own", {})
    assert location.profile == "prod"
    assert location.settings == Settings(attempts=8, total_seconds=2.5, gzip=True, connections=1)
    assert parse_url("dynamodb://eu-west-1/cms", "own", {}).settings == Settings()


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("dynamodb://eu-west-1/cms?atempts=8", "did you mean attempts?"),
        ("dynamodb://eu-west-1/cms?attempts=many", "attempts=many isn't a valid int"),
        ("dynamodb://eu-west-1/cms?attempts=0", "must be positive and less than 1,000,000"),
        ("dynamodb://eu-west-1/cms?total_seconds=nan", "must be positive"),
        ("dynamodb://eu-west-1/cms?gzip=maybe", "gzip=maybe isn't a valid bool"),
        ("dynamodb://eu_west/cms", "invalid region 'eu_west'"),
        ("dynamodb://localhost:8000/cms", "a port isn't allowed after a region"),
        ("dynamodb://eu-west-1/c", "invalid table name"),
        ("dynamodb://eu-west-1/cms/other", "invalid table name"),
        ("dynamodb+http:///cms", "the URL has no host"),
        ("dynamodb+htp://localhost:8000/cms", "isn't a supported URL scheme"),
        ("http://localhost:8000/cms", "isn't a supported URL scheme"),
        ("dynamodb+http://localhost:port/cms", "Port could not be cast"),
        ("dynamodb+http://key:secret@localhost/cms", "the URL can't contain a user"),
    ],
)
def test_invalid_store_urls_are_rejected_with_a_hint(url: str, message: str) -> None:
    with pytest.raises(StoreError, match=message.replace("?", r"\?")) as raised:
        parse_url(url, "own", {})
    assert raised.value.hint


def test_file_names_are_not_parsed_as_store_urls() -> None:
    assert not any(is_url(text) for text in ("cms.db", ":memory:", "dynamodb", "dynamodb.db", "/tmp/x:y"))
