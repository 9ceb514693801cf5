"""Price lists in ``prices/``: one file per region, with the date and the USD per unit of each AWS usage type."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, TypeAdapter, ValidationError

from keyplan.dynamodb.regions import REGIONS, near_region
from keyplan.errors import PriceError
from keyplan.model.declared.pattern_load import fault_of

FOLDER = Path(__file__).parent / "prices"
METERS = {
    "ReadRequestUnits": "a read request unit",
    "WriteRequestUnits": "a write request unit",
    "ReplWriteRequestUnits": "a replicated write request unit",
    "IA-ReadRequestUnits": "a read request unit, Standard-IA",
    "IA-WriteRequestUnits": "a write request unit, Standard-IA",
    "IA-ReplWriteRequestUnits": "a replicated write request unit, Standard-IA",
    "ReadCapacityUnit-Hrs": "a read capacity unit for an hour",
    "WriteCapacityUnit-Hrs": "a write capacity unit for an hour",
    "ReplWriteCapacityUnit-Hrs": "a replicated write capacity unit for an hour",
    "IA-ReadCapacityUnit-Hrs": "a read capacity unit for an hour, Standard-IA",
    "IA-WriteCapacityUnit-Hrs": "a write capacity unit for an hour, Standard-IA",
    "IA-ReplWriteCapacityUnit-Hrs": "a replicated write capacity unit for an hour, Standard-IA",
    "TimedStorage-ByteHrs": "1 GB-month of storage",
    "IA-TimedStorage-ByteHrs": "1 GB-month of storage, Standard-IA",
    "TimedPITRStorage-ByteHrs": "1 GB-month of point-in-time recovery",
    "TimedBackupStorage-ByteHrs": "1 GB-month of on-demand backup",
    "RestoreDataSize-Bytes": "a GB restored",
    "ExportDataSize-Bytes": "a GB exported to S3",
    "ImportDataSize-Bytes": "a GB imported from S3",
    "Streams-Requests": "a streams read request unit",
    "ChangeDataCaptureUnits-Kinesis": "a change data capture unit for Kinesis Data Streams",
}
"""The supported usage types, without the region prefix, and the unit that each usage type prices."""
TERMS = ("1yr", "3yr")


_Price = Annotated[float, Field(ge=0, allow_inf_nan=False)]
_Text = Annotated[str, Field(min_length=1)]


@dataclass(frozen=True, slots=True)
class Reserved:
    """The prices of reserved capacity for a term, in USD per capacity unit: upfront and per hour."""

    read_upfront: _Price
    read_hour: _Price
    write_upfront: _Price
    write_hour: _Price


def _of_known(prices: Mapping[str, float]) -> Mapping[str, float]:
    if unknown := sorted(prices.keys() - METERS.keys()):
        raise ValueError(f"unknown usage types: {', '.join(unknown)}; supported: {', '.join(METERS)}")
    return prices


@dataclass(frozen=True)
class PriceList:
    """The prices of one region in USD, as of a date. In a file, each price is a decimal string, to stay exact."""

    region: _Text
    as_of: _Text
    source: _Text
    usd: Annotated[Mapping[str, _Price], Field(min_length=1), AfterValidator(_of_known)]
    reserved: Mapping[Literal["1yr", "3yr"], Reserved] = field(default_factory=dict[Literal["1yr", "3yr"], Reserved])

    @property
    def said(self) -> str:
        return f"{self.region} as of {self.as_of}" if self.usd else f"{self.region} (no prices available)"

    def price(self, meter: str) -> float | None:
        """The USD per unit of a usage type; None if the list has no price for the usage type."""
        return self.usd.get(meter)


def priced_regions() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.json"))


def price_list(region: str) -> PriceList:
    """The price list of a region; empty if ``prices/`` has no list. Raises PriceError if AWS has no such region."""
    if region in priced_regions():
        return read_price_list(FOLDER / f"{region}.json")
    if region in REGIONS:
        return PriceList(region, "", f"Keyplan has no price list for {region}: {_RENEWED}", {})
    near = near_region(region)
    meant = f"did you mean {near}? " if near else ""
    raise PriceError(f"AWS has no region {region!r}", hint=f"{meant}prices exist for {', '.join(priced_regions())}")


def read_price_list(path: Path) -> PriceList:
    """Read a price list from a file. Raises PriceError with all errors in the file."""
    place = str(path)
    try:
        return TypeAdapter(PriceList).validate_python(json.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise PriceError(f"the file can't be read: {error.strerror}", place=place) from None
    except ValidationError as error:
        faults = [fault_of(each) for each in error.errors(include_url=False)]
        raise PriceError("the price list is invalid", place=place, errors=faults, hint=_HINT) from None
    except (ValueError, RecursionError) as error:
        raise PriceError(f"the file isn't valid JSON: {error}", place=place) from None


_RENEWED = "create a price list with python -m keyplan.analysis.cost.update_prices, and pass it with --prices"
_HINT = "create a price list from AWS's offer file with python -m keyplan.analysis.cost.update_prices"
