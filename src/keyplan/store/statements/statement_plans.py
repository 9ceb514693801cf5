"""Plans of PartiQL statements: pages to read, keys to get, writes to perform."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from keyplan.dynamodb.expressions import (
    BoundCondition,
    BoundUpdate,
    ExpressionFault,
    KeyTerm,
    bind_condition,
    bind_paths,
    bind_update,
    tree,
)
from keyplan.dynamodb.limits import NAME_PATTERN, TABLE_NAME_MAX, TABLE_NAME_MIN
from keyplan.dynamodb.partiql import (
    Delete,
    Exists,
    Insert,
    Lowering,
    Select,
    Statement,
    StatementFault,
    Template,
    Update,
    parse,
)
from keyplan.dynamodb.partiql.syntax import Node, Returning
from keyplan.dynamodb.partiql.syntax import Path as WrittenPath
from keyplan.dynamodb.service_errors import ValidationException, one_or_more
from keyplan.dynamodb.values import AttributeValue, ValueFault, check_value, same
from keyplan.store.control_plane.schema import hashed_order
from keyplan.store.database import Database
from keyplan.store.items.item_writes import Outcome
from keyplan.store.items.write_outcome import Write, prepare_put
from keyplan.store.queries import Item, Projection, Target
from keyplan.store.requests import write_preparation as prepare
from keyplan.store.statements.statement_keys import KEY_TYPE, partitions_of, term_of
from keyplan.store.storage.key_layouts import Bounds
from keyplan.store.tables.item_keys import Key, SchemaFault, check_names, check_not_empty, key_of_item, key_of_request
from keyplan.store.tables.table import Table
from keyplan.store.work_budget import spend

_LOG = logging.getLogger("keyplan.statements")
_LOGGED_MAX = 1024
_KEPT_MAX = 1024
_READ_PER_CHARACTER = 20
"""Bytes of items that can be read in the time of parsing one character."""
_FROM_PARTS_MAX = 2
_NAMES = re.compile(NAME_PATTERN)
_NAME = "Table name should be within the length [3, 255] and only contain 'a-z', 'A-Z', '0-9', '-', '_', '.'."
_MANY_KEYS = (
    "PartiQL statements cannot be executed on tables with multi-attribute HASH keys or multi-attribute RANGE keys."
)
NOT_FULL_KEY = "Where clause does not contain a mandatory equality on all key attributes"


class UnkeyedFault(StatementFault):
    """A statement that must change one item but doesn't identify it."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The parsed text of a statement, for any parameters."""

    template: Template
    shown: Shown | None


@dataclass(frozen=True, slots=True)
class Given:
    """A statement: its tree, its normalized parameters, and its cached plan."""

    statement: Statement
    parameters: tuple[AttributeValue, ...]
    plan: Plan | None = None

    def lowering(self) -> Lowering:
        return Lowering(self.parameters) if self.plan is None else self.plan.template.filled(self.parameters)

    @property
    def reads(self) -> bool:
        return isinstance(self.statement, Select)

    @property
    def is_check(self) -> bool:
        return isinstance(self.statement, Exists)

    @property
    def table_name(self) -> str:
        select = self.statement.select if isinstance(self.statement, Exists) else self.statement
        return select.table[0]


@dataclass(frozen=True, slots=True)
class Shown:
    """The projection of a SELECT: the value at a path gets the name of the path's last element."""

    paths: tuple[tuple[str, tuple[str | int, ...]], ...]

    def project(self, item: Item) -> Item:
        """The projected parts of an item; missing parts are omitted."""
        shown: Item = {}
        for name, steps in self.paths:
            value = _at(item, steps)
            if value is not None:
                shown[name] = value
        return shown


@dataclass(frozen=True, slots=True)
class Read:
    """A SELECT: the ranges that it reads in order, its filter and its projection."""

    target: Target
    bounds: tuple[Bounds, ...]
    filter: BoundCondition | None
    projection: Projection | None
    fetches: bool
    key_values: Mapping[str, AttributeValue] | None
    """The key attributes, if the condition fixes all of them."""
    is_of_key: bool = False

    def key(self) -> Key | None:
        return None if self.key_values is None else key_of_request(self.target.table, dict(self.key_values))

    def shown(self, item: Item) -> Item | None:
        """The projected item; None if the condition is false."""
        if self.filter is not None and not self.filter.matches(item):
            return None
        return item if self.projection is None else self.projection.project(item)


@dataclass(frozen=True, slots=True)
class Written:
    """A statement that writes, and the part of its outcome that it returns."""

    write: Write
    returned: Callable[[Outcome], Item | None]


