"""AWS's regions and partitions, compared with those of botocore."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import botocore  # type: ignore[import-untyped]
import pytest

from keyplan.client.transports.urls import parse_url
from keyplan.dynamodb.regions import PARTITIONS, REGIONS, near_region, partition_of

KNOWN: list[dict[str, Any]] = json.loads((Path(botocore.__file__).parent / "data" / "partitions.json").read_text())[
    "partitions"
]


@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known["id"])
def test_partitions_contain_all_regions_of_botocore(known: dict[str, Any]) -> None:
    regions = [region for region in known["regions"] if re.fullmatch(r"[a-z-]+-\d+", region)]
    assert regions
    for region in regions:
        assert region in REGIONS
        partition = partition_of(region)
        assert (partition.name, partition.domain) == (known["id"], known["outputs"]["dnsSuffix"])
        assert parse_url(f"dynamodb://{region}/orders", "orders", {}).host == f"dynamodb.{region}.{partition.domain}"


def test_every_partition_of_botocore_is_listed() -> None:
    assert {known["id"] for known in KNOWN} == {partition.name for partition in PARTITIONS}


def test_every_region_matches_the_pattern_of_its_partition() -> None:
    patterns = {known["id"]: known["regionRegex"] for known in KNOWN}
    for region in REGIONS:
        assert re.match(patterns[partition_of(region).name], region), region


@pytest.mark.parametrize(
    ("text", "region"), [("frankfurt", "eu-central-1"), ("eu_west_1", "eu-west-1"), ("us-east-1a", "us-east-1")]
)
def test_regions_are_recognized_in_common_spellings(text: str, region: str) -> None:
    assert near_region(text) == region


def test_the_region_of_an_availability_zone_is_recognized() -> None:
    for region in REGIONS:
        for zone in "abcdef":
            assert near_region(region + zone) == region


@pytest.mark.parametrize(
    ("text", "region"),
    [
        ("nowhere at all", None),
        ("", None),
        ("Londn", "eu-west-2"),
        ("the region of Tokyo", "ap-northeast-1"),
        ("São Paulo", "sa-east-1"),
        ("Zürich", "eu-central-2"),
        ("  EU-WEST-3 ", "eu-west-3"),
        ("eu-wst-3", "eu-west-3"),
    ],
)
def test_the_most_similar_region_is_suggested(text: str, region: str | None) -> None:
    assert near_region(text) == region
