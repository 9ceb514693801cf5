"""Convert statement trees to expression trees with placeholders for names and values.

The resulting expressions are bound, validated and evaluated like those of other requests. A
``Template`` is converted once for all executions of a statement, before its parameters are known; parts that need
parameter values (a set to add, a list that contains one) are rejected by the template and converted for each execution.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from keyplan.dynamodb.expressions import CheckedPlaceholders, Placeholders, tree
from keyplan.dynamodb.partiql import syntax
from keyplan.dynamodb.partiql.syntax import Node
from keyplan.dynamodb.partiql.tokens import Place, StatementFault
from keyplan.dynamodb.values import CONTAINER_DEPTH_MAX, INVALID, AttributeValue, NumberError, canonical, check_value

_CONDITIONS = frozenset({"attribute_exists", "attribute_not_exists", "attribute_type", "begins_with", "contains"})
_TAGS = {
    **dict.fromkeys(("BOOL", "BOOLEAN"), "BOOL"),
    **dict.fromkeys(("BLOB", "BINARY"), "B"),
    **dict.fromkeys(("STRUCT", "TUPLE", "MAP"), "M"),
    **dict.fromkeys(("STRING", "CHAR", "CHARACTER", "VARCHAR", "SYMBOL", "CLOB"), "S"),
    **dict.fromkeys(
        ["SMALLINT", "INT", "INT2", "INT4", "INT8", "INTEGER", "INTEGER2", "INTEGER4", "INTEGER8", "BIGINT"], "N"
    ),
    **dict.fromkeys(["FLOAT", "REAL", "DOUBLE", "DECIMAL", "NUMERIC", "NUMBER"], "N"),
    "NULL": "NULL",
    "LIST": "L",
}
"""The types of IS, by tag."""
_SETS = ("SS", "NS", "BS")


class Lowering:
    """Converts the parts of one statement; ``given`` has the names and values of all parts.

    ``parameters`` are normalized attribute values, one per question mark.
    """

    def __init__(self, parameters: Sequence[AttributeValue]) -> None:
        self._parameters = parameters
        self._names: dict[str, str] = {}
        self._values: dict[str, AttributeValue] = {}

    def given(self) -> Placeholders:
        return Placeholders(self._names or None, self._values or None)

    def content(self, value: tree.Operand) -> AttributeValue | None:
        return self._values[value.name] if isinstance(value, tree.Value) else None

    def names(self) -> Sequence[str]:
        return tuple(self._names.values())

    def name(self, operand: tree.Operand) -> str | None:
        """The attribute name of an operand that is a top-level attribute."""
        if isinstance(operand, tree.Path) and len(operand.parts) == 1:
            return self._names[str(operand.parts[0])]
        return None

    # --- paths

    def name_path(self, name: str) -> tree.Path:
        placeholder = f"#{len(self._names)}"
        self._names[placeholder] = name
        return tree.Path((placeholder,))

    def path(self, node: Node) -> tree.Path:
        """A document path. Raises StatementFault if the operand isn't a path, or has an empty name."""
        if not isinstance(node, syntax.Path):
            raise StatementFault(f"Unexpected path component at {node.place}")
        parts: list[str | int] = []
        for part in node.parts:
            if isinstance(part, str):
                if not part:
                    raise StatementFault("Path component cannot be an empty string")
                parts.extend(self.name_path(part).parts)
            else:
                parts.append(part)
        return tree.Path(tuple(parts))

    # --- values

    def item(self, node: Node) -> dict[str, AttributeValue]:
        """The item of an INSERT. Each attribute is validated separately, as the root of its nested values. Raises
        StatementFault or ValueFault if the item is invalid.
        """
        if not isinstance(node, syntax.MapOf):
            raise StatementFault(
                "Unsupported format in item expression. Please use struct format {...} to express item values for "
                f"insert statement. at {node.place}"
            )
        item: dict[str, AttributeValue] = {}
        for name, place, member in node.members:
            if name in item:
                raise StatementFault(f"Duplicate keys in tuple. Key: {name} under root at {place}")
            item[name] = self.value(member)
        return item

    def value(self, node: Node) -> AttributeValue:
        """The normalized attribute value of a literal or parameter. Raises StatementFault, ValueFault."""
        return check_value(self._value(node, "root", 0))

    def _value(self, node: Node, under: str, depth: int) -> AttributeValue:
        if depth > CONTAINER_DEPTH_MAX:
            raise StatementFault(f"Nesting Levels have exceeded supported limits under {under}")
        match node:
            case syntax.Constant("MISSING"):
                raise StatementFault(f"Unsupported data type: MISSING under key {under} at {node.place}")
            case syntax.Constant(tag, content):
                return {tag: content}
            case syntax.Number(text):
                return {"N": _number(node, text, under)}
            case syntax.Parameter(number):
                if depth:
                    raise StatementFault(f"Unsupported data type: Parameter under key {under} at {node.place}")
                return self._parameters[number]
            case syntax.ListOf(members):
                return {
                    "L": [self._value(member, f"{under}[{index}]", depth + 1) for index, member in enumerate(members)]
                }
            case syntax.MapOf(members):
                return {"M": self._map(node, members, under, depth)}
            case syntax.Bag(members):
                return self._bag(members, under)
            case syntax.Path(parts):
                raise StatementFault(f"Unsupported data type: {parts[0]} under key {under} at {node.place}")
            case syntax.Call(name):
                raise StatementFault(f"Unsupported data type: {name} under key {under} at {node.place}")
            case syntax.Arithmetic(operator) | syntax.Compare(operator):
                raise StatementFault(f"Unsupported data type: {operator} under key {under} at {node.place}")
            case _:
                kind = type(node).__name__.lower()
                raise StatementFault(f"Unsupported data type: {kind} under key {under} at {node.place}")

    def _map(
        self, node: Node, members: Sequence[tuple[str, Place, Node]], under: str, depth: int
    ) -> dict[str, AttributeValue]:
        content: dict[str, AttributeValue] = {}
        for name, _, member in members:
            if name in content:
                raise StatementFault(f"Duplicate keys in tuple. Key: {name} under {under} at {node.place}")
            content[name] = self._value(member, f"{under}.{name}", depth + 1)
        return content

    def _bag(self, members: Sequence[Node], under: str) -> AttributeValue:
        if not members:
            raise StatementFault("Empty bags are not supported")
        if all(isinstance(member, syntax.Number) for member in members):
            numbers = [member for member in members if isinstance(member, syntax.Number)]
            read = [_number(member, member.text, under) for member in numbers]
            if len(set(read)) < len(read):
                shown = ", ".join(member.text for member in numbers)
                raise StatementFault(f"{INVALID}Input collection [{shown}] contains duplicates! under {under}")
            return {"NS": read}
        strings = [member.content for member in members if isinstance(member, syntax.Constant) and member.tag == "S"]
        if len(strings) == len(members):
            return {"SS": strings}
        fault = "Unsupported data type in Bag. DynamoDB only supports either numbers or strings in bags"
        foreign = next((member for member in members if not isinstance(member, (syntax.Number, syntax.Constant))), None)
        raise StatementFault(fault if foreign is None else f"{fault} at {foreign.place}")

    def _given(self, value: AttributeValue) -> tree.Value:
        placeholder = f":{len(self._values)}"
        self._values[placeholder] = value
        return tree.Value(placeholder)

    # --- conditions

    def condition(self, node: Node) -> tree.Condition:
        """The condition of a WHERE clause. Raises StatementFault, ValueFault."""
        if not _is_condition(node):
            raise StatementFault("WHERE clause must contain an expression that resolves to a boolean")
        return self._condition(node)

    def _condition(self, node: Node) -> tree.Condition:
        match node:
            case syntax.And(conditions):
                return tree.And(self._joined(conditions))
            case syntax.Or(conditions):
                return tree.Or(self._joined(conditions))
            case syntax.Not(inner):
                if not _is_condition(inner):
                    raise StatementFault("The argument to NOT must be a Type or Expression")
                return tree.Not(self._condition(inner))
            case syntax.Compare(operator, left, right):
                return self._compare(operator, left, right)
            case syntax.Between(operand, low, high):
                return tree.Between(self._operand(operand), self._operand(low), self._operand(high))
            case syntax.In(operand, options):
                return self._in(operand, options)
            case syntax.Is():
                return self._is(node)
            case syntax.Call():
                return self._function(node)
            case _:
                raise StatementFault("The arguments to AND/OR must be Expressions")

    def _joined(self, conditions: Sequence[Node]) -> tuple[tree.Condition, ...]:
        return tuple([self._condition(condition) for condition in conditions])

    def _compare(self, operator: str, left: Node, right: Node) -> tree.Condition:
        for function, expected in ((left, right), (right, left)):
            if not (isinstance(function, syntax.Call) and isinstance(expected, syntax.Constant)):
                continue
            if expected.tag == "BOOL" and function.name.lower() in _CONDITIONS and operator in {"=", "<>"}:
                condition = self._function(function)
                return condition if (operator == "=") == bool(expected.content) else tree.Not(condition)
        return tree.Compare(operator, self._operand(left), self._operand(right))

    def _in(self, operand: Node, options: Node) -> tree.Condition:
        if (
            not isinstance(options, (syntax.ListOf, syntax.Bag))
            or not options.members
            or not isinstance(operand, syntax.Path)
        ):
            raise StatementFault(
                "IN operator must have a left hand argument of type Variable Reference and right hand argument of type "
                "Seq with at least one member"
            )
        return tree.In(self._operand(operand), tuple([self._operand(member) for member in options.members]))

    def _is(self, node: syntax.Is) -> tree.Condition:
        operand = self._operand(node.operand)
        if node.type == "MISSING":
            return tree.Call("attribute_exists" if node.negated else "attribute_not_exists", (operand,))
        if node.type in {"BAG", "SET"}:
            types = tuple([tree.Call("attribute_type", (operand, self._given({"S": tag}))) for tag in _SETS])
            condition: tree.Condition = tree.Or(types)
        else:
            tag = _TAGS.get(node.type)
            if tag is None:
                raise StatementFault(
                    f"Unsupported data type for IS operator: {node.type}. Supported data types are [MISSING, NULL, "
                    "BOOLEAN, BLOB, STRING, NUMERIC, STRUCT, TUPLE, LIST]"
                )
            condition = tree.Call("attribute_type", (operand, self._given({"S": tag})))
        return tree.Not(condition) if node.negated else condition

    def _function(self, node: syntax.Call) -> tree.Call:
        if node.name == "like":
            raise StatementFault("Unsupported operator in Condition Expression. Operator: like")
        name = node.name.lower()
        if name not in _CONDITIONS:
            raise _unknown(node)
        return tree.Call(name, tuple([self._operand(argument) for argument in node.arguments]))

    def _operand(self, node: Node) -> tree.Operand:
        match node:
            case syntax.Path():
                return self.path(node)
            case syntax.Call():
                if node.name.lower() != "size":
                    raise _unknown(node)
                return tree.Call("size", tuple([self._operand(argument) for argument in node.arguments]))
            case syntax.Arithmetic(operator):
                raise StatementFault(f"Unsupported operator in Condition Expression. Operator: {operator}")
            case syntax.Constant("MISSING"):
                raise StatementFault("MISSING must be compared using IS operator")
            case _:
                return self._given(self.value(node))

    # --- updates

    def update(self, changes: Sequence[syntax.Assignment | syntax.Removal]) -> tree.Update:
        return tree.Update(tuple([self._action(change) for change in changes]))

    def _action(self, change: syntax.Assignment | syntax.Removal) -> tree.Action:
        if isinstance(change, syntax.Removal):
            return tree.Remove(self.path(change.path))
        value = change.value
        if isinstance(value, syntax.Call) and value.name.lower() in {"set_add", "set_delete"}:
            return self._set_action(change.path, value)
        return tree.Set(self.path(change.path), self._assigned(value))

    def _set_action(self, path: syntax.Path, call: syntax.Call) -> tree.Action:
        name = call.name.upper()
        if len(call.arguments) != 2:
            raise StatementFault(f"{name} must have exactly two arguments at {call.place}")
        first, second = call.arguments
        if not isinstance(first, syntax.Path) or first.parts != path.parts:
            raise StatementFault(f"The first argument to {name} must equal the assignment value at {call.place}")
        content = self.value(second) if isinstance(second, (syntax.Bag, syntax.Parameter)) else {}
        if not content.keys() & set(_SETS):
            raise StatementFault(f"The second argument to {name} must be a value with type SET at {first.place}")
        target, operand = self.path(path), self._given(content)
        return tree.Add(target, operand) if name == "SET_ADD" else tree.Delete(target, operand)

    def _assigned(self, node: Node) -> tree.Operand:
        match node:
            case syntax.Path():
                return self.path(node)
            case syntax.Arithmetic(operator, left, right):
                if operator not in {"+", "-"}:
                    raise StatementFault(f"Unsupported operator in Update Expression. Operator: {operator}")
                return tree.Arithmetic(operator, self._assigned(left), self._assigned(right))
            case syntax.Call():
                name = node.name.lower()
                if name not in {"list_append", "if_not_exists"}:
                    raise _unknown(node)
                return tree.Call(name, tuple([self._assigned(argument) for argument in node.arguments]))
            case syntax.Is():
                raise StatementFault("IS operator is not supported in update expressions")
            case syntax.Constant("MISSING"):
                raise StatementFault("MISSING must be compared using IS operator")
            case _:
                return self._given(self.value(node))


