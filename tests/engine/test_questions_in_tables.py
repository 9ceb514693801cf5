"""What requests ask, in tables of cases: older parameters, positions and projections of pages, keys in statements, new
definitions of tables.
"""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

from keyplan.engine import joining, legacy, reading, requests, resources, schema, statement_keys
from keyplan.engine.keys import key_of_item, key_of_request
from keyplan.engine.reading import Question, Target
from keyplan.engine.storage.layouts import Bounds
from keyplan.engine.tables import Index, KeyAttribute
from keyplan.errors import DynamoDBError
from keyplan.expressions import ExpressionFault, Placeholders, bind_condition, bind_projection
from keyplan.partiql import parse
from keyplan.partiql.lowering import Lowering
from keyplan.values import ValueFault, key_text
from tests.agreed import assert_agreed
from tests.engine.support import n, s


def said(call: Any, *given: Any, **more: Any) -> str:
    try:
        return f"{call(*given, **more)}"
    except DynamoDBError as error:
        return f"{error.type}: {error.message}"
    except (ExpressionFault, ValueFault) as error:
        return f"{type(error).__name__}: {error.message}"


ITEMS: tuple[dict[str, Any], ...] = (
    {},
    {"a": s("x")},
    {"a": s("y"), "b": n(5)},
    {"a": n(5)},
    {"a": {"SS": ["x", "z"]}},
    {"a": {"L": [s("x")]}, "b": s("xy")},
    {"b": n(6)},
)


def judged(condition: Any) -> str:
    if condition is None:
        return "None"
    return "".join("+" if condition.matches(item) else "-" for item in ITEMS) + f" {sorted(condition.attributes)}"


def test_older_conditions() -> None:
    x, y, five, set_ = s("x"), s("y"), n(5), {"SS": ["x"]}
    conditions: list[dict[str, Any]] = [{}]
    conditions += [{"Exists": exists} for exists in (True, False)]
    conditions += [{"Value": x}, {"Value": x, "Exists": True}, {"Value": x, "Exists": False}]
    conditions += [{"Value": x, "AttributeValueList": [x]}, {"AttributeValueList": [x]}]
    conditions += [{"ComparisonOperator": "EQ"}, {"ComparisonOperator": "EQ", "Value": x, "Exists": True}]
    for operator in (
        "EQ",
        "NE",
        "LE",
        "LT",
        "GE",
        "GT",
        "IN",
        "BETWEEN",
        "NULL",
        "NOT_NULL",
        "CONTAINS",
        "NOT_CONTAINS",
    ):
        for values in ([], [x], [five], [set_], [x, y], [y, x], [x, x], [x, five], [x, y, x]):
            conditions.append({"ComparisonOperator": operator, "AttributeValueList": values})
    conditions += [
        {"ComparisonOperator": "BEGINS_WITH", "AttributeValueList": [value]} for value in (x, five, {"B": "eA=="})
    ]
    conditions += [{"ComparisonOperator": operator, "Value": x} for operator in ("EQ", "NULL", "BETWEEN")]
    conditions += [{"ComparisonOperator": "NULL"}, {"ComparisonOperator": "NOT_NULL"}]
    lines = []
    for condition in conditions:
        told = said(lambda condition=condition: judged(legacy.expected({"Expected": {"a": condition}})))
        lines.append(f"{json.dumps(condition)}: {told}")
        if condition.get("ComparisonOperator") and "Value" not in condition:
            as_filter = said(lambda condition=condition: judged(legacy.filtered({"Q": {"a": condition}}, "Q")))
            assert as_filter == told or "must be used with" in told, condition
    one, other = {"a": {"Value": x}}, {"b": {"Value": five}}
    for given in ({}, one, {**one, **other}):
        for joined in (None, "AND", "OR"):
            request: Any = {"Expected": given, "ConditionalOperator": joined}
            lines.append(f"{[*given]} {joined}: {said(lambda request=request: judged(legacy.expected(request)))}")
    filters = {name: {"ComparisonOperator": "EQ", "AttributeValueList": [x]} for name in "ab"}
    for given_ in ({}, {"a": filters["a"]}, filters):
        for joined in (None, "OR"):
            request = {"Q": given_, "ConditionalOperator": joined}
            lines.append(f"{[*given_]} {joined}: {said(lambda request=request: judged(legacy.filtered(request, 'Q')))}")
    for wanted in ({}, {"a": filters["a"]}, filters):
        keyed = {"KeyConditions": wanted}
        told = said(lambda keyed=keyed: judged(legacy.key_conditions(keyed).bound("KeyConditionExpression")))
        lines.append(f"{[*wanted]}: {told}")
    for operator in ("EQ", "NE", "BETWEEN", "IN", "BEGINS_WITH", "NULL"):
        keyed = {"KeyConditions": {"a": filters["a"], "b": {"ComparisonOperator": operator}}}
        lines.append(f"{operator}: {said(legacy.check_indexable, keyed)}")
    lines.append(said(lambda: legacy.expected({"Expected": {"": {"Value": x}}})))
    assert_agreed("\n".join(lines))


