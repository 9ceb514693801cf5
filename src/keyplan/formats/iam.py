"""A least-privilege IAM policy for the operations of a design's access patterns on the table and its indexes. Source:
"Actions, resources, and condition keys for Amazon DynamoDB" in the service authorization reference.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from typing import Any

from keyplan.dynamodb.regions import REGIONS, partition_of
from keyplan.errors import ErrorDetail, RequestError
from keyplan.model.compiled.compiled_design import CompiledDesign, WriteOperations, uses_of

OPENING = "DescribeTable"
"""The operation that opening a design needs."""


@dataclass(frozen=True, kw_only=True)
class Place:
    """The table's region and account; ``*`` matches every value. Raises RequestError with all errors."""

    region: str = "*"
    account: str = "*"

    def __post_init__(self) -> None:
        faults: list[ErrorDetail] = []
        if self.region != "*" and self.region not in REGIONS:
            near = difflib.get_close_matches(self.region, REGIONS, n=1)
            hint = f"did you mean {near[0]}?" if near else "pass a region such as eu-west-1"
            faults.append(ErrorDetail("region", f"unknown AWS region {self.region!r}", hint))
        if self.account != "*" and not re.fullmatch("[0-9]{12}", self.account):
            faults.append(ErrorDetail("account", f"invalid account {self.account!r}", "pass the 12-digit account ID"))
        if faults:
            raise RequestError("invalid region or account", errors=faults)

    def arn(self, table: str) -> str:
        return f"arn:{partition_of(self.region).name}:dynamodb:{self.region}:{self.account}:table/{table}"


def policy(
    design: CompiledDesign, writes: WriteOperations, place: Place, table_name: str | None = None
) -> dict[str, Any]:
    """The policy document. ``writes``: the operations of each write."""
    on_table = {OPENING}
    on_indexes: dict[str, set[str]] = {}
    for pattern in design.reads.values():
        for use in uses_of(pattern):
            (on_table if use.index is None else on_indexes.setdefault(use.index, set())).add(use.operation)
    for operations in writes.values():
        on_table.update(operations)
    arn = place.arn(table_name or design.table.name)
    statements = [_statement("Table", on_table, [arn])]
    for number, (operations, names) in enumerate(_alike(on_indexes).items()):
        sid = "Indexes" if not number else f"Indexes{number + 1}"
        statements.append(_statement(sid, set(operations), [f"{arn}/index/{name}" for name in names]))
    return {"Version": "2012-10-17", "Statement": statements}


def _alike(on_indexes: dict[str, set[str]]) -> dict[tuple[str, ...], list[str]]:
    result: dict[tuple[str, ...], list[str]] = {}
    for name, operations in on_indexes.items():
        result.setdefault(tuple(sorted(operations)), []).append(name)
    return result


def _statement(sid: str, operations: set[str], resources: list[str]) -> dict[str, Any]:
    actions = [f"dynamodb:{operation}" for operation in sorted(operations)]
    return {"Sid": sid, "Effect": "Allow", "Action": actions, "Resource": resources}
