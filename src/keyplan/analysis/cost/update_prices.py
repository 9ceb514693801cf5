"""Create price lists from the public offer files of the AWS Price List.

Run ``python -m keyplan.analysis.cost.update_prices OFFER_FILE [FOLDER]`` for each region. First, download the offer
file of the region (no AWS account is needed)::

    https://pricing.us-east-1.amazonaws.com/offers/v1.0/aws/AmazonDynamoDB/current/REGION/index.json

The command downloads nothing. Of tiered prices, only the price after the free tier is used. Source:
"Reading the service price list file" in the AWS Billing user guide.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from keyplan.analysis.cost.pricelist import FOLDER, METERS, TERMS
from keyplan.errors import PriceError

_RESERVED = {"HeavyUsage:dynamodb.read": "read", "HeavyUsage:dynamodb.write": "write"}
_LENGTHS = {"1yr": "1yr", "1 yr": "1yr", "1 year": "1yr", "3yr": "3yr", "3 yr": "3yr", "3 years": "3yr"}


def price_lists(offer: Any) -> dict[str, dict[str, Any]]:
    """The price lists in an offer file by region, as JSON data. Raises PriceError for another kind of file."""
    if not isinstance(offer, dict) or offer.get("offerCode") != "AmazonDynamoDB" or "products" not in offer:
        raise PriceError(
            "the file isn't an AmazonDynamoDB offer file",
            hint="download https://pricing.us-east-1.amazonaws.com/offers/v1.0/aws/AmazonDynamoDB/current/REGION/index.json",
        )
    as_of = str(offer.get("publicationDate", ""))[:10]
    terms = offer.get("terms", {})
    result: dict[str, dict[str, Any]] = {}
    for sku, product in offer["products"].items():
        attributes = product.get("attributes", {})
        region, usage = attributes.get("regionCode"), attributes.get("usagetype", "")
        if not isinstance(region, str) or not re.fullmatch(r"[a-z0-9-]+", region):
            continue  # no region, or a region that isn't a valid file name
        of_region = result.setdefault(
            region,
            {"region": region, "as_of": as_of, "source": f"AWS Price List, offer AmazonDynamoDB, {as_of}", "usd": {}},
        )
        meter = _known(usage, METERS)
        if meter is not None:
            price = _last_tier(terms.get("OnDemand", {}).get(sku, {}))
            if price is not None:
                of_region["usd"][meter] = _plain(price)
        kind = _known(usage, _RESERVED)
        if kind is not None:
            for term, member, price in _reserved(terms.get("Reserved", {}).get(sku, {})):
                prices = of_region.setdefault("reserved", {}).setdefault(term, {})
                prices[f"{_RESERVED[kind]}_{member}"] = _plain(price)
    for prices in result.values():
        whole = {term: given for term, given in prices.pop("reserved", {}).items() if len(given) == 4}
        if whole:
            prices["reserved"] = whole
    return {region: prices for region, prices in result.items() if prices["usd"]}


def main(arguments: list[str]) -> int:
    """Write the price lists from an offer file. Returns the exit status."""
    if not 1 <= len(arguments) <= 2:
        sys.stderr.write("usage: python -m keyplan.analysis.cost.update_prices OFFER_FILE [FOLDER]\n")
        return 2
    source = Path(arguments[0])
    folder = Path(arguments[1]) if len(arguments) > 1 else FOLDER
    try:
        lists = price_lists(json.loads(source.read_text(encoding="utf-8")))
        for region, prices in sorted(lists.items()):
            (folder / f"{region}.json").write_text(json.dumps(prices, indent=2) + "\n", encoding="utf-8")
            sys.stdout.write(f"{region}: {len(prices['usd'])} prices as of {prices['as_of']}\n")
    except OSError as error:
        sys.stderr.write(f"Error: {error.filename}: {error.strerror}\n")
        return 1
    except ValueError as error:  # invalid JSON, or a PriceError, which is a ValueError
        sys.stderr.write(f"Error: {source}: {error}\n")
        return 2
    return 0


def _known(usage: str, names: Mapping[str, Any]) -> str | None:
    """The longest name that a usage type ends with, after the region prefix (``APN1-``)."""
    fitting = [name for name in names if usage == name or usage.endswith(f"-{name}")]
    return max(fitting, key=len) if fitting else None


def _dimensions(offers: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any], Decimal]]:
    for offer in offers.values():
        for dimension in offer.get("priceDimensions", {}).values():
            usd = dimension.get("pricePerUnit", {}).get("USD")
            if usd is not None:
                yield offer, dimension, Decimal(usd)


def _last_tier(offers: Mapping[str, Any]) -> Decimal | None:
    tiers = [(Decimal(dimension.get("beginRange") or 0), usd) for _, dimension, usd in _dimensions(offers)]
    return max(tiers)[1] if tiers else None


def _reserved(offers: Mapping[str, Any]) -> Iterator[tuple[str, str, Decimal]]:
    for offer, dimension, usd in _dimensions(offers):
        length = str(offer.get("termAttributes", {}).get("LeaseContractLength", "")).lower()
        term = _LENGTHS.get(length)
        if term in TERMS:
            yield term, "upfront" if dimension.get("unit") == "Quantity" else "hour", usd


def _plain(price: Decimal) -> str:
    return f"{price.normalize():f}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
