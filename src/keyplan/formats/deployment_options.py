"""Deployment options of a table: name, billing, class, protection, backups, stream, tags."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from keyplan.errors import ErrorDetail, RequestError
from keyplan.model.compiled.compiled_design import CompiledDesign

TABLE_CLASSES = {"standard": "STANDARD", "infrequent-access": "STANDARD_INFREQUENT_ACCESS"}
STREAM_VIEWS = {"keys": "KEYS_ONLY", "new": "NEW_IMAGE", "old": "OLD_IMAGE", "new-and-old": "NEW_AND_OLD_IMAGES"}
TABLE_NAME = re.compile(r"[A-Za-z0-9_.-]{3,255}")
TAGS_MAX = 50
TAG_KEY_MAX = 128
TAG_VALUE_MAX = 256
_TAG_TEXT = re.compile(r"[\w\s.:/=+\-@]*")


@dataclass(frozen=True, kw_only=True)
class Deployment:
    """The deployment options of a table. Raises RequestError with all errors.

    ``read_units`` and ``write_units`` are the provisioned capacity per second of the table and of each global index.
    ``table_class`` and ``stream`` accept the values of the command-line options; ``tags`` are AWS resource tags.
    """

    table_name: str | None = None
    billing: Literal["on-demand", "provisioned"] = "on-demand"
    read_units: int | None = None
    write_units: int | None = None
    table_class: str = "standard"
    deletion_protection: bool = False
    recovery: bool = False
    stream: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict[str, str])

    def __post_init__(self) -> None:
        faults = list(self._faults())
        if faults:
            raise RequestError("invalid deployment options", errors=faults)

    def _faults(self) -> Iterable[ErrorDetail]:
        if self.table_name is not None and not TABLE_NAME.fullmatch(self.table_name):
            yield ErrorDetail(
                "table name", f"invalid table name {self.table_name!r}", "use 3 to 255 characters of A-Z a-z 0-9 _ . -"
            )
        for name, units in (("read units", self.read_units), ("write units", self.write_units)):
            if self.billing == "provisioned" and units is None:
                yield ErrorDetail(name, "required for provisioned billing", "pass the units per second")
            if self.billing == "on-demand" and units is not None:
                yield ErrorDetail(name, "not allowed with on-demand billing", "omit them, or use provisioned billing")
            if units is not None and units < 1:
                yield ErrorDetail(name, f"{units} is less than 1", "pass at least 1 unit per second")
        yield from _tag_faults(self.tags)

    def members(self, design: CompiledDesign) -> dict[str, Any]:
        """The members of the CreateTable request, which are also properties in CloudFormation."""
        result = design.table.create_request(self.table_name)
        if self.billing == "provisioned":
            units = {"ReadCapacityUnits": self.read_units, "WriteCapacityUnits": self.write_units}
            result["BillingMode"] = "PROVISIONED"
            result["ProvisionedThroughput"] = units
            for index in result.get("GlobalSecondaryIndexes", ()):
                index["ProvisionedThroughput"] = units
        if self.table_class != "standard":
            result["TableClass"] = TABLE_CLASSES[self.table_class]
        if self.deletion_protection:
            result["DeletionProtectionEnabled"] = True
        if self.stream is not None:
            result["StreamSpecification"] = {"StreamEnabled": True, "StreamViewType": STREAM_VIEWS[self.stream]}
        if self.tags:
            result["Tags"] = [{"Key": name, "Value": value} for name, value in self.tags.items()]
        return result


def tags_of(texts: Iterable[str]) -> dict[str, str]:
    """The tags in texts of the form ``name=value``. Raises RequestError with all errors."""
    result: dict[str, str] = {}
    faults: list[ErrorDetail] = []
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            faults.append(ErrorDetail(f"tag {text!r}", "isn't name=value", "write name=value"))
        elif name in result:
            faults.append(ErrorDetail(f"tag {name!r}", "duplicate"))
        result[name] = value
    if faults:
        raise RequestError("invalid tags", errors=faults)
    return result


def _tag_faults(tags: Mapping[str, str]) -> Iterable[ErrorDetail]:
    """Source: "Tagging restrictions in DynamoDB" in the developer guide."""
    if len(tags) > TAGS_MAX:
        yield ErrorDetail("tags", f"a table can have at most {TAGS_MAX} tags, not {len(tags)}")
    for name, value in tags.items():
        place = f"tag {name!r}"
        if not 1 <= len(name) <= TAG_KEY_MAX or len(value) > TAG_VALUE_MAX:
            yield ErrorDetail(place, f"names have 1 to {TAG_KEY_MAX} characters, and values at most {TAG_VALUE_MAX}")
        elif name.lower().startswith("aws:"):
            yield ErrorDetail(place, "names that begin with aws: are reserved")
        elif not _TAG_TEXT.fullmatch(name) or not _TAG_TEXT.fullmatch(value):
            yield ErrorDetail(place, "only letters, digits, spaces and _ . : / = + - @ are allowed")