def given_of(text: str, parameters: Sequence[AttributeValue] | None) -> Given:
    """The tree of a statement, with its parameters. Raises StatementFault or ValueFault."""
    spend(len(text) * _READ_PER_CHARACTER)
    values = tuple([check_value(value) for value in parameters or ()])
    statement = parse(text)
    if len(values) != statement.parameters:
        raise StatementFault("Number of parameters in request and statement don't match.")
    return Given(statement, values, plan_of(text))


@lru_cache(_KEPT_MAX)
def plan_of(text: str) -> Plan | None:
    """The parsed text of a statement; None if it depends on its parameters or is rejected."""
    try:
        statement = parse(text)
        if isinstance(statement, Insert):
            return None
        select = statement.select if isinstance(statement, Exists) else statement
        changes = select.changes if isinstance(select, Update) else ()
        paths = select.projection if isinstance(select, Select) else ()
        return Plan(Template(select.where, changes, paths), shown_of(Lowering(()), paths))
    except (ExpressionFault, ValueFault):
        return None


def returning_of(given: Given) -> Returning | None:
    return given.statement.returning if isinstance(given.statement, (Update, Delete)) else None


def _at(item: Item, steps: tuple[str | int, ...]) -> AttributeValue | None:
    value: Any = {"M": item}
    for step in steps:
        if isinstance(step, int):
            members = value.get("L")
            value = members[step] if members is not None and step < len(members) else None
        else:
            value = value.get("M", {}).get(step)
        if value is None:
            return None
    attribute_value: AttributeValue = value
    return attribute_value


# --- reads --------------------------------------------------------------------------------------------------


def read_of(database: Database, given: Given, *, consistent: bool = False) -> Read:
    select = given.statement
    assert isinstance(select, Select)  # noqa: S101 - the statement is a SELECT
    _check_from(select.table)
    lowering = given.lowering()
    where = None if select.where is None else lowering.condition(select.where)
    filter_ = None if where is None else bind_condition(where, lowering.given(), "")
    target = _target(database, select.table, consistent=consistent)
    projection = shown_of(lowering, select.projection) if given.plan is None else given.plan.shown
    partitions = partitions_of(target, lowering, where)
    forward, partitions_forward = _order(target, select, 0 if partitions is None else len(partitions.ranges))
    if partitions is None:
        _log_scan(".".join(select.table))
        bounds: tuple[Bounds, ...] = (Bounds(),)
    else:
        bounds = partitions.bounds(forward=forward, partitions_forward=partitions_forward)
    fetches = _fetches(target, lowering, filter_, projection, is_keyed=partitions is not None and partitions.is_single)
    values, rest = (None, []) if target.index is not None else _key_values(target.table, lowering, where, of_one=True)
    is_single = values is not None and len(values) == len(target.table.keys)
    is_of_key = values is not None and all(_repeats(term_of(lowering, condition), values) for condition in rest)
    judged = None if partitions is not None and partitions.says_all else filter_
    return Read(target, bounds, judged, projection, fetches, values if is_single else None, is_of_key)


@lru_cache(_LOGGED_MAX)
def _log_scan(source: str) -> None:
    """Log once that a statement scans a table or an index; the response can't report it."""
    _LOG.info("a SELECT without the partition key is a scan of %s", source)


def _check_from(names: Sequence[str]) -> None:
    if len(names) > _FROM_PARTS_MAX:
        raise StatementFault("A path may contain at most 2 components in the FROM clause")
    if not all(names):
        raise StatementFault("Path component cannot be an empty string")


def _table(database: Database, name: str) -> Table:
    fits = TABLE_NAME_MIN <= len(name) <= TABLE_NAME_MAX and _NAMES.fullmatch(name) is not None
    if not fits and not name.startswith("arn:"):
        raise StatementFault(_NAME)
    return database.table(name)


def _target(database: Database, names: Sequence[str], *, consistent: bool) -> Target:
    table = _table(database, names[0])
    if len(names) == 1:
        return Target(table)
    index = table.index_by_name.get(names[1])
    if index is None:
        if any(each.name == names[1] for each in table.vector_indexes):
            raise ValidationException("Scan operation not supported on this index type")
        raise ValidationException("The table does not have the specified index")
    if consistent and not index.is_local:
        raise ValidationException("Strongly consistent read is not supported on Global Secondary Indexes")
    if len(index.partition) > 1 or len(index.sort) > 1:
        raise ValidationException(_MANY_KEYS)
    database.check_index(table, names[1])
    return Target(table, index)


