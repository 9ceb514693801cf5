"""Generated sequences of all operations that read and write items, on tables of several forms."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.engine.scenarios import attributes, index, schema
from tests.server.differential.values import Chance, Placeholders, b, n, s

STEPS = 50
_RUN = secrets.token_hex(4)
"""Part of each idempotency token, because DynamoDB Local remembers those of earlier runs."""
Request = tuple[str, dict[str, Any]]


@dataclass(frozen=True)
class Form:
    """The form of a table: its CreateTable request, item keys, and key conditions for the table and its indexes."""

    create: dict[str, Any]
    keys: tuple[dict[str, Any], ...]
    sorted_by: str | None
    wrong_keys: tuple[Any, ...]
    questions: tuple[tuple[str, dict[str, Any], str | None], ...]
    """Condition, values and index."""
    linked: tuple[str, ...] = ("g", "h")


def pairs(partitions: list[Any], sorts: list[Any]) -> tuple[dict[str, Any], ...]:
    return tuple({"pk": pk, "sk": sk} for pk in partitions for sk in sorts)


WRONG: tuple[Any, ...] = (
    {},
    {"pk": s("a")},
    {"pk": s("a"), "sk": s("1"), "x": s("y")},
    {"pk": n(1), "sk": s("1")},
    {"pk": s(""), "sk": s("1")},
)

ON_DEMAND = {"BillingMode": "PAY_PER_REQUEST"}
TEXTS = Form(
    {
        "KeySchema": schema("pk", "sk"),
        "AttributeDefinitions": attributes(pk="S", sk="S", g="S", h="N", l="S", m="S"),
        "GlobalSecondaryIndexes": [
            index("ByG", "g", "h"),
            index("KeysOnly", "g", projection="KEYS_ONLY"),
            index("Some", "m", "pk", projection=["note"]),
        ],
        "LocalSecondaryIndexes": [
            index("ByL", "pk", "l", projection="KEYS_ONLY"),
            index("ByM", "pk", "m", projection=["count"]),
        ],
        **ON_DEMAND,
    },
    pairs([s("a"), s("b")], [s("1"), s("12"), s("2"), s("é")]),
    "sk",
    (*WRONG, {"pk": s("x" * 2049), "sk": s("1")}, {"pk": s("a"), "sk": s("y" * 1025)}, {"pk": s("a"), "sk": {"L": []}}),
    (
        ("pk = :p", {":p": s("a")}, None),
        ("pk = :p AND sk > :s", {":p": s("a"), ":s": s("1")}, None),
        ("pk = :p AND sk BETWEEN :s AND :t", {":p": s("a"), ":s": s("1"), ":t": s("2")}, None),
        ("pk = :p AND begins_with(sk, :s)", {":p": s("b"), ":s": s("1")}, None),
        ("sk = :s AND pk = :p", {":p": s("b"), ":s": s("1")}, None),
        ("g = :g AND h BETWEEN :x AND :y", {":g": s("g"), ":x": n(0), ":y": n(10)}, "ByG"),
        ("g = :g", {":g": s("gg")}, "KeysOnly"),
        ("pk = :p AND l >= :l", {":p": s("a"), ":l": s("l2")}, "ByL"),
        ("pk = :p", {":p": s("a")}, "ByM"),
        ("m = :m AND pk = :p", {":m": s("m"), ":p": s("b")}, "Some"),
    ),
)
NUMBERS = Form(
    {"KeySchema": schema("pk"), "AttributeDefinitions": attributes(pk="N"), **ON_DEMAND},
    tuple({"pk": n(number)} for number in (1, -1, "1.5", "1E+2", 0, "-0.001")),
    None,
    ({}, {"pk": s("1")}, {"pk": n("x")}, {"pk": n("1" * 39)}, {"pk": n(1), "sk": n(1)}),
    (("pk = :p", {":p": n(1)}, None), ("pk = :p", {":p": n("100")}, None)),
)
BINARIES = Form(
    {
        "KeySchema": schema("pk", "sk"),
        "AttributeDefinitions": attributes(pk="B", sk="N", g="S", h="N"),
        "GlobalSecondaryIndexes": [index("ByG", "g", "h")],
        "BillingMode": "PROVISIONED",
        "ProvisionedThroughput": {"ReadCapacityUnits": 10_000, "WriteCapacityUnits": 10_000},
    },
    pairs([b(b"a"), b(b"\xff\x00")], [n(1), n(2), n(-10), n("0.5")]),
    "sk",
    ({}, {"pk": b(b""), "sk": n(1)}, {"pk": b(b"a"), "sk": s("1")}, {"pk": {"B": "!"}, "sk": n(1)}),
    (
        ("pk = :p AND sk <= :s", {":p": b(b"a"), ":s": n("0.5")}, None),
        ("pk = :p AND sk BETWEEN :s AND :t", {":p": b(b"\xff\x00"), ":s": n(-10), ":t": n(1)}, None),
        ("g = :g AND h > :x", {":g": s("g"), ":x": n(0)}, "ByG"),
    ),
)
BINARIES.create["GlobalSecondaryIndexes"][0]["ProvisionedThroughput"] = BINARIES.create["ProvisionedThroughput"]
SEVERAL = Form(
    {
        "KeySchema": schema("pk", "sk"),
        "AttributeDefinitions": attributes(pk="S", sk="S", g="S", h="N", l="S", m="S"),
        "GlobalSecondaryIndexes": [index("ByAll", "g", "m", "h", "l", partition=2), index("Two", "l", "h", "sk")],
        **ON_DEMAND,
    },
    pairs([s("a"), s("b")], [s("1"), s("2")]),
    "sk",
    WRONG,
    (
        ("g = :g AND m = :m", {":g": s("g"), ":m": s("m")}, "ByAll"),
        ("g = :g AND m = :m AND h = :h AND l > :l", {":g": s("g"), ":m": s("m"), ":h": n(2), ":l": s("l1")}, "ByAll"),
        ("g = :g AND m = :m AND h >= :h", {":g": s("gg"), ":m": s("m"), ":h": n(0)}, "ByAll"),
        ("g = :g", {":g": s("g")}, "ByAll"),
        ("g = :g AND m = :m AND l = :l", {":g": s("g"), ":m": s("m"), ":l": s("l1")}, "ByAll"),
        ("l = :l AND h = :h AND begins_with(sk, :s)", {":l": s("l2"), ":h": n(2), ":s": s("1")}, "Two"),
    ),
    ("g", "h", "l", "m"),
)
WRONG_CONDITIONS = (
    *("pk > :p", "pk = :p OR sk = :s", "pk = :p AND pk = :p", "begins_with(pk, :p)", ":p = pk", "x = :p", "pk"),
    *("pk = :p AND size(sk) = :s", "NOT pk = :p", "(pk = :p)", "(pk = :p) AND (sk = :s)", "pk = :p AND sk <> :s"),
    *("pk = :p AND sk IN (:s)", "pk = :p AND g = :g", ""),
)
FORMS = (TEXTS, TEXTS, NUMBERS, BINARIES, SEVERAL)


class Sequence:
    """A sequence of operations on one table."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self.chance = Chance(seed)
        self.name = f"t{seed % 1000:03}"
        self.form = FORMS[seed % len(FORMS)]
        self.chance.linked = self.form.linked
        self.where = {"TableName": self.name}
        self._last_keys: list[dict[str, Any]] = []
        self._tokens = 0

    def requests(self) -> Iterator[Request]:
        """Yield the CreateTable request and the steps."""
        yield "CreateTable", {**self.where, **self.form.create}
        for _ in range(STEPS):
            self.chance.faults_left = self.chance.one_in(3)
            name, params = self.step()
            params = {member: value for member, value in params.items() if value is not None}
            yield name, self.spoiled(params) if self.chance.errs(3) else params

    def spoiled(self, params: dict[str, Any]) -> dict[str, Any]:
        """Return the request with one member removed, changed or added."""
        chance = self.chance
        name = chance.pick(*params)
        match chance.below(4):
            case 0:
                return {member: value for member, value in params.items() if member != name}
            case 1:
                return {**params, name: chance.pick(1, "x", [], {}, True, None, -1, 1.5, [{}], {"x": 1})}
            case 2:
                return {**params, "TableName": chance.pick("nothing", "", "a", "x" * 256, "no spaces", 5)}
            case _:
                member = chance.pick(
                    "ReturnConsumedCapacity", "ReturnValues", "Select", "Limit", "IndexName", "Segment"
                )
                return {**params, member: chance.pick("x", "ALL", 0, -1, "ALL_OLD", "COUNT", "nothing")}

    # --- parts

    def key(self) -> dict[str, Any]:
        if self.chance.errs(6):
            wrong: dict[str, Any] = self.chance.pick(*self.form.wrong_keys)
            return wrong
        return dict(self.chance.pick(*self.form.keys))

    def keys(self, count: int) -> list[dict[str, Any]]:
        """Return keys of different items, sometimes with an invalid or a repeated key."""
        chosen: list[dict[str, Any]] = self.chance.random.sample(self.form.keys, min(count, len(self.form.keys)))
        if self.chance.errs(6):
            chosen[0] = self.chance.pick(*self.form.wrong_keys)
        elif self.chance.errs(6):
            chosen.append(chosen[0])
        return [dict(key) for key in chosen]

    def item(self, key: dict[str, Any] | None = None) -> dict[str, Any]:
        return {**self.chance.attributes(), **(self.key() if key is None else key)}

    def capacity(self) -> dict[str, Any]:
        return {"ReturnConsumedCapacity": self.chance.pick(None, "NONE", "TOTAL", "INDEXES")}

    def metrics(self) -> dict[str, Any]:
        return {"ReturnItemCollectionMetrics": self.chance.pick(None, None, "NONE", "SIZE")}

    def conditional(self) -> dict[str, Any]:
        if not self.chance.one_in(2):
            return {}
        given = Placeholders()
        text = self.chance.condition(given)
        on_failure = self.chance.pick(None, "NONE", "ALL_OLD")
        return {
            "ConditionExpression": text,
            "ReturnValuesOnConditionCheckFailure": on_failure,
            **self.chance.placed(given),
        }

    def projected(self) -> dict[str, Any]:
        if not self.chance.one_in(3):
            return {}
        given = Placeholders()
        text = self.chance.projection(given)
        return {"ProjectionExpression": text, **self.chance.placed(given)}

    def updated(self, *, conditional: bool) -> dict[str, Any]:
        given = Placeholders()
        text = self.chance.update(given)
        condition: dict[str, Any] = {}
        words = set(text.split())
        # If the item is missing, an update that only removes does nothing in DynamoDB; Local creates an item.
        takes = bool(words & {"REMOVE", "DELETE"}) and not words & {"SET", "ADD"}
        if takes and self.chance.one_in(2):
            condition = {"ConditionExpression": "attribute_exists(pk)"}
        else:
            if takes:
                text += f" {self.chance.pick('SET made =', 'ADD made')} {given.value({'N': '1'})}"
            if conditional and self.chance.one_in(3):
                condition = {"ConditionExpression": self.chance.condition(given)}
        return {"UpdateExpression": text, **condition, **self.chance.placed(given)}

    # --- steps

    def step(self) -> Request:
        make = self.chance.pick(
            *([self.put, self.update, self.query] * 4 + [self.delete, self.get, self.scan, self.transact_write] * 2),
            *(self.batch_write, self.batch_get, self.transact_get),
        )
        made: Request = make()
        return made

    def put(self) -> Request:
        returns = {
            "ReturnValues": self.chance.pick(None, "NONE", "ALL_OLD", "ALL_OLD", *(["ALL_NEW"] * self.chance.errs(10)))
        }
        members = {**self.where, "Item": self.item(), **self.conditional(), **returns}
        return "PutItem", {**members, **self.capacity(), **self.metrics()}

    def update(self) -> Request:
        update = self.updated(conditional=True)
        returns = ["NONE", "ALL_OLD", "ALL_NEW"]
        if "." not in update["UpdateExpression"] and "[" not in update["UpdateExpression"]:
            # For a nested path, Local returns the whole attribute, DynamoDB only what is on the path.
            returns += ["UPDATED_OLD", "UPDATED_NEW"]
        members = {**self.where, "Key": self.key(), **update, "ReturnValues": self.chance.pick(None, *returns)}
        return "UpdateItem", {**members, **self.capacity(), **self.metrics()}

    def delete(self) -> Request:
        returns = {"ReturnValues": self.chance.pick(None, "NONE", "ALL_OLD")}
        members = {**self.where, "Key": self.key(), **self.conditional(), **returns}
        return "DeleteItem", {**members, **self.capacity(), **self.metrics()}

    def get(self) -> Request:
        consistent = {"ConsistentRead": self.chance.pick(None, True, False)}
        return "GetItem", {**self.where, "Key": self.key(), **consistent, **self.projected(), **self.capacity()}

    def paged(self, index: str | None) -> dict[str, Any]:
        """Return request members for Query and Scan. Pages of an index have no limit, because DynamoDB Local's order of
        equal keys is undefined.
        """
        chance = self.chance
        given = Placeholders()
        members: dict[str, Any] = {"IndexName": index, **self.capacity()}
        if chance.one_in(3):
            members["FilterExpression"] = chance.condition(given, 1)
        if chance.one_in(4):
            members["ProjectionExpression"] = chance.projection(given)
        if chance.one_in(4):
            members["Select"] = "COUNT" if "ProjectionExpression" not in members else "SPECIFIC_ATTRIBUTES"
            if chance.errs(2):
                members["Select"] = chance.pick(
                    "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES", "SPECIFIC_ATTRIBUTES", "COUNT"
                )
        if index is None or not self.is_global(index):
            members["ConsistentRead"] = chance.pick(None, True, False)
        elif chance.errs(6):
            members["ConsistentRead"] = True
        if index is None:
            members["Limit"] = chance.pick(None, 1, 2, 50)
        return {**members, **given.members()}

    def is_global(self, name: str) -> bool:
        return any(each["IndexName"] == name for each in self.form.create.get("GlobalSecondaryIndexes", ()))

    def query(self) -> Request:
        condition, values, index = self.chance.pick(*self.form.questions)
        if self.chance.errs(8):
            index = self.chance.pick(None, "nothing", *(question[2] for question in self.form.questions))
        if self.chance.errs(4):
            condition = self.chance.pick(*WRONG_CONDITIONS)
        values = {name: value for name, value in values.items() if re.search(f"{name}\\b", condition)}
        paged = self.paged(index)
        paged["ExpressionAttributeValues"] = {**values, **paged.get("ExpressionAttributeValues", {})}
        forward = {"ScanIndexForward": self.chance.pick(None, True, False)}
        start = {"ExclusiveStartKey": self.key()} if index is None and self.chance.errs(3) else {}
        return "Query", {**self.where, "KeyConditionExpression": condition, **forward, **start, **paged}

    def scan(self) -> Request:
        indexes = [question[2] for question in self.form.questions]
        paged = self.paged(self.chance.pick(None, None, *indexes))
        if paged["IndexName"] is None:
            paged["Limit"] = None  # the order of partitions is undefined
        segment = (
            {"Segment": self.chance.pick(0, 2, 3), "TotalSegments": self.chance.pick(1, 1, 2)}
            if self.chance.errs(5)
            else {}
        )
        if segment == {"Segment": 0, "TotalSegments": 2}:
            segment = {"Segment": 0}
        return "Scan", {**self.where, **paged, **segment}

    def batch_write(self) -> Request:
        actions: list[dict[str, Any]] = []
        for key in self.keys(1 + self.chance.below(4)):
            action = self.chance.pick({"PutRequest": {"Item": self.item(key)}}, {"DeleteRequest": {"Key": key}})
            actions.append(action if not self.chance.errs(10) else self.chance.pick({}, {"PutRequest": {}}, {"X": 1}))
        name = self.name if not self.chance.errs(15) else "nothing"
        return "BatchWriteItem", {"RequestItems": {name: actions}, **self.capacity(), **self.metrics()}

    def batch_get(self) -> Request:
        keys = self.keys(1 + self.chance.below(4))
        name = self.name if not self.chance.errs(15) else "nothing"
        consistent = {"ConsistentRead": True} if self.chance.one_in(2) else {}
        return "BatchGetItem", {
            "RequestItems": {name: {"Keys": keys, **consistent, **self.projected()}},
            **self.capacity(),
        }

    def action(self, key: dict[str, Any]) -> dict[str, Any]:
        """Return an action of a transaction."""
        where = self.where if not self.chance.errs(20) else {"TableName": "nothing"}
        match self.chance.below(4):
            case 0:
                return {"Put": {**where, "Item": self.item(key), **self.conditional()}}
            case 1:
                update = self.updated(conditional=True)
                return {"Update": {**where, "Key": key, **update}}
            case 2:
                return {"Delete": {**where, "Key": key, **self.conditional()}}
            case _:
                condition = self.conditional() or {"ConditionExpression": "attribute_exists(pk)"}
                return {"ConditionCheck": {**where, "Key": key, **condition}}

    def transact_write(self) -> Request:
        actions = [self.action(key) for key in self.keys(1 + self.chance.below(3))]
        for action in actions:
            for members in action.values():
                for name in [name for name, value in members.items() if value is None]:
                    del members[name]
        if self.chance.errs(8):
            actions.append(self.chance.pick({}, actions[0]))
        token = {}
        if self.chance.one_in(4):
            self._tokens += not self.chance.one_in(3)
            token = {"ClientRequestToken": f"{_RUN}-{self._seed}-{self._tokens}"}
        return "TransactWriteItems", {"TransactItems": actions, **token, **self.capacity(), **self.metrics()}

    def transact_get(self) -> Request:
        gets = [{"Get": {**self.where, "Key": key, **self.projected()}} for key in self.keys(1 + self.chance.below(3))]
        return "TransactGetItems", {"TransactItems": gets, **self.capacity()}
