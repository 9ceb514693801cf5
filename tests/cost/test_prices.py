"""Price lists: built-in, custom, and updated from an offer file of AWS."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from keyplan.analysis.cost.bills import Payer
from keyplan.analysis.cost.cost_wording import bill_usd, without
from keyplan.analysis.cost.estimate import estimate
from keyplan.analysis.cost.pricelist import FOLDER, METERS, price_list, priced_regions, read_price_list
from keyplan.analysis.cost.update_prices import main, price_lists
from keyplan.analysis.traffic.traffic_file import read_traffic, traffic_from
from keyplan.dynamodb.regions import near_region
from keyplan.errors import PriceError
from keyplan_systems.cms import Cms
from tests.cli.support import run


@pytest.mark.parametrize("region", priced_regions())
def test_each_built_in_price_list_is_valid(region: str) -> None:
    result = price_list(region)
    assert result.region == region
    assert result.as_of
    assert "price list" in result.source.lower()
    assert set(result.usd) <= set(METERS)


def test_us_east_1_has_the_published_prices() -> None:
    """The expected prices are those of September 2026."""
    prices = price_list("us-east-1").usd
    assert prices["ReadRequestUnits"] * 1e6 == pytest.approx(0.125)
    assert prices["WriteRequestUnits"] * 1e6 == pytest.approx(0.625)
    assert prices["TimedStorage-ByteHrs"] == 0.25
    assert prices["IA-WriteRequestUnits"] * 1e6 == pytest.approx(0.78)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("us-east-11", "us-east-1"),
        ("us_east_1", "us-east-1"),
        ("eu-wst-1", "eu-west-1"),
        ("eu-west-1b", "eu-west-1"),
        ("Ireland", "eu-west-1"),
        ("EU (Frankfurt)", "eu-central-1"),
        ("Oregn", "us-west-2"),
        ("São Paulo", "sa-east-1"),
        ("moon", None),
        ("../prices/us-east-1", "us-east-1"),
    ],
)
def test_an_unknown_region_is_rejected_with_a_suggestion(written: str, meant: str | None) -> None:
    with pytest.raises(PriceError, match="AWS has no region") as error:
        price_list(written)
    assert near_region(written) == meant
    assert (f"did you mean {meant}?" in str(error.value)) == (meant is not None)


def test_the_report_for_a_region_without_a_price_list_says_how_to_get_one() -> None:
    result = price_list("eu-central-1")
    assert dict(result.usd) == {}
    assert result.price("ReadRequestUnits") is None
    assert "keyplan.analysis.cost.update_prices" in result.source
    assert result.said == "eu-central-1 (no prices available)"


def test_a_bill_with_a_missing_price_shows_the_sum_of_the_known_charges() -> None:
    """The price list of Seoul has request prices but no storage price."""
    traffic = {"patterns": {"article": {"per_second": 100}}, "entities": {"Article": {"count": 1_000_000}}}
    result = estimate(Cms, traffic_from(traffic, Cms.compiled))
    whole, part = (Payer(result, price_list(region)).on_demand() for region in ("us-east-1", "ap-northeast-2"))
    assert whole.usd == whole.known_usd
    assert part.usd is None
    assert part.known_usd == pytest.approx(50 * 730 * 3600 * 0.1355 / 1e6)
    assert part.missing == ("1 GB-month of storage",)
    assert bill_usd(part) == "$17.80 + …"
    assert bill_usd(Payer(result, price_list("eu-central-1")).on_demand()) == "–"
    text = without(Payer(result, price_list("us-east-1"), [price_list("eu-central-1")]))
    assert text is not None
    assert text.startswith("Keyplan has no price list for eu-central-1")


def test_the_cost_of_the_documented_traffic_file_is_estimated(tmp_path: Path) -> None:
    """docs/traffic.md shows a traffic file with every member."""
    page = (Path(__file__).parents[2] / "docs" / "traffic.md").read_text(encoding="utf-8")
    path = tmp_path / "traffic.toml"
    path.write_text(re.findall(r"```toml\n(.*?)```", page, re.DOTALL)[0])
    traffic = read_traffic(path, Cms.compiled)
    result = estimate(Cms, traffic)
    replicas = [price_list(region) for region in traffic.table.replicas]
    payer = Payer(result, price_list(str(traffic.table.region)), replicas)
    assert payer.chosen().known_usd > 0
    assert run("cost", "cms", "--traffic", str(path)).exit_code == 0
    assert run("check", "cms", "--traffic", str(path)).exit_code in {0, 1}


def test_all_errors_of_a_price_list_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "prices.json"
    data = {
        "region": "eu-west-1",
        "as_of": "2026-09-11",
        "usd": {"ReadRequestUnits": "-1", "WriteRequestUnits": "cheap", "Reads": "1", "ReadCapacityUnit-Hrs": "NaN"},
        "reserved": {"1yr": {"read_upfront": "1"}},
    }
    path.write_text(json.dumps(data))
    with pytest.raises(PriceError) as error:
        read_price_list(path)
    assert [fault.place for fault in error.value.errors] == [
        "source",
        "usd.ReadRequestUnits",
        "usd.WriteRequestUnits",
        "usd.ReadCapacityUnit-Hrs",
        "reserved.1yr.read_hour",
        "reserved.1yr.write_upfront",
        "reserved.1yr.write_hour",
    ]
    unknown = json.dumps(data | {"source": "AWS", "usd": {"Reads": "1"}, "reserved": {}})
    texts = {"{": "n't valid JSON", "[]": "is invalid", '{"reserved": 1}': "is invalid", unknown: "usage types: Reads"}
    for text, message in texts.items():
        path.write_text(text)
        with pytest.raises(PriceError, match=message):
            read_price_list(path)
    with pytest.raises(PriceError, match="can't be read"):
        read_price_list(tmp_path / "missing.json")


# Updates


def product(usage: str, region: str = "eu-west-1") -> dict[str, Any]:
    return {"attributes": {"usagetype": usage, "regionCode": region, "servicecode": "AmazonDynamoDB"}}


def tiers(*prices: tuple[str, str]) -> dict[str, Any]:
    """The terms of a product in an offer file: the start and the price of each tier."""
    dimensions = {
        f"rate{number}": {"beginRange": begin, "unit": "Units", "pricePerUnit": {"USD": usd}}
        for number, (begin, usd) in enumerate(prices)
    }
    return {"sku.term": {"priceDimensions": dimensions}}


def reserved(upfront: str, hour: str, length: str = "1yr") -> dict[str, Any]:
    return {
        "sku.term": {
            "termAttributes": {"LeaseContractLength": length},
            "priceDimensions": {
                "one": {"unit": "Quantity", "pricePerUnit": {"USD": upfront}},
                "two": {"unit": "ReadCapacityUnit-Hrs", "pricePerUnit": {"USD": hour}},
            },
        }
    }


OFFER = {
    "offerCode": "AmazonDynamoDB",
    "publicationDate": "2026-11-01T00:00:00Z",
    "products": {
        "A": product("EU-ReadRequestUnits"),
        "B": product("EU-IA-ReadRequestUnits"),
        "C": product("EU-ReplWriteRequestUnits"),
        "D": product("EU-TimedStorage-ByteHrs"),
        "E": product("EU-DataTransfer-Out-Bytes"),
        "F": product("EU-HeavyUsage:dynamodb.read"),
        "G": product("EU-HeavyUsage:dynamodb.write"),
        "H": product("ReadRequestUnits", "us-east-1"),
        "I": product("ReadRequestUnits", "../../etc"),
        "J": {"attributes": {"usagetype": "Global"}},
    },
    "terms": {
        "OnDemand": {
            "A": tiers(("0", "0.0000001415")),
            "B": tiers(("0", "0.0000001754")),
            "C": tiers(("0", "0.0000007077")),
            "D": tiers(("0", "0.0000000000"), ("25", "0.2830000000")),
            "H": tiers(("0", "0.0000001250")),
        },
        "Reserved": {"F": reserved("0.34", "0.0000283"), "G": reserved("1.70", "0.0001450")},
    },
}


def test_an_offer_file_is_converted_to_price_lists() -> None:
    """Each region has a list, without the region's prefix and with the price of the last tier."""
    result = price_lists(OFFER)
    assert sorted(result) == ["eu-west-1", "us-east-1"]
    assert result["eu-west-1"] == {
        "region": "eu-west-1",
        "as_of": "2026-11-01",
        "source": "AWS Price List, offer AmazonDynamoDB, 2026-11-01",
        "usd": {
            "ReadRequestUnits": "0.0000001415",
            "IA-ReadRequestUnits": "0.0000001754",
            "ReplWriteRequestUnits": "0.0000007077",
            "TimedStorage-ByteHrs": "0.283",
        },
        "reserved": {
            "1yr": {"read_upfront": "0.34", "read_hour": "0.0000283", "write_upfront": "1.7", "write_hour": "0.000145"}
        },
    }