def test_older_updates() -> None:
    lines = [f"{legacy.attribute_updates({})} {legacy.attribute_updates({'AttributeUpdates': {}})}"]
    values: tuple[dict[str, Any] | None, ...] = (
        *(
            None,
            s("x"),
            n(5),
            {"SS": ["x"]},
            {"NS": ["1"]},
            {"BS": ["eA=="]},
            {"L": [s("z")]},
            {"BOOL": True},
            {"M": {}},
        ),
    )
    for action in (None, "PUT", "ADD", "DELETE"):
        for value in values:
            update = {"Action": action, "Value": value}

            def updated(update: Any = update) -> str:
                bound = legacy.attribute_updates({"AttributeUpdates": {"a": update}})
                assert bound is not None
                return "; ".join(said(bound.apply, dict(item)) for item in ITEMS[:6])

            lines.append(f"{action} {value}: {said(updated)}")
    assert_agreed("\n".join(lines))


# --- pages --------------------------------------------------------------------------------------------------


PK, SK, G, H = (KeyAttribute(name, kind) for name, kind in (("pk", "S"), ("sk", "N"), ("g", "S"), ("h", "B")))  # type: ignore[arg-type]


def index_of(*, is_local: bool = False, projected: tuple[str, ...] = ()) -> Index:
    partition, sort = ((PK,), (H,)) if is_local else ((G,), (H,))
    names = {each.name: None for each in Index.__dataclass_fields__.values()}
    given = {"name": "ByG", "number": 1, "partition": partition, "sort": sort, "is_local": is_local}
    given |= {"projected": frozenset(projected), "projection": "INCLUDE" if projected else "ALL"}
    return Index(**{name: given.get(name) for name in names})  # type: ignore[arg-type]


def targets() -> dict[str, Target]:
    table: Any = SimpleNamespace(name="orders", partition=PK, sort=SK, keys=(PK, SK), key_names={"pk", "sk"})
    flat: Any = SimpleNamespace(name="orders", partition=PK, sort=None, keys=(PK,), key_names={"pk"})
    held = ("pk", "sk", "g", "h", "x")
    return {
        "table": Target(table),
        "flat": Target(flat),
        "global": Target(table, index_of()),
        "flat global": Target(flat, index_of()),
        "global of some": Target(table, index_of(projected=held)),
        "local of some": Target(table, index_of(is_local=True, projected=held)),
    }


def test_what_a_page_may_select() -> None:
    lines = []
    for name, target in targets().items():
        for select in (None, "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES", "SPECIFIC_ATTRIBUTES", "COUNT"):
            for member in (None, "ProjectionExpression", "AttributesToGet"):
                request = {"Select": select} | ({member: ["x"]} if member else {})
                told = said(reading.check_select, target, request)
                fetched = []
                for path in (None, "x", "y, z, x"):
                    projection = None if path is None else bind_projection(path, Placeholders(None))
                    for text in (None, "attribute_exists(x)", "attribute_exists(y) AND attribute_exists(z)"):
                        filter_ = None if text is None else bind_condition(text, Placeholders(None))
                        fetched.append(said(reading.fetches_items, target, request, filter_, projection))
                lines.append(f"{name} {select} {member}: {told}")
                if member is None:
                    lines += [f"  {each}" for each in dict.fromkeys(fetched)]
                    lines.append(
                        "  "
                        + "".join("fetches "[each == "False"] if each in {"True", "False"} else "-" for each in fetched)
                    )
    assert_agreed("\n".join(lines))


