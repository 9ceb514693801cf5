"""AWS regions: codes, location names and partitions."""

from __future__ import annotations

import difflib
from typing import NamedTuple

LOCAL_REGION = "us-east-1"
"""The region that requests to non-AWS endpoints are signed for by default. Such endpoints ignore it."""


class Partition(NamedTuple):
    """An AWS partition: its name in ARNs, the prefix of its regions and the domain of its endpoints."""

    name: str
    begins: str
    domain: str


PARTITIONS = (
    Partition("aws-cn", "cn-", "amazonaws.com.cn"),
    Partition("aws-us-gov", "us-gov-", "amazonaws.com"),
    Partition("aws-eusc", "eusc-", "amazonaws.eu"),
    Partition("aws-iso", "us-iso-", "c2s.ic.gov"),
    Partition("aws-iso-b", "us-isob-", "sc2s.sgov.gov"),
    Partition("aws-iso-e", "eu-isoe-", "cloud.adc-e.uk"),
    Partition("aws-iso-f", "us-isof-", "csp.hci.ic.gov"),
    Partition("aws", "", "amazonaws.com"),
)
"""All partitions; the default is last. Source: partitions.json of botocore 1.44."""

_REGIONS = """
af-south-1 ap-east-1 ap-east-2 ap-northeast-1 ap-northeast-2 ap-northeast-3 ap-south-1 ap-south-2 ap-southeast-1
ap-southeast-2 ap-southeast-3 ap-southeast-4 ap-southeast-5 ap-southeast-6 ap-southeast-7 ca-central-1 ca-west-1
cn-north-1 cn-northwest-1 eu-central-1 eu-central-2 eu-isoe-west-1 eu-north-1 eu-south-1 eu-south-2 eu-west-1
eu-west-2 eu-west-3 eusc-de-east-1 il-central-1 me-central-1 me-south-1 me-west-1 mx-central-1 sa-east-1 sa-west-1
us-east-1 us-east-2 us-gov-east-1 us-gov-west-1 us-iso-east-1 us-iso-west-1 us-isob-east-1 us-isob-west-1
us-isof-east-1 us-isof-south-1 us-west-1 us-west-2
"""
REGIONS = frozenset(_REGIONS.split())
"""All AWS regions."""

_PLACES = """
af-south-1 Cape Town; ap-east-1 Hong Kong; ap-east-2 Taipei; ap-northeast-1 Tokyo; ap-northeast-2 Seoul;
ap-northeast-3 Osaka; ap-south-1 Mumbai; ap-south-2 Hyderabad; ap-southeast-1 Singapore; ap-southeast-2 Sydney;
ap-southeast-3 Jakarta; ap-southeast-4 Melbourne; ap-southeast-5 Malaysia; ap-southeast-6 New Zealand;
ap-southeast-7 Thailand; ca-central-1 Canada; ca-west-1 Calgary; cn-north-1 Beijing; cn-northwest-1 Ningxia;
eu-central-1 Frankfurt; eu-central-2 Zurich; eu-north-1 Stockholm; eu-south-1 Milan; eu-south-2 Spain;
eu-west-1 Ireland; eu-west-2 London; eu-west-3 Paris; il-central-1 Tel Aviv; me-central-1 UAE; me-south-1 Bahrain;
mx-central-1 Mexico; sa-east-1 Sao Paulo; us-east-1 Virginia; us-east-2 Ohio; us-west-1 California; us-west-2 Oregon
"""
_BY_PLACE = {place.lower(): name for name, _, place in (part.strip().partition(" ") for part in _PLACES.split(";"))}
"""Regions by the console's location name. Source: "Regions and Availability Zones" in the AWS general reference."""


def partition_of(region: str) -> Partition:
    """The partition that a region belongs to; the region can be unknown."""
    return next(partition for partition in PARTITIONS if region.startswith(partition.begins))


def near_region(text: str) -> str | None:
    """The region that a misspelled code or a location name most likely means."""
    plain = text.lower().replace("_", "-").replace("ã", "a").replace("ü", "u").strip()
    for place, name in _BY_PLACE.items():
        if place in plain:
            return name
    near = difflib.get_close_matches(plain, sorted(REGIONS))
    if near:
        return near[0]
    places = difflib.get_close_matches(plain, sorted(_BY_PLACE), cutoff=0.75)
    return _BY_PLACE[places[0]] if places else None