def _is_condition(node: Node) -> bool:
    return isinstance(
        node, (syntax.And, syntax.Or, syntax.Not, syntax.Compare, syntax.Between, syntax.In, syntax.Is, syntax.Call)
    )


def _unknown(node: syntax.Call) -> StatementFault:
    return StatementFault(f"Unrecognized function: {node.name.lower()} at {node.place}")


def _number(node: Node, text: str, under: str) -> str:
    try:
        number = canonical(text)
    except NumberError as error:
        raise StatementFault(f"{error} under {under}") from None
    if number == "0" and text.startswith("-") and "." in text:
        raise StatementFault(f"Negative zero decimal is not supported under key {under} at {node.place}")
    return number


_PARAMETER = "?"
"""The tag that represents a parameter's value."""


class Template(Lowering):
    """The condition and update of a statement for any parameters; ``filled`` is one execution. Raises StatementFault or
    ValueFault if the statement can't be converted, or can be converted only with its parameters.
    """

    def __init__(
        self,
        where: Node | None = None,
        changes: Sequence[syntax.Assignment | syntax.Removal] = (),
        paths: Sequence[Node] = (),
    ) -> None:
        super().__init__(())
        self.changed = self.update(changes) if changes else None
        self.where = None if where is None else self.condition(where)
        for path in paths:
            self.path(path)

    def value(self, node: Node) -> AttributeValue:
        """As in ``Lowering``, with a placeholder in place of a parameter's value. Raises StatementFault or ValueFault
        also for a value that can't be converted before the parameters are known.
        """
        if isinstance(node, syntax.Parameter):
            return {_PARAMETER: node.number}
        return super().value(node)

    def filled(self, parameters: Sequence[AttributeValue]) -> Filled:
        values = {
            name: parameters[value[_PARAMETER]] if _PARAMETER in value else value
            for name, value in self._values.items()
        }
        return Filled(self, dict(self._names), values)


class Filled(Lowering):
    """One execution of a template: it reuses the converted condition and update, and converts only the names."""

    def __init__(self, template: Template, names: dict[str, str], values: dict[str, AttributeValue]) -> None:
        self._template = template
        self._names = names
        self._values = values

    def given(self) -> Placeholders:
        return CheckedPlaceholders(self._names, self._values)

    def condition(self, node: Node) -> tree.Condition:  # noqa: ARG002 - the template has the condition
        return cast("tree.Condition", self._template.where)

    def update(self, changes: Sequence[syntax.Assignment | syntax.Removal]) -> tree.Update:  # noqa: ARG002
        return cast("tree.Update", self._template.changed)