STARTS: tuple[dict[str, Any] | None, ...] = (
    None,
    {},
    {"pk": s("a")},
    {"pk": s("a"), "sk": n(5)},
    {"pk": n(5), "sk": n(5)},
    {"pk": s("a"), "sk": s("5")},
    {"pk": s(""), "sk": n(5)},
    {"pk": s("a"), "x": n(5)},
    {"pk": s("a"), "sk": n(5), "g": s("g")},
    {"pk": s("a"), "sk": n(5), "g": s("g"), "h": {"B": "eA=="}},
    {"pk": s("a"), "sk": n(5), "g": s("g"), "h": {"B": ""}},
    {"pk": s("a"), "sk": n(5), "g": s("g"), "h": s("h")},
    {"pk": s("a"), "sk": n(5), "g": n(5), "h": {"B": "eA=="}},
    {"pk": s("a"), "sk": n(5), "g": s(""), "h": {"B": "eA=="}},
    {"pk": s("a"), "g": s("g"), "h": {"B": "eA=="}},
    {"pk": s("a"), "sk": n(5), "h": {"B": "eA=="}},
    {"pk": s("a"), "sk": n(5), "x": s("g"), "h": {"B": "eA=="}},
)


def test_where_a_page_may_begin() -> None:
    lines = []
    for name, target in targets().items():
        for start in STARTS:
            told = said(reading.start_of, target, start)
            partition = said(reading.check_start_partition, target, start)
            lines.append(
                f"{name} {json.dumps(start)}: {told}, {partition}, {said(reading.check_own_start, target, start)}"
            )
    wrong: tuple[dict[str, Any], ...] = (
        s("a"),
        {},
        {"X": 1},
        {"NULL": False},
        {"N": "x"},
        {"SS": []},
        {"BS": ["?"]},
        {"SS": ["a", "a"]},
        {"S": "a", "N": "1"},
    )
    for value in wrong:
        lines.append(f"{value}: {said(reading.checked_start, {'ExclusiveStartKey': {'pk': value}})}")  # noqa: PERF401
    lines.append(f"{reading.checked_start({})}")
    assert_agreed("\n".join(lines))


def test_what_ends_with_a_page() -> None:
    item = {"pk": s("a"), "sk": n(5), "g": s("g"), "h": {"B": "eA=="}}
    key = key_text(n(5))
    lines = []
    for name, target in targets().items():
        for forward in (True, False):
            for low in (None, (">=", key), (">", key), (">=", b"other")):
                for high in (None, ("<=", key), ("<", key)):
                    bounds = Bounds(("a",), (), low, high, forward=forward)
                    question = Question(target, bounds, None, None, fetches=False)
                    is_last = reading._is_last_key(question, item)
                    if is_last:
                        lines.append(f"{name} {forward} {low} {high}: the last")
        for partition in ((), ("a",)):
            question = Question(target, Bounds(partition), None, None, fetches=False)
            lines.append(f"{name} {partition}: {reading._is_whole_key(question)} {reading._is_whole(question)}")
        fetching = Question(target, Bounds(("a",)), None, None, fetches=True)
        counted = Question(target, Bounds(("a",)), bind_condition("a = b", Placeholders(None)), None, fetches=True)
        shown = Question(target, Bounds(("a",)), None, bind_projection("x", Placeholders(None)), fetches=True)
        lines.append(f"{name}: {[reading._is_whole(each) for each in (fetching, counted, shown)]}")
        lines.append(f"{name}: {said(reading._position_of, target, item)}")
    assert_agreed("\n".join(lines))