def shown_of(lowering: Lowering, nodes: Sequence[Node]) -> Shown | None:
    """The projection; None for all attributes. Raises StatementFault, ExpressionFault."""
    if not nodes:
        return None
    lowered = [lowering.path(node) for node in nodes]
    named: list[str] = []
    for node in nodes:
        assert isinstance(node, WrittenPath)  # noqa: S101 - the path has already been lowered
        name = _shown_name(node.parts)
        if name in named:
            raise StatementFault(f"Duplicate identifiers in select clause: {name}")
        named.append(name)
    return Shown(tuple(zip(named, bind_paths(lowered, lowering.given()), strict=True)))


def _shown_name(parts: Sequence[str | int]) -> str:
    indexes = ""
    for part in reversed(parts):
        if isinstance(part, str):
            return part + indexes
        indexes = f"[{part}]{indexes}"
    raise AssertionError(parts)  # pragma: no cover - a path starts with a name


def _order(target: Target, select: Select, partitions: int) -> tuple[bool, bool]:
    # Recorded from the service: if ORDER BY has only the partition key, each partition's items are in reverse order.
    by_partition = False
    directions = {"sort": not select.order, "partition": True}
    for order in select.order:
        if not isinstance(order.path, WrittenPath):
            kind = getattr(order.path, "operator", type(order.path).__name__)
            raise StatementFault(f"Argument to ORDER BY must be of type VariableReference. Type: {kind}")
        if select.where is None:
            raise StatementFault("Must have WHERE clause in the statement when using ORDER BY clause.")
        name = str(order.path.parts[0])
        of_sort = name in {attribute.name for attribute in target.sort}
        if len(order.path.parts) > 1 or not (of_sort or name == target.partition[0].name):
            raise StatementFault(f"Attribute {name} in ORDER BY clause must be part of the primary key")
        if not partitions:
            raise StatementFault(
                "Must have at least one non-optional hash key condition in WHERE clause when using ORDER BY clause."
            )
        directions["sort" if of_sort else "partition"] = order.forward
        by_partition |= not of_sort
    if select.order and partitions > 1 and not by_partition:
        raise StatementFault(
            "Must have hash key in ORDER BY clause when more than one hash key condition specified in WHERE clause."
        )
    return directions["sort"], directions["partition"]


def _fetches(
    target: Target, lowering: Lowering, filter_: BoundCondition | None, projection: Shown | None, *, is_keyed: bool
) -> bool:
    """Whether a local secondary index must fetch projected attributes from the table. A filter on unprojected
    attributes is rejected if the key is fixed; otherwise it matches nothing.
    """
    index = target.index
    if index is None or not index.projected:
        return False
    if filter_ is not None and is_keyed and not filter_.attributes <= index.projected:
        missed = filter_.attributes - index.projected
        unfiltered = hashed_order(name for name in lowering.names() if name in missed)
        raise one_or_more(
            f"Secondary index {index.name} does not project one or more filter attributes: [{', '.join(unfiltered)}]"
        )
    if projection is None:
        return False
    missing = [str(steps[0]) for _, steps in projection.paths if steps[0] not in index.projected]
    if missing and not index.is_local:
        raise one_or_more(f"Global secondary index {index.name} does not project [{', '.join(dict.fromkeys(missing))}]")
    return bool(missing)


def _key_values(
    table: Table, lowering: Lowering, where: tree.Condition | None, *, of_one: bool = False
) -> tuple[dict[str, AttributeValue], list[tree.Condition]]:
    """The equalities on key attributes, and the remaining terms. ``of_one``: an ``IN`` with one value counts."""
    values: dict[str, AttributeValue] = {}
    rest: list[tree.Condition] = []
    types = {attribute.name: attribute for attribute in table.keys}
    for condition in tree.joined(tree.And, where):
        term = term_of(lowering, condition)
        if term is None or not _is_equality(term, of_one=of_one) or term.name not in types or term.name in values:
            rest.append(condition)
            continue
        if types[term.name].type not in term.values[0]:
            raise SchemaFault(KEY_TYPE)
        values[term.name] = term.values[0]
    return values, rest


def _is_equality(term: KeyTerm, *, of_one: bool) -> bool:
    return term.operator == "=" or (of_one and term.operator == "IN" and len(term.values) == 1)


def _repeats(term: KeyTerm | None, values: Mapping[str, AttributeValue]) -> bool:
    return (
        term is not None
        and term.name in values
        and term.operator in {"=", "IN"}
        and all(same(value, values[term.name]) for value in term.values)
    )


# --- writes -------------------------------------------------------------------------------------------------