def test_prices_are_found_for_every_region_prefix_of_a_usage_type() -> None:
    """The price lists of twelve regions are complete, although their usage types have different prefixes."""
    prefixes = {
        "us-east-1": "", "us-east-2": "USE2-", "us-west-1": "USW1-", "us-west-2": "USW2-", "eu-west-1": "EU-",
        "eu-west-2": "EUW2-", "eu-central-1": "EUC1-", "ap-northeast-1": "APN1-", "ap-southeast-1": "APS1-",
        "ap-southeast-2": "APS2-", "ap-south-1": "APS3-", "sa-east-1": "SAE1-",
    }  # fmt: skip
    usages = {
        f"{region} {meter}": (f"{prefix}{meter}", region) for region, prefix in prefixes.items() for meter in METERS
    }
    prices = {sku: tiers(("0", f"0.{number}1")) for number, sku in enumerate(usages, 1)}
    products = {sku: product(usage, region) for sku, (usage, region) in usages.items()}
    result = price_lists({**OFFER, "products": products, "terms": {"OnDemand": prices}})
    assert sorted(result) == sorted(prefixes)
    for number, sku in enumerate(usages, 1):
        region, _, meter = sku.partition(" ")
        assert result[region]["usd"][meter] == f"0.{number}1"


def test_price_lists_converted_from_offer_files_can_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command writes one file per region and no other file."""
    offer = tmp_path / "index.json"
    offer.write_text(json.dumps(OFFER))
    folder = tmp_path / "prices"
    folder.mkdir()
    assert main([str(offer), str(folder)]) == 0
    assert "eu-west-1: 4 prices as of 2026-11-01" in capsys.readouterr().out
    assert sorted(path.name for path in folder.iterdir()) == ["eu-west-1.json", "us-east-1.json"]
    result = read_price_list(folder / "eu-west-1.json")
    assert result.usd["TimedStorage-ByteHrs"] == 0.283
    assert result.reserved["1yr"].write_upfront == 1.7
    assert FOLDER.name == "prices"


def test_an_invalid_offer_file_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The file is for another service, isn't JSON or is missing, or an argument is missing."""
    wrong = tmp_path / "index.json"
    wrong.write_text('{"offerCode": "AmazonS3", "products": {}}')
    assert main([str(wrong), str(tmp_path)]) == 2
    wrong.write_text("<html>")
    assert main([str(wrong), str(tmp_path)]) == 2
    assert main([str(tmp_path / "missing.json")]) == 1
    assert main([]) == 2
    assert "isn't an AmazonDynamoDB offer file" in capsys.readouterr().err
