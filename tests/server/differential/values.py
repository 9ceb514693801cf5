"""Generated attribute values, items and expressions, valid and invalid, all determined by a seed."""

from __future__ import annotations

import base64
import random
from dataclasses import dataclass, field
from typing import Any

TEXTS = ["", "a", "b", "ab", "abc", "é", "日本", "a#b", "\u0000", "Z" * 300]
NUMBERS = ["0", "1", "-1", "2", "10", "1.5", "-0.25", "1E+3", "1e-5", "99999999999999999999999999999999999999", "007"]
WRONG_NUMBERS = ["", "x", "1e400", "1" * 39, "--1", "NaN", "0x1", "1e-200", " 1"]
BYTES = [b"", b"\x00", b"ab", b"\xff\xfe", b"abc"]
NAMES = ["note", "count", "list", "map", "set", "l", "g", "h", "m", "name", "pk", "sk"]
RESERVED = frozenset({"count", "list", "map", "set", "name"})


def s(value: str) -> dict[str, str]:
    return {"S": value}


def n(value: object) -> dict[str, str]:
    return {"N": str(value)}


def b(value: bytes) -> dict[str, str]:
    return {"B": base64.b64encode(value).decode()}


@dataclass
class Placeholders:
    """The placeholders of attribute names and values in an expression."""

    names: dict[str, str] = field(default_factory=dict[str, str])
    values: dict[str, Any] = field(default_factory=dict[str, Any])

    def name(self, name: str) -> str:
        self.names[f"#{name}"] = name
        return f"#{name}"

    def value(self, value: Any) -> str:
        key = f":v{len(self.values)}"
        self.values[key] = value
        return key

    def members(self) -> dict[str, Any]:
        """Return the request members that define the placeholders."""
        return {
            name: member
            for name, member in (("ExpressionAttributeNames", self.names), ("ExpressionAttributeValues", self.values))
            if member
        }