def test_placeholders_that_are_needed() -> None:
    names, values = {"ExpressionAttributeNames": {"#a": "a"}}, {"ExpressionAttributeValues": {":a": s("a")}}
    lines = []
    for given in ({}, names, values, {**names, **values}, {"ExpressionAttributeNames": None}):
        for more in ({}, {"Filter": "a = b"}, {"Projection": "a"}):
            for expressions in ((), ("Filter",), ("Filter", "Key")):
                for projection in (None, "Projection"):
                    request: dict[str, Any] = {**given, **more}
                    told = said(requests.check_needed, request, expressions, projection)
                    is_given = said(
                        lambda *of: requests.placeholders(*of) is not None, request, expressions, projection
                    )
                    lines.append(f"{[*request]} {expressions} {projection}: {told}, {is_given}")
    for wanted in (None, "NONE", "ALL_OLD", "ALL_NEW"):
        lines.append(f"{wanted}: {said(requests.old_or_none, {'ReturnValues': wanted})}")  # noqa: PERF401
    for level in (None, "NONE", "TOTAL", "INDEXES"):
        lines.append(f"{level}: {requests.wants_capacity({'ReturnConsumedCapacity': level})}")  # noqa: PERF401
    for wanted in (None, ["a", "b"], ["a", "b", "a"]):  # type: ignore[assignment]
        told = said(
            lambda wanted=wanted: getattr(requests.attributes_to_get({"AttributesToGet": wanted}), "paths", None)
        )
        lines.append(f"{wanted}: {told.count('a')} {told if ':' in told else ''}")
    arn = "arn:aws:dynamodb:eu-west-1:000000000000:table/orders"
    for each in (
        arn,
        f"{arn}/stream/x",
        f"{arn}/stream/x/y",
        f"{arn}/index/ByG",
        f"{arn}/index/ByG/x",
        "orders",
        "arn:aws:s3:::x",
    ):
        lines.append(f"{each[40:]}: {said(resources.resource_of, each)}")  # noqa: PERF401
    for each in (f"{arn}/export/0-a", f"{arn}/import/0-a", f"{arn}/export/x", arn):
        lines.append(f"{each[40:]}: {said(resources.check_job_arn, each, 'export', 'Export')}")  # noqa: PERF401
    assert_agreed("\n".join(lines))


# --- keys ---------------------------------------------------------------------------------------------------


