"""Generated sequences of operations with legacy parameters instead of expressions."""

from __future__ import annotations

from typing import Any

from tests.server.differential.sequences import Request, Sequence
from tests.server.differential.values import NAMES

OPERATORS = [
    "EQ",
    "NE",
    "LE",
    "LT",
    "GE",
    "GT",
    "NOT_NULL",
    "NULL",
    "CONTAINS",
    "NOT_CONTAINS",
    "BEGINS_WITH",
    "IN",
    "BETWEEN",
]
SCALARS = ("S", "N", "B")


class LegacySequence(Sequence):
    """A sequence of operations with Expected, AttributeUpdates, KeyConditions, filters and AttributesToGet."""

    def step(self) -> Request:
        make = self.chance.pick(
            *([self.put] * 3 + [self.update] * 4 + [self.query] * 2),
            *(self.delete, self.get, self.scan, self.batch_get),
        )
        made: Request = make()
        return made

    # --- parts

    def scalar(self, *tags: str) -> dict[str, Any]:
        while True:
            value = self.chance.value(0)
            if next(iter(value)) in tags:
                return value

    def values(self, operator: str) -> list[dict[str, Any]]:
        """Return values for an operator, sometimes invalid values."""
        chance = self.chance
        if chance.errs(6):
            return [chance.value() for _ in range(chance.below(3))]
        match operator:
            case "NULL" | "NOT_NULL":
                return []
            case "IN" | "BETWEEN":
                tag = chance.pick(*SCALARS)
                return [self.scalar(tag) for _ in range(2)]
            case "BEGINS_WITH":
                return [self.scalar("S", "B")]
            case "EQ" | "NE":
                return [chance.value()]
            case _:
                return [self.scalar(*SCALARS)]

    def condition(self) -> dict[str, Any]:
        operator = self.chance.pick(*OPERATORS)
        values = self.values(operator)
        return {"ComparisonOperator": operator, **({"AttributeValueList": values} if values else {})}

    def expectation(self) -> dict[str, Any]:
        chance = self.chance
        match chance.below(4):
            case 0:
                return {"Exists": False, **({"Value": chance.value()} if chance.errs(6) else {})}
            case 1:
                return {"Value": chance.value(), **({"Exists": True} if chance.one_in(2) else {})}
            case _:
                return self.condition()

    def several(self, make: Any) -> dict[str, Any]:
        names = self.chance.random.sample(
            [name for name in NAMES if name not in {"pk", "sk"}], 1 + self.chance.below(2)
        )
        return {name: make() for name in names}

    def joined(self, conditions: dict[str, Any]) -> dict[str, Any]:
        if len(conditions) > 1 or self.chance.errs(8):
            return {"ConditionalOperator": self.chance.pick(None, "AND", "OR")}
        return {}

    def conditional(self) -> dict[str, Any]:
        if not self.chance.one_in(2):
            return {}
        expected = self.several(self.expectation)
        return {"Expected": expected, **self.joined(expected)}

    def projected(self) -> dict[str, Any]:
        if not self.chance.one_in(3):
            return {}
        return {"AttributesToGet": self.chance.random.sample(NAMES, 1 + self.chance.below(3))}

    # --- steps

    def update(self) -> Request:
        chance = self.chance
        updates: dict[str, Any] = {}
        for name in chance.random.sample(NAMES[:-2], 1 + chance.below(3)):
            # Without an action, Local does nothing, but DynamoDB puts.
            action = chance.pick("PUT", "PUT", "ADD", "ADD", "DELETE", "DELETE")
            if action == "ADD":
                value = chance.pick({"N": "1"}, {"N": "-0.5"}, {"SS": ["a", "z"]}, {"NS": ["1", "7"]})
            elif action == "DELETE":
                value = chance.pick(None, None, {"SS": ["a", "b"]}, {"NS": ["1"]})
            else:
                value = chance.value()
            if chance.errs(6):
                value = chance.pick(None, chance.value())
            updates[name] = {"Action": action, **({"Value": value} if value else {})}
        condition = self.conditional()
        if all(update["Action"] == "DELETE" for update in updates.values()):
            # DynamoDB does nothing if the item is missing; Local creates one.
            if chance.one_in(2):
                condition = {"Expected": {"pk": {"ComparisonOperator": "NOT_NULL"}}}
            else:
                updates["made"] = {"Action": chance.pick("PUT", "ADD"), "Value": {"N": "1"}}
        returns = {"ReturnValues": chance.pick(None, "NONE", "ALL_OLD", "ALL_NEW", "UPDATED_OLD", "UPDATED_NEW")}
        members = {**self.where, "Key": self.key(), "AttributeUpdates": updates, **condition, **returns}
        return "UpdateItem", {**members, **self.capacity()}

    def paged(self, index: str | None) -> dict[str, Any]:
        chance = self.chance
        members: dict[str, Any] = {"IndexName": index, **self.capacity()}
        if chance.one_in(4):
            members |= self.projected()
        if chance.one_in(5) and "AttributesToGet" not in members:
            members["Select"] = "COUNT"
        if index is None:
            members["Limit"] = chance.pick(None, 1, 2, 50)
        return members

    def query(self) -> Request:
        questions = [question for question in self.form.questions if "OR" not in question[0]]
        text, values, index = self.chance.pick(*questions)
        keys: dict[str, Any] = {}
        for part in (
            text.replace(" BETWEEN :s AND :t", " BETWEEN").replace(" BETWEEN :x AND :y", " BETWEEN").split(" AND ")
        ):
            words = part.replace("begins_with(", "").replace(",", "").replace(")", "").split()
            name = words[0]
            if part.endswith("BETWEEN"):
                low, high = (":s", ":t") if ":s" in values else (":x", ":y")
                keys[name] = {"ComparisonOperator": "BETWEEN", "AttributeValueList": [values[low], values[high]]}
            elif part.startswith("begins_with"):
                keys[name] = {"ComparisonOperator": "BEGINS_WITH", "AttributeValueList": [values[words[-1]]]}
            else:
                operator = {"=": "EQ", "<": "LT", "<=": "LE", ">": "GT", ">=": "GE"}[words[1]]
                keys[name] = {"ComparisonOperator": operator, "AttributeValueList": [values[words[2]]]}
        if self.chance.errs(6):
            keys[self.chance.pick(*keys)] = self.condition()
        more = {}
        if self.chance.one_in(3):
            filters = {name: self.condition() for name in self.several(dict) if name not in keys}
            if filters:
                more = {"QueryFilter": filters, **self.joined(filters)}
        return "Query", {**self.where, "KeyConditions": keys, **more, **self.paged(index)}

    def scan(self) -> Request:
        more = {}
        if self.chance.one_in(2):
            filters = self.several(self.condition)
            more = {"ScanFilter": filters, **self.joined(filters)}
        return "Scan", {**self.where, **more, **self.paged(None), "Limit": None}