def write_of(database: Database, given: Given, *, returns_item: bool) -> Written:
    """The write of an INSERT, an UPDATE or a DELETE, or the check of an EXISTS."""
    lowering = given.lowering()
    match given.statement:
        case Insert() as insert:
            return Written(_insert(database, lowering, insert), _nothing)
        case Update() as update:
            return _update(database, lowering, update, returns_item=returns_item)
        case Delete() as delete:
            return _delete(database, lowering, delete, returns_item=returns_item)
        case Exists(select):
            return Written(_exists(database, lowering, select, returns_item=returns_item), _nothing)
        case Select():
            raise AssertionError(given)  # pragma: no cover - a SELECT isn't a write


def _nothing(_: Outcome) -> Item | None:
    return None


def _insert(database: Database, lowering: Lowering, insert: Insert) -> Write:
    _check_from(insert.table)
    item = lowering.item(insert.value)
    check_names(item)
    table = database.table(insert.table[0])
    for attribute in table.keys:
        value = item.get(attribute.name)
        if value is not None and attribute.type in value:
            check_not_empty(attribute, value)
    key = key_of_item(table, item)
    return Write(table, key, put=prepare_put(table, item), inserts=True)


def _update(database: Database, lowering: Lowering, update: Update, *, returns_item: bool) -> Written:
    bound = bind_update(lowering.update(update.changes), lowering.given(), "")
    table, values, condition = _one_item(database, lowering, update.table, update.where)
    there = tree.Call("attribute_exists", (lowering.name_path(table.partition.name),))
    whole = there if condition is None else tree.And((there, condition))
    change = prepare.change_of(table, bound, values)
    key = key_of_request(table, values)
    judged = bind_condition(whole, lowering.given(), "")
    write = Write(table, key, judged, change=change, returns_item=returns_item)
    return Written(write, returned_of(bound, update.returning))


def returned_of(bound: BoundUpdate | None, returning: Returning | None) -> Callable[[Outcome], Item | None]:
    """The function that selects the returned part of an outcome; ``bound`` is the update of an UPDATE."""
    if returning is None:
        return _nothing

    def returned(outcome: Outcome) -> Item | None:
        item = outcome.old if returning.when == "OLD" else outcome.new
        return item if bound is None or returning.which == "ALL" else bound.touched(item)

    return returned


def _delete(database: Database, lowering: Lowering, delete: Delete, *, returns_item: bool) -> Written:
    returning = delete.returning
    if returning is not None and returning != Returning("ALL", "OLD"):
        raise StatementFault(
            f"Invalid returning clause: {returning}. Only RETURNING ALL OLD * is allowed in DELETE statements."
        )
    table, values, condition = _one_item(database, lowering, delete.table, delete.where)
    key = key_of_request(table, values)
    judged = None
    if condition is not None:
        # For a missing item, the condition isn't evaluated.
        gone = tree.Call("attribute_not_exists", (lowering.name_path(table.partition.name),))
        judged = bind_condition(tree.Or((gone, condition)), lowering.given(), "")
    write = Write(table, key, judged, removes=True, wants_old=returning is not None, returns_item=returns_item)
    return Written(write, returned_of(None, returning))


def _exists(database: Database, lowering: Lowering, select: Select, *, returns_item: bool) -> Write:
    _check_from(select.table)
    where = None if select.where is None else lowering.condition(select.where)
    judged = None if where is None else bind_condition(where, lowering.given(), "")
    name, *index = select.table
    if index:
        raise StatementFault("Operations on indices are not supported in transactions")
    table = _table(database, name)
    values, rest = _key_values(table, lowering, where)
    if len(values) < len(table.keys) or not rest:
        raise StatementFault("EXISTS() must contain a single item read with additional condition")
    return Write(table, key_of_request(table, values), judged, returns_item=returns_item)


def _one_item(
    database: Database, lowering: Lowering, names: Sequence[str], node: Node | None
) -> tuple[Table, dict[str, AttributeValue], tree.Condition | None]:
    """The table of a statement that changes one item, the item's key, and the remaining condition."""
    _check_from(names)
    where = None if node is None else lowering.condition(node)
    if where is not None:
        bind_condition(where, lowering.given(), "")
    if len(names) > 1:
        raise StatementFault("This operation is not supported on an index")
    table = _table(database, names[0])
    values, rest = _key_values(table, lowering, where)
    if len(values) < len(table.keys):
        raise UnkeyedFault(NOT_FULL_KEY)
    beside: list[tree.Condition] = []
    for condition in rest:
        term = term_of(lowering, condition)
        if _repeats(term, values):
            continue
        if term is not None and term.name in table.key_names:
            raise UnkeyedFault(
                f"Multiple conditions on same key {term.name}. Only single item Update/Insert/Delete are supported"
            )
        beside.append(condition)
    if not beside:
        return table, values, None
    return table, values, beside[0] if len(beside) == 1 else tree.And(tuple(beside))
