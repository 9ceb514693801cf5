"""What is made of each way in which the runs of a write end; and the shapes of expressions in its code."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterable
from itertools import product
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from keyplan import Add, Update
from keyplan.errors import ArgumentError, KeyFieldError, RequestError
from keyplan.rehearsal import syntax
from keyplan.rehearsal.account import Account, Accounts
from keyplan.rehearsal.code import Action, Ask, WrittenCode
from keyplan.rehearsal.running import Refused, Rehearsal
from keyplan.rehearsal.sources import Sources, is_authors, unwrapped
from keyplan.rehearsal.trials import CalledWithinError, Tried
from tests.agreed import assert_agreed
from tests.rehearsal import test_code
from tests.rehearsal.kennels import Kennels
from tests.rehearsal.test_code import Item, Note, Things

DESIGN = Things.compiled
ITEM, NOTE, NAMED = DESIGN.entities[Item], DESIGN.entities[Note], Kennels.compiled.by_name["Dog"]


def _invalid() -> ValidationError:
    try:
        Item(name=1, number=[])  # type: ignore[arg-type]
    except ValidationError as error:
        return error
    raise AssertionError


def refused(error: Any, line: int | None = 3, action: Any = None, *, always: bool = False) -> Refused:
    return Refused(error, line, action, always=always)


FIELD, KEY, OTHER = (
    ArgumentError("no", place="Item.number"), KeyFieldError("long", place="Item.name", hint="cut it"),
    RequestError("too many"),
)  # fmt: skip
ACTION = Update(Item(name="x"), number=Add(1))
REFUSED: dict[str, list[Refused]] = {
    "none": [],
    "always": [refused(OTHER, always=True)],
    "together": [refused(OTHER)],
    "twice together": [refused(OTHER), refused(OTHER)],
    "a field": [refused(FIELD)],
    "one field twice": [refused(FIELD), refused(ArgumentError("so", place="Item.number"))],
    "a field of two lines": [refused(FIELD), refused(FIELD, 4)],
    "two fields": [refused(FIELD), refused(KEY)],
    "two places": [refused(KEY), refused(KeyFieldError("long", place="Item.other"))],
    "of an action": [refused(OTHER, action=ACTION)],
    "a field of an action": [refused(FIELD, action=ACTION)],
    "always, of an action": [refused(FIELD, action=ACTION, always=True)],
}
ERRORS: dict[str, list[Exception]] = {
    "none": [],
    "a mistake": [AttributeError("no name")],
    "two mistakes": [NameError("a"), TypeError("b")],
    "one on purpose": [ValueError("no")],
    "one of each": [TypeError("b"), ValueError("no")],
    "invalid": [_invalid()],
    "called": [CalledWithinError("call it by ask")],
}


def account(tried: Tried | None, name: str = "put_one", **code: Any) -> Account:
    pattern = DESIGN.writes[name]
    return Account(DESIGN, pattern, WrittenCode(pattern, known=True, **code), tried)


def test_what_can_never_work_by_its_runs() -> None:
    """Whether a run went through, what the client refused in all runs, and what the code raised."""
    lines: list[str] = []
    opened = [Action("Update", ITEM, 1, open=True)]
    codes: dict[str, dict[str, Any]] = {
        "": {}, "loops": {"loops": True}, "open": {"actions": opened},
        "open elsewhere": {"actions": [Action("Update", NOTE, 1, open=True)]},
        "open anywhere": {"actions": [Action("Update", None, 1, open=True)]},
        "asks in a loop": {"loops": True, "asks": [Ask("item", 1)]},
    }  # fmt: skip
    assert account(None).faults() == ()
    for went_through, (named, refusals), (raised, errors) in product((True, False), REFUSED.items(), ERRORS.items()):
        for text, code in codes.items():
            tried = Tried(
                Rehearsal() if went_through else None, refused=tuple(refusals), errors=tuple(errors), failure="x"
            )
            faults = account(tried, **code).faults()
            if faults or not text:
                said = "; ".join(f"{fault.message} ({fault.hint}) in {fault.line}" for fault in faults) or "nothing"
                lines.append(f"{went_through}, {named}, {raised}, {text}: {said}")
    plain = Tried(None, refused=(refused(OTHER),))
    lines += [f"{name} {account(plain, name, loops=True).faults()}" for name in DESIGN.writes]
    assert_agreed("\n".join(lines))


def test_what_its_actions_need() -> None:
    """Rights, and the operation it is sent as, by its code."""
    batched, plain = {"batched": True}, dict[str, Any]()
    cases: list[list[tuple[str, Any, dict[str, Any]]]] = [
        [],
        *([(kind, ITEM, plain)] for kind in ("Put", "Create", "Update", "Delete", "Check")),
        *([(kind, NAMED, plain)] for kind in ("Put", "Create", "Update", "Delete", "Check")),
        [("Update", NAMED, {"changes": {"tag": "set"}})],
        [("Update", NAMED, {"changes": {"fed": "set"}})],
        [("Update", NAMED, {"changes": {"fed": "set"}, "open": True})],
        [("Put", None, plain)],
        [("Put", ITEM, plain), ("Delete", NOTE, plain)],
        [("Put", ITEM, batched)],
        [("Put", ITEM, batched), ("Delete", NOTE, batched)],
        [("Put", ITEM, batched), ("Delete", NOTE, plain)],
    ]
    lines: list[str] = []
    for case, loops, joined in product(cases, (False, True), (False, True)):
        actions = [Action(kind, entity, 1, **given) for kind, entity, given in case]
        kinds = dict.fromkeys([*(each.kind for each in actions), *("Batch" for each in actions if each.batched)])
        names = dict.fromkeys(entity.name for _, entity, _ in case if entity is not None)
        made = account(None, actions=actions, mentioned=kinds, entities=names, loops=loops)
        made.design, made.joined = (Kennels.compiled if NAMED.name in names else DESIGN), joined
        said = f"{made.operation}; {', '.join(made.rights)}; {[entity.name for entity in made.entities]}"
        lines.append(
            f"{[(kind, entity and entity.name, given) for kind, entity, given in case]} {loops} {joined}: {said}"
        )
    assert_agreed("\n".join(lines))


def test_a_write_is_run_only_where_its_code_says_too_little() -> None:
    accounts = Accounts(DESIGN, Things)
    pattern = DESIGN.writes["put_one"]
    assert accounts.unrun(pattern).tried is None
    code = WrittenCode(pattern, known=True)
    for given, is_run in ((code, True), (WrittenCode(pattern, mentioned={"Put": None}), True)):
        other = Accounts(DESIGN, Things)
        other.code = lambda _, given=given: given  # type: ignore[method-assign,misc]
        assert (other.unrun(pattern).tried is not None) is is_run
        assert other.of(pattern) is other.of(pattern)
    assert Accounts(DESIGN, None).of(pattern).tried is None


EXPRESSIONS = [
    "Update(x)", "Update(x, a=1).set(b=2).only_if(c=3, d=y)", 'Update(x).only_if("a < :b AND size(c) = :d", b=1, d=2)',
    "update.only_if(a=1)", "update.other(a=1)", "make().put(x).only_if('a')", "self.article.ask", "self.close.join",
    "article.ask", "ask", "self.article.asks(1)", "item.model_copy(update={'a': 1, b: 2, **c})", "item.copy(update=1)",
    "Item(name=x, number=1, **rest)", "Update(x).at(lambda i: i.a.b).set(1)", "Update(x).at(lambda i: i.a['k']).add(y)",
    "Update(x).at(lambda i: i.a[k]).append(y).at(lambda i: i.a.c).set(2)", "Update(x).at(path).remove()",
    "Update(x).at(lambda i: i.a[k].b[0]).set(y)", "Update(x).at(lambda i: i[k]).set(y)", "Update(x).set(1).at().set(2)",
    "Update(x).at(lambda i: i.a).remove().at(lambda i: i.a).add(1).at(lambda i: i.a).set(1)", "a.b.lower()",
    "(a + b.c).casefold().upper(d)", "lower(a)", "only_if(a=True, b=None, c=1.5, d=b'x', e=[1])", "f(a, *b, c=d)",
]  # fmt: skip
FUNCTIONS = [
    "def f(a, b): return a + 1",
    "def f(a, b): return b + 1",
    "def f(self, a):\n  c = a\n  c += 1",
    "def f(a): return len(a)",
    "def f(a): return a.len(1)",
    "def f(a, /, b, *, c):\n  d = e = a\n  return max(e, 1)",
    "def f(cls, a): return a",
    "def f(a): return -a",
    "def f(a, b):\n  c = b\n  return c - 1",
    "def f(a): return [x for x in a] + [1]",
]


def _texts(nodes: Iterable[Any]) -> str:
    return ", ".join(ast.unparse(node) if isinstance(node, ast.AST) else str(node) for node in nodes)


def test_shapes_of_expressions() -> None:
    lines: list[str] = []
    for text in EXPRESSIONS:
        node = ast.parse(text, mode="eval").body
        inner, methods = syntax.chain(node)
        calls = [call for each in methods.values() for call in each]
        given = {name: _texts([value]) for name, value in syntax.fields_given(node).items()}
        call = inner if isinstance(inner, ast.Call) else node
        changes = {word.arg: word.value for word in getattr(call, "keywords", []) if word.arg is not None}
        answers: dict[str, Any] = {
            "chain": f"{ast.unparse(inner)} {({name: len(each) for name, each in methods.items()})}",
            "constants": list(syntax.constants(changes, calls)), "expected": list(syntax.expected(calls)),
            "named": list(syntax.named(node)), "asked": syntax.asked(node), "joined": syntax.joined(node),
            "copy": syntax.copied(node) is not None, "given": given,
            "parts": syntax.parts_changed(methods), "keys": list(syntax.new_keys(methods)),
            "set": [(name, ast.unparse(value)) for name, value in syntax.parts_set(methods)],
            "folded": list(syntax.folded_by(node)),
        }  # fmt: skip
        lines += [text, *(f"    {name}: {answer}" for name, answer in answers.items() if answer)]
    for text in FUNCTIONS:
        (function,) = ast.parse(text).body
        assert isinstance(function, ast.FunctionDef)
        calls_of = [ast.parse(each, mode="eval").body for each in ("f(1, 2)", "x.f(1, 2)", "f(b=1, **c)", "f()")]
        lines.append(text)
        for each in calls_of:
            assert isinstance(each, ast.Call)
            pairs = [(name, ast.unparse(value)) for name, value in syntax.arguments_of(each, function)]
            lines.append(f"    {ast.unparse(each)}: {pairs}")
        known = {name: syntax.computes_with(function, {name}, (ast.Add, ast.Sub)) for name in "abc"}
        lines.append(f"    computes with {known}")
    assert_agreed("\n".join(lines))


def test_where_functions_and_members_stand() -> None:
    sources = Sources()
    pattern = DESIGN.writes["put_one"]
    code = unwrapped(pattern.function)
    assert code is not None
    node = sources.function(code)
    assert node is not None
    end = node.end_lineno or 0
    for line, wanted in (
        (node.lineno, node.lineno), (end, end), (end + 1, node.lineno), (node.lineno - 1, node.lineno),
        (None, node.lineno),
    ):  # fmt: skip
        found = sources.of_function(code, line)
        assert found is not None
        assert found.line == wanted
    written = Path(test_code.__file__).read_text(encoding="utf-8").splitlines()
    for name in ("Things.table", "Things", "Item.number", "Item.primary", "Things.put_one", "Things.nothing"):
        source = sources.named(test_code.__file__, name)
        assert source is not None
        text = written[source.line - 1]
        head, _, member = name.partition(".")
        wanted_text = {"": f"class {head}", "nothing": f"class {head}", "put_one": "def put_one"}.get(member, member)
        assert wanted_text in text
    assert sources.named(test_code.__file__, "Nobody.table") is None
    assert sources.named("/nonexistent.py", "Things") is None
    assert sources.of_class(int) is None
    assert unwrapped(3) is None
    assert unwrapped(len) is None


def test_whose_functions_are_followed() -> None:
    functions: list[tuple[Callable[..., Any], str, bool]] = [
        (account, "tests", True), (account, "other", True), (json.dumps, "tests", False),
        (assert_agreed, "tests", True), (ast.walk, "tests", True), (Accounts.of, "tests", False),
        (Accounts.of, "keyplan", False), (product_of, "other", True),
    ]  # fmt: skip
    for function, package, wanted in functions:
        assert is_authors(function, package) is wanted, function


def product_of(a: int) -> int:
    return a
