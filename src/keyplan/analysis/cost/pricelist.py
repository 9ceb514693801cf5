"""Price lists in ``prices/``: USD per unit by region and AWS usage type, with a date. A missing price is unknown."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from keyplan.dynamodb.regions import REGIONS, near_region
from keyplan.errors import ErrorDetail, PriceError

FOLDER = Path(__file__).parent / "prices"
METERS = {
    "ReadRequestUnits": "a read request unit",
    "WriteRequestUnits": "a write request unit",
    "ReplWriteRequestUnits": "a write request unit of a global table, in each region",
    "IA-ReadRequestUnits": "a read request unit, Standard-IA",
    "IA-WriteRequestUnits": "a write request unit, Standard-IA",
    "IA-ReplWriteRequestUnits": "a write request unit of a global table, Standard-IA",
    "ReadCapacityUnit-Hrs": "a read capacity unit for an hour",
    "WriteCapacityUnit-Hrs": "a write capacity unit for an hour",
    "ReplWriteCapacityUnit-Hrs": "a write capacity unit of a global table for an hour",
    "IA-ReadCapacityUnit-Hrs": "a read capacity unit for an hour, Standard-IA",
    "IA-WriteCapacityUnit-Hrs": "a write capacity unit for an hour, Standard-IA",
    "IA-ReplWriteCapacityUnit-Hrs": "a write capacity unit of a global table for an hour, Standard-IA",
    "TimedStorage-ByteHrs": "1 GB-month of storage",
    "IA-TimedStorage-ByteHrs": "1 GB-month of storage, Standard-IA",
    "TimedPITRStorage-ByteHrs": "1 GB-month of point-in-time recovery",
    "TimedBackupStorage-ByteHrs": "1 GB-month of on-demand backup",
    "RestoreDataSize-Bytes": "a GB restored",
    "ExportDataSize-Bytes": "a GB exported to S3",
    "ImportDataSize-Bytes": "a GB imported from S3",
    "Streams-Requests": "a read of a stream",
    "ChangeDataCaptureUnits-Kinesis": "a KB of change sent to Kinesis",
}
"""The usage types that are kept, without the prefix of the region, and what each is the price of."""
TERMS = ("1yr", "3yr")


@dataclass(frozen=True, slots=True)
class Reserved:
    """Reserved capacity for a term, in USD per capacity unit: upfront and per hour."""

    read_upfront: float
    read_hour: float
    write_upfront: float
    write_hour: float


@dataclass(frozen=True)
class PriceList:
    """The prices of one region in USD, as of a day."""

    region: str
    as_of: str
    source: str
    usd: Mapping[str, float]
    reserved: Mapping[str, Reserved] = field(default_factory=dict[str, Reserved])

    @property
    def said(self) -> str:
        """Whose prices they are, and as of when."""
        return f"{self.region} as of {self.as_of}" if self.usd else f"{self.region}, of which none are known"

    def price(self, meter: str) -> float | None:
        """USD per unit of a usage type; None if the list has no price."""
        return self.usd.get(meter)


def priced_regions() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.json"))


def price_list(region: str) -> PriceList:
    """The price list of a region, empty for an AWS region without one. Raises PriceError for an unknown region."""
    if region in priced_regions():
        return read_price_list(FOLDER / f"{region}.json")
    if region in REGIONS:
        return PriceList(region, "", f"no price list of {region}: {_RENEWED}", {})
    near = near_region(region)
    meant = f"did you mean {near}? " if near else ""
    raise PriceError(f"AWS has no region {region!r}", hint=f"{meant}there are prices of {', '.join(priced_regions())}")


def read_price_list(path: Path) -> PriceList:
    """A price list from a file. Raises PriceError with every error of the file."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise PriceError(f"{path} can't be read: {error.strerror}", place=str(path)) from None
    except (ValueError, RecursionError) as error:
        raise PriceError(f"it isn't JSON: {error}", place=str(path)) from None
    faults: list[ErrorDetail] = []
    if not isinstance(data, dict):
        raise PriceError("a price list is a JSON object", place=str(path), hint=_HINT)
    texts = {name: _text(data, name, faults) for name in ("region", "as_of", "source")}
    usd = _prices(data.get("usd"), "usd", METERS, faults)
    if not usd:
        faults.append(ErrorDetail("usd", "it has no prices"))
    reserved: dict[str, Reserved] = {}
    given = data.get("reserved", {})
    if not isinstance(given, dict) or not set(given) <= set(TERMS):
        faults.append(ErrorDetail("reserved", f"it maps {' and '.join(TERMS)} to prices"))
    else:
        names = [element.name for element in fields(Reserved)]
        for term, prices in given.items():
            result = _prices(prices, f"reserved.{term}", names, faults)
            if len(result) == len(names):
                reserved[term] = Reserved(**result)
            else:
                faults.append(ErrorDetail(f"reserved.{term}", f"it needs {', '.join(names)}"))
    if faults:
        raise PriceError("the price list can't be used", place=str(path), errors=faults, hint=_HINT)
    return PriceList(texts["region"], texts["as_of"], texts["source"], usd, reserved)


_RENEWED = "python -m keyplan.analysis.cost.update_prices writes one from AWS's, --prices reads it"
_HINT = "python -m keyplan.analysis.cost.update_prices writes one from AWS's price list"


def _text(data: Mapping[str, Any], name: str, faults: list[ErrorDetail]) -> str:
    value = data.get(name)
    if not isinstance(value, str) or not value:
        faults.append(ErrorDetail(name, "it is missing, or no text"))
        return ""
    return value


def _prices(data: Any, place: str, names: Collection[str], faults: list[ErrorDetail]) -> dict[str, float]:
    """Prices by name, written as strings: JSON numbers can't represent 0.000000125 exactly."""
    result: dict[str, float] = {}
    for name, value in (data if isinstance(data, dict) else {}).items():
        try:
            price = Decimal(str(value))
        except InvalidOperation:
            price = Decimal("NaN")
        if name not in names:
            faults.append(ErrorDetail(f"{place}.{name}", "there is no such price", f"known: {', '.join(names)}"))
        elif not price.is_finite() or price < 0:
            faults.append(ErrorDetail(f"{place}.{name}", f"{value!r} is no price"))
        else:
            result[name] = float(price)
    return result
