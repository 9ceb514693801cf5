"""Generated sequences of table operations, with valid definitions or with errors of many kinds."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from tests.engine.scenarios import attributes, index, schema
from tests.server.differential.values import Chance

STEPS = 25
NAMES = ("ta1", "tb2", "tc3")
UNITS = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}

Request = tuple[str, dict[str, Any]]


class TableSequence:
    """A sequence of operations on three tables."""

    def __init__(self, seed: int) -> None:
        self.chance = Chance(seed)

    def requests(self) -> Iterator[Request]:
        for _ in range(STEPS):
            name, params = self.step()
            yield name, self.spoiled(params) if params and self.chance.one_in(8) else params

    def name(self) -> str:
        name: str = (
            self.chance.pick(*NAMES) if not self.chance.one_in(40) else self.chance.pick("nothing", "a!b", "x" * 256)
        )
        return name

    def step(self) -> Request:
        where = {"TableName": self.name()}
        match self.chance.below(12):
            case 0 | 1 | 2 | 3:
                return "CreateTable", {**where, **self.definition()}
            case 4 | 5:
                return "DescribeTable", where
            case 6:
                return "DeleteTable", where
            case 7 | 8:
                return "UpdateTable", {**where, **self.change()}
            case 9:
                wanted = {
                    "Enabled": self.chance.pick(True, False),
                    "AttributeName": self.chance.pick("ttl", "ttl", "x"),
                }
                return "UpdateTimeToLive", {**where, "TimeToLiveSpecification": wanted}
            case 10:
                return "DescribeTimeToLive", where
            case _:
                start = {"ExclusiveStartTableName": "tb2"} if self.chance.one_in(3) else {}
                return "ListTables", {
                    **({"Limit": self.chance.pick(1, 2, 100)} if self.chance.one_in(2) else {}),
                    **start,
                }

    def billing(self) -> dict[str, Any]:
        settings: dict[str, Any] = self.chance.pick(
            *([{"BillingMode": "PAY_PER_REQUEST"}] * 6),
            *([{"BillingMode": "PROVISIONED", "ProvisionedThroughput": UNITS}] * 3),
            {"ProvisionedThroughput": UNITS},
            {"BillingMode": "PAY_PER_REQUEST", "ProvisionedThroughput": UNITS},
            {"BillingMode": "PROVISIONED"},
            {},
        )
        return copy.deepcopy(settings)

    def definition(self) -> dict[str, Any]:
        chance = self.chance
        keys = schema("pk", "sk") if chance.one_in(2) else schema("pk")
        billing = self.billing()
        made: dict[str, Any] = {"KeySchema": keys, **billing}
        if chance.one_in(2):
            made["GlobalSecondaryIndexes"] = [
                self.index(f"GS{number}", billing) for number in range(1 + chance.below(2))
            ]
        if chance.one_in(3):
            made["LocalSecondaryIndexes"] = [
                chance.pick(
                    index("LS1", "pk", "l"), index("LS1", "pk", "l"), index("GS0", "g", "l"), index("LS1", "pk")
                )
            ]
        used = {key["AttributeName"] for key in keys}
        for each in (*made.get("GlobalSecondaryIndexes", ()), *made.get("LocalSecondaryIndexes", ())):
            used |= {key["AttributeName"] for key in each["KeySchema"]}
        if chance.one_in(12):
            used = set(chance.random.sample(sorted(used | {"unused"}), 1 + chance.below(len(used))))
        made["AttributeDefinitions"] = attributes(**{name: chance.pick("S", "N", "B") for name in sorted(used)})
        if chance.one_in(8):
            made["DeletionProtectionEnabled"] = True
        if chance.one_in(12):
            made["KeySchema"] = chance.pick(
                schema("sk", "pk", "g"),
                [],
                schema("pk", "pk"),
                list(reversed(schema("pk", "sk"))),
                schema("pk", "sk", partition=2),
            )
        return made

    def index(self, name: str, billing: dict[str, Any]) -> dict[str, Any]:
        chance = self.chance
        projection = chance.pick("ALL", "ALL", "KEYS_ONLY", ["note"], ["note", "count"])
        made: dict[str, Any] = chance.pick(
            index(name, "g", projection=projection),
            index(name, "g", "h", projection=projection),
            index(name, "g", "h", "l", partition=2, projection=projection),
            index(name, "sk", "pk", projection=projection),
        )
        if "ProvisionedThroughput" in billing and not chance.one_in(6):
            made["ProvisionedThroughput"] = dict(UNITS)
        if chance.one_in(30):
            made["Projection"] = chance.pick(
                {},
                {"ProjectionType": "INCLUDE"},
                {"ProjectionType": "ALL", "NonKeyAttributes": ["x"]},
                {"ProjectionType": "X"},
            )
        return made

    def change(self) -> dict[str, Any]:
        chance = self.chance
        match chance.below(6):
            case 0:
                return {"DeletionProtectionEnabled": chance.pick(True, False)}
            case 1:
                return {
                    "GlobalSecondaryIndexUpdates": [
                        {"Delete": {"IndexName": chance.pick("GS0", "GS1", "LS1", "nothing")}}
                    ]
                }
            case 2 | 3:
                created = self.index(chance.pick("GS0", "GS1", "GS2"), {})
                used = [key["AttributeName"] for key in created["KeySchema"]]
                defined = attributes(**dict.fromkeys(used, "S"))
                return {"AttributeDefinitions": defined, "GlobalSecondaryIndexUpdates": [{"Create": created}]}
            case 4:
                return self.billing()
            case _:
                other: dict[str, Any] = chance.pick(
                    {},
                    {"GlobalSecondaryIndexUpdates": []},
                    {"GlobalSecondaryIndexUpdates": [{}]},
                    {"TableClass": "STANDARD_INFREQUENT_ACCESS"},
                )
                return other

    def spoiled(self, params: dict[str, Any]) -> dict[str, Any]:
        """Return the request with one member removed or changed in type."""
        name = self.chance.pick(*params)
        if self.chance.one_in(2):
            return {member: value for member, value in params.items() if member != name}
        return {**params, name: self.chance.pick(1, "x", [], {}, True, -1, [{}], {"x": 1}, ["x"])}