class Chance:
    """Random choices that are determined by a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.linked: tuple[str, ...] = ()
        """Attributes that are only set and removed together."""
        self.faults_left = 0

    def word(self, *options: str) -> str:
        return self.random.choice(options)

    def pick(self, *options: Any) -> Any:
        return self.random.choice(options)

    def one_in(self, number: int) -> bool:
        return self.random.randrange(number) == 0

    def below(self, number: int) -> int:
        return self.random.randrange(number)

    def errs(self, number: int) -> bool:
        """Return True in about one of ``number`` calls, to make the request invalid. A request gets at most one error,
        since the two stores report errors in different orders.
        """
        if self.faults_left and self.one_in(number):
            self.faults_left -= 1
            return True
        return False

    # --- values

    def value(self, depth: int = 2) -> dict[str, Any]:
        """Return a valid attribute value of any type."""
        kinds = ["S", "S", "N", "N", "B", "BOOL", "NULL", "SS", "NS", "BS"]
        if depth:
            kinds += ["L", "M"]
        match self.pick(*kinds):
            case "S":
                return s(self.pick(*TEXTS))
            case "N":
                return n(self.pick(*NUMBERS))
            case "B":
                return b(self.pick(*BYTES))
            case "BOOL":
                return {"BOOL": self.pick(True, False)}
            case "NULL":
                return {"NULL": True}
            case "SS":
                return {"SS": self.random.sample(["p", "q", "r", "é"], 1 + self.below(3))}
            case "NS":
                return {"NS": self.random.sample(["1", "2", "-3", "4.5"], 1 + self.below(3))}
            case "BS":
                return {"BS": [b(each)["B"] for each in self.random.sample([b"a", b"b", b"cc"], 1 + self.below(2))]}
            case "L":
                return {"L": [self.value(depth - 1) for _ in range(self.below(4))]}
            case _:
                return {"M": {self.pick("in", "text", "x y"): self.value(depth - 1) for _ in range(self.below(3))}}

    def wrong_value(self) -> Any:
        """Return an invalid attribute value."""
        return self.pick(
            n(self.pick(*WRONG_NUMBERS)),
            *({"B": "!"}, {"SS": []}, {"SS": ["a", "a"]}, {"NS": ["1", "1.0"]}, {"NS": ["x"]}, {"BS": []}),
            *({"NULL": False}, {"S": "a", "N": "1"}, {}, {"L": [{"N": "x"}]}, {"M": {"a": {"SS": []}}}),
        )

    def attributes(self) -> dict[str, Any]:
        """Return attributes of an item, except its key. Attributes of index keys usually have the correct type."""
        possible: dict[str, Any] = {
            "g": s(self.pick("g", "gg")),
            "h": n(self.pick(-1, 0, 2, 10, "1.5", "1E+3")),
            "l": s(self.pick("l1", "l2")),
            "m": s("m"),
            "note": s("x" * self.pick(0, 3, 1100, 5000)),
            "list": {"L": [n(self.below(4)) for _ in range(self.below(4))]},
            "map": {"M": {"in": n(self.below(4)), "txt": s("t"), "list": {"L": [s("e")]}}},
            "set": {"SS": self.random.sample(["p", "q", "r"], 1 + self.below(3))},
            "count": n(self.below(4)),
            "name": self.value(),
        }
        chosen = {name: value for name, value in possible.items() if self.one_in(2)}
        # Local counts a unit for an index entry with only a part of the key.
        if not all(name in chosen for name in self.linked):
            for name in self.linked:
                chosen.pop(name, None)
        if self.errs(8):
            chosen[self.pick(*({"l", "m", "note"} - set(self.linked)))] = self.value()
        if self.errs(8):
            chosen[self.pick("note", "count", "name", "list")] = self.wrong_value()
        return chosen

    # --- expressions

    def path(self, given: Placeholders, *, wrong: bool = False) -> str:
        name = self.pick(*NAMES)
        if wrong and self.errs(12):
            return self.word("status", "a..b", "a[", "#undefined", "a.b.c[0][1]", "1a", "_", "a-b", "item")
        root = given.name(name) if name in RESERVED and not self.errs(25) else name
        if name == "map" and self.one_in(2):
            return root + self.inner(given)
        if name == "list" and self.one_in(2):
            return f"{root}[{self.below(4)}]"
        return root

    def operand(self, given: Placeholders) -> str:
        if self.one_in(4):
            return f"size({self.path(given)})"
        if self.one_in(2):
            return self.path(given, wrong=True)
        if self.errs(25):
            return ":undefined"
        return given.value(self.wrong_value() if self.errs(25) else self.value(1))

    def inner(self, given: Placeholders) -> str:
        """Return the end of a path, after the attribute ``map``."""
        match self.below(6):
            case 0:
                return f".{given.name('in')}"
            case 1:
                return f".{given.name('list')}{self.word('', '[0]', '[7]')}"
            case 2:
                return self.word(".nothing", ".txt.deeper")
            case _:
                return ".txt"

    def scalar(self, given: Placeholders) -> str:
        """Return an operand of a type that can be ordered."""
        if self.one_in(4):
            return f"size({self.path(given)})"
        if self.one_in(2):
            return self.path(given, wrong=True)
        if self.errs(10):
            return given.value(self.value(1))
        return given.value(self.pick(s(self.pick(*TEXTS)), n(self.pick(*NUMBERS)), b(b"ab")))

    def test(self, given: Placeholders) -> str:
        """Return a condition without AND or OR."""
        scalar = self.scalar
        match self.below(10):
            case 0 | 1 | 2:
                if self.one_in(3):
                    return f"{self.operand(given)} {self.pick('=', '<>')} {self.operand(given)}"
                return f"{scalar(given)} {self.pick('<', '<=', '>', '>=')} {scalar(given)}"
            case 3:
                low, high = self.pick((s("a"), s("b")), (n(-1), n(2)), (b(b"a"), b(b"b")), (n(1), n(1)))
                if self.errs(10):
                    low, high = self.pick((n(2), n(1)), (n(1), s("a")), ({"NULL": True}, n(1)))
                return f"{self.path(given)} BETWEEN {given.value(low)} AND {given.value(high)}"
            case 4:
                operands = ", ".join(self.operand(given) for _ in range(1 + self.below(3)))
                return f"{self.path(given)} IN ({operands})"
            case 5 | 6:
                return f"{self.pick('attribute_exists', 'attribute_not_exists')}({self.path(given, wrong=True)})"
            case 7:
                kind = "X" if self.errs(8) else self.pick("S", "N", "B", "SS", "NS", "BS", "L", "M", "BOOL", "NULL")
                return f"attribute_type({self.path(given)}, {given.value(s(kind))})"
            case 8:
                prefix = given.value(n(1) if self.errs(8) else self.pick(s("a"), s(""), b(b"a")))
                return f"begins_with({self.path(given)}, {prefix})"
            case _:
                return f"contains({self.path(given)}, {self.operand(given)})"

    def condition(self, given: Placeholders, depth: int = 2) -> str:
        if depth == 0 or self.one_in(2):
            return self.test(given)
        if self.errs(10):
            return self.word(
                "", "(", "a = ", "NOT", "a AND", "unknown(a)", "a = b = c", "((a = b))", "attribute_exists(a, b)"
            )
        match self.below(4):
            case 0:
                return f"NOT {self.condition(given, depth - 1)}"
            case 1:
                return f"({self.condition(given, depth - 1)})"
            case _:
                operator = self.pick("AND", "OR", "and", "Or")
                return f"{self.condition(given, depth - 1)} {operator} {self.condition(given, depth - 1)}"

    def update(self, given: Placeholders) -> str:
        sections: list[str] = []
        names = [name for name in NAMES if name not in ("pk", "sk", *self.linked) or (name[1:] == "k" and self.errs(8))]
        if self.linked and self.one_in(4):
            right = {"g": s(self.pick("g", "gg")), "h": n(self.pick(1, 2)), "l": s("l1"), "m": s("m")}
            if self.one_in(3):
                return f"REMOVE {', '.join(self.linked)}"
            return "SET " + ", ".join(f"{name} = {given.value(right[name])}" for name in self.linked)
        self.random.shuffle(names)

        def target() -> str:
            name = names.pop() if names and not self.errs(20) else "note"
            root = given.name(name) if name in RESERVED else name
            if name == "map" and self.one_in(2):
                return root + self.inner(given)
            if name == "list" and self.one_in(2):
                return f"{root}[{self.pick(0, 1, 9)}]"
            return root

        def assigned(path: str) -> str:
            match self.below(6):
                case 0:
                    return f"if_not_exists({self.path(given)}, {given.value(self.typed(path))})"
                case 1 if "list" in path or self.errs(10):
                    return f"list_append({self.pick(path, given.value({'L': [n(1)]}))}, {given.value({'L': [s('e')]})})"
                case 2 if "count" in path or self.errs(10):
                    return f"{self.pick(path, given.value(n(3)))} {self.pick('+', '-')} {given.value(n(2))}"
                case 3:
                    return self.path(given)
                case _:
                    return given.value(self.wrong_value() if self.errs(20) else self.typed(path))

        def clause(section: str) -> str:
            if section in {"ADD", "DELETE"} and not self.errs(8):
                name, value = "set", {"SS": self.pick(["p", "q"], ["z"])}
                if section == "ADD" and self.one_in(2):
                    name, value = "count", self.pick(n(5), n("-1.5"))
                if name in names:
                    names.remove(name)
                    return f"{given.name(name)} {given.value(value)}"
            path = target()
            match section:
                case "SET":
                    return f"{path} = {assigned(path)}"
                case "REMOVE":
                    return path
                case _:
                    return f"{path} {given.value(self.pick(n(5), {'SS': ['z', 'p']}, s('x'), {'NS': ['1']}))}"

        for section in self.random.sample(["SET", "SET", "REMOVE", "ADD", "DELETE"], 1 + self.below(2)):
            if not any(each.startswith(section) for each in sections):
                sections.append(f"{section} {', '.join(clause(section) for _ in range(1 + self.below(2)))}")
        if self.errs(10):
            wrong = ",SET,SET a,SET a = :undefined,SET a = b REMOVE,SET a = 1,ADD a b,set a = b set c = d"
            return self.word(*wrong.split(","))
        return " ".join(sections)

    def typed(self, path: str) -> Any:
        """Return a value for a path. The values of index key attributes usually have the correct type."""
        right = {"g": s("gg"), "h": n(2), "l": s("l2"), "m": s("m")}
        return right[path] if path in right and not self.errs(6) else self.value(1)

    def projection(self, given: Placeholders) -> str:
        if self.errs(6):
            return ", ".join(self.path(given, wrong=True) for _ in range(1 + self.below(4)))
        names = self.random.sample(NAMES, 1 + self.below(3))
        return ", ".join(given.name(name) if name in RESERVED else name for name in names)

    def placed(self, given: Placeholders) -> dict[str, Any]:
        """Return the request members that define the placeholders, sometimes with an unused placeholder."""
        if self.errs(20):
            given.values[":unused"] = s("x")
        if self.errs(20):
            given.names["#unused"] = "x"
        if self.errs(40):
            given.values["novalue"] = s("x")
        if self.errs(40):
            given.names["noname"] = "x"
        return given.members()
