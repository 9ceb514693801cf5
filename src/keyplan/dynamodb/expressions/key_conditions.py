"""Key conditions of a KeyConditionExpression.

The expression is parsed as a condition, then restricted: equality on every partition attribute, and at most one
condition on each sort attribute, from left to right; only the last of these can have an operator other than ``=``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from keyplan.dynamodb.expressions import tree
from keyplan.dynamodb.expressions.expression_errors import ExpressionFault
from keyplan.dynamodb.expressions.paths import resolve
from keyplan.dynamodb.expressions.placeholders import Placeholders
from keyplan.dynamodb.values import AttributeValue

_TURNED = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_INVALID = "Invalid KeyConditionExpression: "
_CONDITION = f"{_INVALID}Invalid condition in KeyConditionExpression: "
_TYPE_MISMATCH = "One or more parameter values were invalid: Condition parameter type does not match schema type"
_NOT_SUPPORTED = "Query key condition not supported"
_MISSED = "Query condition missed key schema element: "


class KeyConditionFault(ExpressionFault):
    """A valid condition that isn't a key condition, or isn't a condition on this key."""


class PartitionMissedFault(KeyConditionFault):
    """The partition key has no condition."""


@dataclass(frozen=True, slots=True)
class KeyTerm:
    """A condition on a key attribute; the operator is ``= < <= > >=``, ``BETWEEN`` or ``begins_with``."""

    name: str
    operator: str
    values: tuple[AttributeValue, ...]


@dataclass(frozen=True, slots=True)
class KeyCondition:
    """The key condition of a query: the partition values in the order of their attributes, then the sort terms.

    All sort terms except the last are equalities.
    """

    partition: tuple[AttributeValue, ...]
    sort: tuple[KeyTerm, ...]


def narrow(
    condition: tree.Condition,
    given: Placeholders,
    *,
    partition: Sequence[str],
    sort: Sequence[str],
    types: Mapping[str, str],
) -> KeyCondition:
    """The key condition for a table or index with these key attributes.

    ``types`` has the data type of each key attribute. Raises ``ExpressionFault`` with the service's full message.
    """
    terms = read_terms(condition, given)
    check_key_names(terms, partition, sort)
    if len(partition) > 1 or len(sort) > 1:
        _check_many(terms, partition, sort)
    for term in terms.values():
        if any(types[term.name] not in value for value in term.values):
            raise KeyConditionFault(_TYPE_MISMATCH)
    if any(terms[name].operator != "=" for name in partition):
        raise KeyConditionFault(_NOT_SUPPORTED)
    sort_terms = tuple(terms[name] for name in sort if name in terms)
    return KeyCondition(tuple(terms[name].values[0] for name in partition), sort_terms)


def read_terms(condition: tree.Condition, given: Placeholders) -> dict[str, KeyTerm]:
    """The conditions by attribute name, independent of a table's key. Raises ``ExpressionFault``."""
    terms: dict[str, KeyTerm] = {}
    for part in tree.joined(tree.And, condition):
        term = _term(part, given)
        if term.name in terms:
            raise _unfit("must only contain one condition per key")
        terms[term.name] = term
    return terms


def check_key_names(names: Collection[str], partition: Sequence[str], sort: Sequence[str]) -> None:
    """Reject conditions on more attributes than a key can have and, for a key of one partition attribute and at most
    one sort attribute, on other attributes. Raises ``ExpressionFault``.
    """
    attributes = len(partition) + len(sort)
    if len(names) > attributes:
        raise KeyConditionFault(
            f"The number of query conditions ({len(names)}) exceeds the number of key attributes defined in the schema "
            f"({attributes})"
        )
    if len(partition) == 1 and len(sort) <= 1:
        for name in (*partition, *sort)[: len(names)]:
            if name not in names:
                raise PartitionMissedFault(_MISSED + name) if name in partition else _missed(name)


def _check_many(terms: Mapping[str, KeyTerm], partition: Sequence[str], sort: Sequence[str]) -> None:
    # Partition key attributes without a condition are reported before those whose condition isn't an equality.
    missing = [name for name in partition if name not in terms]
    unequal = missing or [name for name in partition if terms[name].operator != "="]
    if unequal:
        raise KeyConditionFault(
            f"HASH key attributes {', '.join(unequal)} must have equality conditions specified in the query"
        )
    foreign = terms.keys() - {*partition, *sort}
    if foreign:
        missed = next((name for name in sort if name not in terms), None)
        raise KeyConditionFault(_NOT_SUPPORTED) if missed is None else _missed(missed)
    for earlier, name in reversed([*pairwise(sort)]):
        if name in terms and (earlier not in terms or terms[earlier].operator != "="):
            raise KeyConditionFault(
                f"RANGE key attributes {earlier} must have equality conditions specified in the query "
                f"because a condition is present on key attribute {name}"
            )


def _unfit(rule: str) -> KeyConditionFault:
    return KeyConditionFault(f"{_INVALID}KeyConditionExpressions {rule}")


def _missed(name: str) -> KeyConditionFault:
    return KeyConditionFault(_MISSED + name)


def _term(condition: tree.Condition, given: Placeholders) -> KeyTerm:
    match condition:
        case tree.Compare(operator, left, right) if operator in _TURNED:
            operands: tuple[tree.Operand, ...] = (left, right)
        case tree.Between(operand, low, high):
            operator, operands = "BETWEEN", (operand, low, high)
        case tree.Call("begins_with" as operator, arguments):
            operands = arguments
        case _:
            raise KeyConditionFault(
                f"{_INVALID}Invalid operator used in KeyConditionExpression: {_operator(condition)}"
            )
    is_first = operator in _TURNED or isinstance(operands[0], (tree.Path, tree.Call))
    if not is_first:
        raise KeyConditionFault(f"{_CONDITION}{operator} operator must have the key attribute as its first operand")
    name = _key_name(operands, given)
    if isinstance(operands[0], tree.Path):
        values = operands[1:]
    else:
        operator, values = _TURNED[operator], operands[:1]
    return KeyTerm(name, operator, tuple(given.value(value.name) for value in values if isinstance(value, tree.Value)))


def _key_name(operands: Sequence[tree.Operand], given: Placeholders) -> str:
    name: str | None = None
    for operand in operands:
        if isinstance(operand, tree.Call):
            raise _unfit("cannot contain nested operations")
        if isinstance(operand, tree.Path):
            if name is not None:
                raise KeyConditionFault(f"{_CONDITION}Multiple attribute names used in one condition")
            steps = resolve(operand, given)
            name = str(steps[0])
            if len(steps) > 1:
                raise _unfit("cannot have conditions on nested attributes")
    if name is None:
        raise KeyConditionFault(f"{_CONDITION}No key attribute specified")
    return name


def _operator(condition: tree.Condition) -> str:
    match condition:
        case tree.Compare(name) | tree.Call(name):
            return name
        case _:
            return type(condition).__name__.upper()
