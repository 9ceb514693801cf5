"""Generated sequences of PartiQL statements, and of other writes between the statements."""

from __future__ import annotations

import re
from typing import Any

from tests.server.differential.sequences import Request, Sequence
from tests.server.differential.values import NAMES

COMPARATORS = ("=", "<>", "<", "<=", ">", ">=")
TYPES = ("STRING", "NUMERIC", "BOOLEAN", "LIST", "TUPLE", "NULL", "MISSING")


class StatementSequence(Sequence):
    """A sequence of SELECT, INSERT, UPDATE and DELETE statements, sent separately and in batches."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self._parameters: list[Any] = []

    def step(self) -> Request:
        make = self.chance.pick(
            *([self.put] * 3 + [self.select] * 4 + [self.ranged] * 2 + [self.change] * 3),
            *(self.insert, self.remove, self.batch, self.transaction),
        )
        made: Request = make()
        return made

    # --- parts

    def given(self, value: Any) -> str:
        self._parameters.append(value)
        return "?"

    def literal(self, value: Any) -> str:
        """Return a literal or, at random or if the value has no literal, a parameter's placeholder."""
        tag: str
        content: Any
        if self.chance.one_in(2):
            return self.given(value)
        (tag, content), *_ = value.items()
        match tag:
            case "S":
                return "'" + str(content).replace("'", "''") + "'"
            case "N" if content.lstrip("-").replace(".", "", 1).isdigit():
                return str(content)
            case "BOOL":
                return str(content).upper()
            case "SS" | "NS":
                return f"<<{', '.join(repr(each) if tag == 'SS' else each for each in content)}>>"
            case _:
                return self.given(value)

    def stated(self, text: str) -> dict[str, Any]:
        """Return a statement with the parameters that were added after the previous statement."""
        parameters, self._parameters = self._parameters, []
        return {"Statement": text, **({"Parameters": parameters} if parameters else {})}

    def attribute(self) -> str:
        return f'"{self.chance.pick(*[name for name in NAMES if name not in {"pk", "sk"}])}"'

    def condition(self) -> str:
        chance, name = self.chance, self.attribute()
        match chance.below(7):
            case 0:
                return f"{name} IS {'NOT ' if chance.one_in(2) else ''}{chance.pick(*TYPES)}"
            case 1:
                return f"attribute_exists({name})"
            case 2:
                return f"{name} IN [{self.given(chance.value())}, {self.given(chance.value())}]"
            case 3:
                return f"contains({name}, {self.given(chance.value())})"
            case 4:
                return f"NOT {name} = {self.given(chance.value())}"
            case 5:
                return f"size({name}) {chance.pick(*COMPARATORS)} {self.given({'N': '2'})}"
            case _:
                return f"{name} {chance.pick('=', '<>')} {self.given(chance.value())}"

    def conditions(self) -> str:
        chance = self.chance
        if chance.one_in(4):
            return f"({self.condition()} {chance.pick('AND', 'OR')} {self.condition()})"
        return self.condition()

    def keyed(self) -> str:
        """Return a WHERE clause that usually selects one item."""
        key = {name: value for name, value in self.key().items() if name in {"pk", "sk"}}
        terms = [f'"{name}" = {self.given(value)}' for name, value in key.items()]
        if self.chance.one_in(3):
            terms.append(self.conditions())
        return f"WHERE {' AND '.join(terms)}" if terms else ""

    @property
    def table(self) -> str:
        return f'"{self.name}"'

    # --- statements

    def select(self) -> Request:
        return "ExecuteStatement", self.stated(self._select())

    def _select(self) -> str:
        chance = self.chance
        shown = "*"
        if chance.one_in(3):
            shown = ", ".join(f'"{name}"' for name in chance.random.sample(NAMES, 1 + chance.below(3)))
        match chance.below(4):
            case 0:
                where = self.keyed()
            case 1:
                pk = chance.pick(*self.form.keys)["pk"]
                where = f'WHERE "pk" = {self.given(pk)}' + (f" AND {self.conditions()}" if chance.one_in(2) else "")
            case 2:
                value, other = (chance.pick(*self.form.keys)["pk"] for _ in range(2))
                where = f'WHERE "pk" IN [{self.given(value)}, {self.given(other)}]'
            case _:
                where = f"WHERE {self.conditions()}" if chance.one_in(2) else ""
        return f"SELECT {shown} FROM {self.table} {where}"

    def ranged(self) -> Request:
        """Return a SELECT on the table or on an index, with one of the key conditions of the table's form."""
        chance = self.chance
        text, values, index = chance.pick(*self.form.questions)
        if index in {"ByAll", "Two"}:
            text, values, index = "pk = :p", {":p": chance.pick(*self.form.keys)["pk"]}, None
        for name in ("pk", "sk", "g", "h", "l", "m"):
            text = re.sub(rf"(?<![\w:]){name}\b", f'"{name}"', text)
        text = re.sub(r":\w", lambda found: self.literal(values[found[0]]), text)
        source = self.table if index is None else f'{self.table}."{index}"'
        more = {}
        if index is None and chance.one_in(3):
            more = {"Limit": chance.pick(1, 2, 50)}
        order = ""
        if index is None and self.form.sorted_by and not more and chance.one_in(2):
            # With a limit, Local always starts at the lower end.
            order = f'ORDER BY "{self.form.sorted_by}" {chance.pick("ASC", "DESC")}'
        return "ExecuteStatement", {**self.stated(f"SELECT * FROM {source} WHERE {text} {order}"), **more}

    def insert(self) -> Request:
        return "ExecuteStatement", self.stated(self._insert())

    def _insert(self) -> str:
        item = {**self.key(), **{name: self.chance.value() for name in ("note", "count")}}
        members = ", ".join(f"'{name}': {self.literal(value)}" for name, value in item.items())
        return f"INSERT INTO {self.table} VALUE {{{members}}}"

    def change(self) -> Request:
        return "ExecuteStatement", self.stated(self._change())

    def _change(self) -> str:
        chance, name = self.chance, self.attribute()
        returning = chance.pick("", "", "RETURNING ALL OLD *", "RETURNING MODIFIED NEW *", "RETURNING ALL NEW *")
        match chance.below(8):
            case 0:
                change = f"REMOVE {name}"
            case 1:
                change = f"SET {name} = {name} + {self.given({'N': '1'})}"
            case 2:
                change = f"SET {name} = {chance.pick('set_add', 'set_delete')}({name}, <<'a', 'new'>>)"
            case 3:
                change = f'SET "list" = list_append("list", {self.given({"L": [chance.value(0)]})})'
            case 4:
                change = f"SET {name} = if_not_exists({self.attribute()}, {self.literal(chance.value())})"
            case 5:
                # Returned parts of nested paths differ, as in UpdateItem.
                path = chance.pick('"map"."in"', '"list"[0]', '"map"."list"[0]', '"map"."txt"."deeper"', '"list"[9]')
                change = f"REMOVE {path}" if chance.one_in(2) else f"SET {path} = {self.literal(chance.value())}"
                returning = returning.replace("MODIFIED", "ALL")
            case _:
                change = f"SET {name} = {self.literal(chance.value())}"
                if chance.one_in(3):
                    change += f" REMOVE {self.attribute()}"
        return f"UPDATE {self.table} {change} {self.keyed()} {returning}"

    def remove(self) -> Request:
        return "ExecuteStatement", self.stated(self._remove())

    def _remove(self) -> str:
        return f"DELETE FROM {self.table} {self.keyed()} {self.chance.pick('', 'RETURNING ALL OLD *')}"

    def batch(self) -> Request:
        """Return a batch of two reads or one write. DynamoDB Local rejects the whole batch if one read is invalid."""
        if self.chance.one_in(2):
            keys = self.chance.random.sample(self.form.keys, 2)
            wheres = [" AND ".join(f'"{name}" = {{}}' for name in key) for key in keys]
            statements = [
                self.stated(f"SELECT * FROM {self.table} WHERE " + where.format(*map(self.given, key.values())))
                for where, key in zip(wheres, keys, strict=True)
            ]
        else:
            self.chance.faults_left = 0
            statements = [self.stated(self.chance.pick(self._insert, self._change, self._remove)())]
        return "BatchExecuteStatement", {"Statements": statements}

    def transaction(self) -> Request:
        """Return a transaction of two reads or one write."""
        _, params = self.batch()
        statements = params.get("Statements", [])
        for statement in statements:
            statement["Statement"] = statement["Statement"].split("RETURNING", maxsplit=1)[0]
        return "ExecuteTransaction", {"TransactStatements": statements}