def test_keys_of_requests_and_items() -> None:
    keys: tuple[dict[str, Any], ...] = (
        {},
        {"pk": s("a")},
        {"pk": s("a"), "sk": n(5)},
        {"pk": s("a"), "sk": n(5), "x": n(5)},
        {"pk": s("a"), "x": n(5)},
        {"pk": n(5), "sk": n(5)},
        {"pk": s("a"), "sk": s("b")},
        {"pk": s("")},
        {"pk": s(""), "sk": n(5)},
        {"sk": n(5)},
        {"pk": s("x" * 2048), "sk": n(5)},
        {"pk": s("x" * 2049), "sk": n(5)},
        {"pk": s("é" * 1024), "sk": n(5)},
        {"pk": s("é" * 1025), "sk": n(5)},
        {"pk": s("x" * 2048)},
        {"pk": s("x" * 2049)},
        {"pk": {"S": "a", "N": "5"}},
    )
    lines = []
    text: Any = SimpleNamespace(
        name="t", partition=PK, sort=KeyAttribute("sk", "S"), keys=(PK, KeyAttribute("sk", "S"))
    )
    for name, table in {"table": targets()["table"].table, "flat": targets()["flat"].table, "texts": text}.items():
        for key in keys:
            told = [said(call, table, dict(key)) for call in (key_of_request, key_of_item)]
            lines.append(f"{name} {json.dumps(key)[:40]}: {[each[:150] for each in told]}")
    for length in (1024, 1025):
        for sign, size in (("x", 1), ("é", 2)):
            key = {"pk": s("a"), "sk": s(sign * (length // size) + "x" * (length % size))}
            lines.append(
                f"{length} {sign}: {[said(call, text, dict(key))[:99] for call in (key_of_request, key_of_item)]}"
            )
    assert_agreed("\n".join(lines))


WHERES = (
    "pk = 'a'",
    "'a' = pk",
    "pk = 'a' AND sk = 5",
    "pk = 'a' AND sk < 5",
    "pk = 'a' AND 5 < sk",
    "pk = 'a' AND 5 >= sk",
    "pk = 'a' AND sk BETWEEN 1 AND 5",
    "pk = 'a' AND sk IN [5, 3]",
    "pk IN ['b', 'a']",
    "pk IN ['a', 'b'] AND sk IN [1, 2]",
    "pk IN ['a']",
    "pk = 'a' OR pk = 'b'",
    "pk = 'a' OR pk = 'a'",
    "pk = 'a' AND (sk = 1 OR sk = 2)",
    "pk = 'a' AND x = 5",
    "pk = 'a' AND (sk = 1 OR x = 2)",
    "pk = 'a' AND (x = 1 OR x = 2)",
    "pk = 'a' AND sk <> 5",
    "pk = 'a' AND NOT sk = 5",
    "(pk = 'a' AND sk < 5) OR (pk = 'a' AND sk > 4)",
    "(pk = 'a' AND sk < 5) OR (pk = 'a' AND sk >= 5)",
    "(pk = 'a' AND sk <= 5) OR (pk = 'a' AND sk > 5)",
    "(pk = 'a' AND sk <= 5) OR (pk = 'a' AND sk >= 5)",
    "(pk = 'a' AND sk = 5) OR (pk = 'a' AND sk > 5)",
    "(pk = 'a' AND sk = 5) OR (pk = 'a' AND sk = 5)",
    "(pk = 'a' AND sk > 5) OR (pk = 'a' AND sk = 3)",
    "(pk = 'a' AND sk <> 5) OR (pk = 'a' AND sk > 3)",
    "(pk = 'a' AND sk > 3) OR (pk = 'a' AND NOT sk = 5)",
    "(pk = 'b' AND sk > 3) OR pk = 'a'",
    "pk > 'a'",
    "sk = 5",
    "pk = 5",
    "pk = 'a' AND sk = 'x'",
    "pk IN ['a', 5]",
    "pk = 'a' AND sk IN [1, 'x']",
    "pk = ''",
    "pk = 'a' AND sk > 1 AND sk < 5",
    "pk = 'a' AND sk > 1 AND sk > 3",
    "pk = 'a' AND sk = 1 AND sk = 3",
    "pk = 'a' AND sk = 1 AND sk > 0",
    "pk = 'a' AND pk = 'b'",
    "pk = 'a' AND sk > 1 AND sk = 3",
    "pk = sk",
    "pk = 'a' OR x = 5",
    "x.pk = 'a'",
    "pk = 'a' AND begins_with(sk, 'x')",
    "begins_with(pk, 'a')",
    "pk = 'a' AND attribute_exists(x)",
    "pk = 'a' AND (sk < 2 OR sk > 5) AND (sk < 1 OR sk > 6)",
)


def test_partitions_of_statements() -> None:
    lines = []
    for where in WHERES:
        statement: Any = parse(f"SELECT * FROM orders WHERE {where}")
        values = statement_keys.key_values_of(statement.where)
        lines.append(f"--- {where}: {values and values.filled([])}")
        for name in ("table", "flat"):
            lowering = Lowering(())

            def told(name: str = name, lowering: Any = lowering, statement: Any = statement) -> str:
                condition = lowering.condition(statement.where)
                result = statement_keys.partitions_of(targets()[name], lowering, condition)
                if result is None:
                    return "all"
                ways = [
                    result.bounds(forward=way, partitions_forward=other)
                    for way, other in ((True, True), (False, True), (True, False))
                ]
                short = [
                    [(*each.partition, *each.equal, each.low, each.high, each.forward) for each in way] for way in ways
                ]
                return f"{result.is_single} {result.says_all} {short}"

            lines.append(f"{name}: {said(told)}")
    for count in (50, 51):
        statement = parse(f"SELECT * FROM orders WHERE pk IN [{', '.join(map(repr, map(str, range(count))))}]")
        where = statement.where

        def read(where: Any = where) -> int:
            lowering = Lowering(())
            result = statement_keys.partitions_of(targets()["table"], lowering, lowering.condition(where))
            return 0 if result is None else len(result.ranges)

        lines.append(f"{count}: {said(read)}")
    assert_agreed("\n".join(lines))


# --- definitions --------------------------------------------------------------------------------------------


def test_new_definitions() -> None:
    plain: dict[str, Any] = {
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        "BillingMode": "PAY_PER_REQUEST",
    }
    two = [{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "g")]
    by_g = {
        "IndexName": "ByG",
        "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "ALL"},
    }
    by_v = {
        "IndexName": "ByV",
        "VectorAttribute": {"AttributeName": "v"},
        "Dimensions": 2,
        "Projection": {"ProjectionType": "ALL"},
    }
    units = {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}
    mores: tuple[dict[str, Any], ...] = (
        {},
        {"BillingMode": None},
        {"BillingMode": None, "ProvisionedThroughput": units},
        {"ProvisionedThroughput": units},
        {"AttributeDefinitions": []},
        {"AttributeDefinitions": two},
        {"GlobalSecondaryIndexes": []},
        {"VectorIndexes": []},
        {"LocalSecondaryIndexes": []},
        {"AttributeDefinitions": two, "GlobalSecondaryIndexes": [by_g]},
        {"VectorIndexes": [by_v]},
        {"AttributeDefinitions": two, "GlobalSecondaryIndexes": [by_g], "VectorIndexes": [by_v]},
        {
            "AttributeDefinitions": two,
            "GlobalSecondaryIndexes": [by_g],
            "BillingMode": None,
            "ProvisionedThroughput": units,
        },
        {"DeletionProtectionEnabled": True},
        {"Tags": [{"Key": "a", "Value": "b"}]},
        {"WarmThroughput": {"ReadUnitsPerSecond": 13_000}},
        {"OnDemandThroughput": {"MaxReadRequestUnits": 5}},
        {"OnDemandThroughput": {"MaxReadRequestUnits": -1}},
        {"StreamSpecification": {"StreamEnabled": False}},
        {"StreamSpecification": {"StreamEnabled": True}},
        {"StreamSpecification": {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}},
        {"StreamSpecification": {"StreamEnabled": False, "StreamViewType": "KEYS_ONLY"}},
        {"TableClass": "STANDARD"},
        {"KeySchema": [*plain["KeySchema"], {"AttributeName": "sk", "KeyType": "RANGE"}]},
    )
    lines = [f"{json.dumps(more)}: {said(schema.new_definition, {**plain, **more}, 5.0)}" for more in mores]
    for before in ({}, {"SSESpecification": {"Enabled": True}}, {"SSESpecification": {"Enabled": False}}):
        for wanted in (
            *(
                {},
                {"Enabled": True},
                {"Enabled": False},
                {"SSEType": "KMS"},
                {"SSEType": "AES256"},
                {"KMSMasterKeyId": "a"},
            ),
            *({"Enabled": False, "SSEType": "KMS"}, {"Enabled": False, "KMSMasterKeyId": "a"}),
            {"SSEType": "KMS", "KMSMasterKeyId": "a"},
        ):
            for updates in (False, True):
                definition: dict[str, Any] = dict(before)
                told = said(schema.keep_encryption, definition, {"SSESpecification": wanted}, updates=updates)
                lines.append(f"{before} {wanted} {updates}: {told} {definition}")
    assert_agreed("\n".join(lines))


def test_what_is_news_to_a_replica() -> None:
    old, same, new = ((moment, "eu-west-1") for moment in (1, 2, 3))
    table: Any = SimpleNamespace(stored=SimpleNamespace(layout=SimpleNamespace(id=1)))
    for known, version, is_there, expected in (
        (None, None, False, True),
        (None, None, True, False),
        (None, new, False, True),
        (same, None, False, False),
        (same, old, False, False),
        (same, same, False, True),
        (same, new, False, True),
        (same, new, True, False),
    ):
        replicas = SimpleNamespace(version=lambda *_, known=known: known)
        writer: Any = SimpleNamespace(replicas=replicas, find=lambda *_, is_there=is_there: (1,) if is_there else None)
        assert joining._is_news(writer, table, ("a", "b"), version) is expected
