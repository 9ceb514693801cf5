"""The keys that a statement's condition can match: partitions and ranges of sort keys.

The whole condition also filters the items, so a range can be too wide, but never too narrow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from keyplan.dynamodb.expressions import KeyCondition, KeyTerm, tree
from keyplan.dynamodb.partiql import Lowering, StatementFault
from keyplan.dynamodb.partiql.syntax import And, Compare, Constant, Node, Number, Parameter, Path
from keyplan.dynamodb.values import AttributeValue, key_text
from keyplan.store.queries import Target, bounds_of
from keyplan.store.storage.key_layouts import Bound, Bounds, KeyText
from keyplan.store.tables.item_keys import SchemaFault, check_not_empty
from keyplan.store.tables.table import KeyAttribute

KEY_TYPE = "One or more parameter values were invalid: Condition parameter type does not match schema type"
_KEY_TYPES = "Key attribute's data type should match its data type in table's schema"
_MANY_READS = "Too many decomposed read operations for a given query."
_OVERLAP = "Overlapping conditions with range keys are not supported in where clause"
_READS_MAX = 50
"""Maximum number of ranges of a statement. Source: the developer guide, "PartiQL operators", for IN with partition
keys; statements with more are rejected, as clients of the service report.
"""
_MIRRORED = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


@dataclass(frozen=True, slots=True)
class KeyValues:
    """The values of a WHERE clause that consists of equalities: constants, or parameters by number."""

    by_name: Mapping[str, AttributeValue | int]

    def filled(self, parameters: Sequence[AttributeValue]) -> dict[str, AttributeValue]:
        return {name: parameters[value] if isinstance(value, int) else value for name, value in self.by_name.items()}


def key_values_of(where: Node | None) -> KeyValues | None:
    """The equalities of a WHERE clause; None if it contains other conditions or a duplicate attribute."""
    conditions = where.conditions if isinstance(where, And) else (where,)
    by_name: dict[str, AttributeValue | int] = {}
    for condition in conditions:
        if not isinstance(condition, Compare) or condition.operator != "=":
            return None
        name, value = _named(condition.left), _literal(condition.right)
        if name is None or value is None or name in by_name:
            return None
        by_name[name] = value
    return KeyValues(by_name)


def _named(node: Node) -> str | None:
    return str(node.parts[0]) if isinstance(node, Path) and len(node.parts) == 1 else None


def _literal(node: Node) -> AttributeValue | int | None:
    if isinstance(node, Parameter):
        return node.number
    return Lowering(()).value(node) if isinstance(node, (Constant, Number)) else None


@dataclass(frozen=True, slots=True)
class _Range:
    """A range of one partition: its bounds, and whether the condition also has a negative term for the sort key."""

    bounds: Bounds
    is_negated: bool


@dataclass(slots=True)
class Partitions:
    """The partitions that a condition can match, with their ranges of sort keys."""

    is_single: bool
    """Whether the partition key is fixed outside all OR branches."""
    ranges: dict[KeyText, list[Bounds]] = field(default_factory=dict)
    says_all: bool = False
    """Whether the ranges are exactly the items of the condition, so that no filter is needed."""

    def bounds(self, *, forward: bool, partitions_forward: bool) -> tuple[Bounds, ...]:
        ordered = sorted(self.ranges, key=_raw, reverse=not partitions_forward)
        of_each = [sorted(self.ranges[partition], key=_begin, reverse=not forward) for partition in ordered]
        return tuple([replace(bounds, forward=forward) for ranges in of_each for bounds in ranges])


def term_of(lowering: Lowering, condition: tree.Condition) -> KeyTerm | None:
    """The key term of a condition on one attribute, including ``IN``; None if key conditions don't support it."""
    match condition:
        case tree.Compare(operator, left, right) if operator in _MIRRORED:
            if isinstance(left, tree.Value):
                operator, left, right = _MIRRORED[operator], right, left
            return _term(lowering, operator, left, (right,))
        case tree.Between(operand, low, high):
            return _term(lowering, "BETWEEN", operand, (low, high))
        case tree.In(operand, options):
            return _term(lowering, "IN", operand, options)
        case tree.Call("begins_with", (operand, prefix)):
            return _term(lowering, "begins_with", operand, (prefix,))
        case _:
            return None


def _term(lowering: Lowering, operator: str, operand: tree.Operand, operands: Sequence[tree.Operand]) -> KeyTerm | None:
    name = lowering.name(operand)
    values = [value for value in map(lowering.content, operands) if value is not None]
    if name is None or len(values) < len(operands):
        return None
    return KeyTerm(name, operator, tuple(values))


def partitions_of(target: Target, lowering: Lowering, where: tree.Condition | None) -> Partitions | None:
    """The partitions that a condition can match; None if it can match any partition, which requires a scan."""
    if where is None:
        return None
    branches = tree.joined(tree.Or, where)
    spread = [conditions for branch in branches for conditions in _spread(target, lowering, branch)]
    ranges: dict[KeyText, list[_Range]] = {}
    for conditions in spread:
        result = _of_branch(target, lowering, conditions, several=len(spread) > 1)
        if result is None:
            return None
        for range_ in result:
            ranges.setdefault(range_.bounds.partition[0], []).append(range_)
    if sum(map(len, ranges.values())) > _READS_MAX:
        raise StatementFault(_MANY_READS)
    partitions = Partitions(len(branches) == 1, says_all=len(branches) == 1 and _is_of_key(target, lowering, where))
    for partition, of_one in ranges.items():
        partitions.ranges[partition] = _separate_ranges(of_one)
    return partitions


def _spread(target: Target, lowering: Lowering, branch: tree.Condition) -> list[list[tree.Condition]]:
    """The terms of a branch, expanded by the sort key ranges of an inner OR."""
    spread: list[list[tree.Condition]] = [[]]
    for condition in tree.joined(tree.And, branch):
        options = [[condition]]
        if isinstance(condition, tree.Or):
            inner = [tree.joined(tree.And, option) for option in tree.joined(tree.Or, condition)]
            parts = [part for option in inner for part in option]
            if target.sort and any(_is_about(lowering, part, target.sort[0].name) for part in parts):
                options = inner
        if len(spread) * len(options) > _READS_MAX:
            raise StatementFault(_MANY_READS)
        spread = [[*conditions, *option] for conditions in spread for option in options]
    return spread


def _is_about(lowering: Lowering, condition: tree.Condition, name: str) -> bool:
    """Whether a condition restricts the sort key, positively or negatively."""
    term = term_of(lowering, condition)
    return _negates(lowering, condition, name) or (term is not None and term.name == name)


def _is_of_key(target: Target, lowering: Lowering, where: tree.Condition) -> bool:
    """Whether a condition is a valid KeyConditionExpression: the partition key, and one range of the sort key."""
    operators: dict[str, str] = {}
    for condition in tree.joined(tree.And, where):
        term = term_of(lowering, condition)
        if term is None or term.operator == "IN" or term.name in operators:
            return False
        operators[term.name] = term.operator
    names = {target.partition[0].name, *[attribute.name for attribute in target.sort]}
    return operators.keys() <= names and operators.get(target.partition[0].name) == "="


def _of_branch(
    target: Target, lowering: Lowering, conditions: list[tree.Condition], *, several: bool
) -> list[_Range] | None:
    partition = target.partition[0]
    sort = target.sort[0] if target.sort else None
    terms = [term for term in (term_of(lowering, condition) for condition in conditions) if term is not None]
    equal = next((term for term in terms if term.name == partition.name and term.operator in {"=", "IN"}), None)
    if equal is None:
        return None
    sort_terms = [term for term in terms if sort is not None and term.name == sort.name]
    several |= any(len(term.values) > 1 for term in (equal, *sort_terms) if term.operator == "IN")
    _check_values(partition, equal.values, several=several)
    for term in sort_terms:
        assert sort is not None  # noqa: S101 - the attribute has conditions
        _check_values(sort, term.values, several=several)
    is_negated = sort is not None and any(_negates(lowering, condition, sort.name) for condition in conditions)
    narrowing = [term for term in sort_terms if term.operator != "IN"]
    listed = next((term for term in sort_terms if term.operator == "IN"), None)
    each = [()] if listed is None else [(KeyTerm(listed.name, "=", (value,)),) for value in listed.values]
    ranges: list[_Range] = []
    for value in equal.values:
        for place in each:
            bounds = Bounds((key_text(value),))
            for term in (*place, *narrowing):
                bounds = _narrowed(bounds, term)
            ranges.append(_Range(bounds, is_negated))
    return ranges


def _check_values(attribute: KeyAttribute, values: Sequence[AttributeValue], *, several: bool) -> None:
    """Reject values of the wrong type, with a different message if several ranges are read."""
    if any(attribute.type not in value for value in values):
        raise SchemaFault(f"{_KEY_TYPES}: Key {attribute.name}" if several else KEY_TYPE)
    for value in values:
        check_not_empty(attribute, value)


def _negates(lowering: Lowering, condition: tree.Condition, name: str) -> bool:
    match condition:
        case tree.Not(inner):
            term = term_of(lowering, inner)
            return term is not None and term.name == name
        case tree.Compare("<>", left, right):
            return name in {lowering.name(left), lowering.name(right)}
        case _:
            return False


def _narrowed(bounds: Bounds, term: KeyTerm) -> Bounds:
    if bounds.equal:
        return bounds
    own = bounds_of(KeyCondition((), (term,)), forward=True)
    if own.equal:
        return Bounds(bounds.partition, own.equal)
    return Bounds(bounds.partition, (), bounds.low or own.low, bounds.high or own.high)


def _separate_ranges(ranges: list[_Range]) -> list[Bounds]:
    """The ranges of one partition, which must not overlap unless one has a negative term."""
    for number, range_ in enumerate(ranges):
        for other in ranges[:number]:
            if _overlap(range_.bounds, other.bounds):
                if not (range_.is_negated or other.is_negated):
                    raise StatementFault(_OVERLAP)
                return [Bounds(range_.bounds.partition)]
    return [range_.bounds for range_ in ranges]


def _overlap(bounds: Bounds, other: Bounds) -> bool:
    low, high = _ends(bounds)
    other_low, other_high = _ends(other)
    return not (_before(high, other_low) or _before(other_high, low))


def _ends(bounds: Bounds) -> tuple[Bound | None, Bound | None]:
    if bounds.equal:
        return (">=", bounds.equal[0]), ("<=", bounds.equal[0])
    return bounds.low, bounds.high


def _before(high: Bound | None, low: Bound | None) -> bool:
    """Whether everything up to ``high`` precedes everything from ``low``."""
    if high is None or low is None:
        return False
    end, begin = _raw(high[1]), _raw(low[1])
    return end < begin or (end == begin and (high[0] == "<" or low[0] == ">"))


def _raw(text: KeyText) -> bytes:
    return text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")


def _begin(bounds: Bounds) -> tuple[bytes, bool]:
    low, _ = _ends(bounds)
    return (b"", False) if low is None else (_raw(low[1]), low[0] == ">")
