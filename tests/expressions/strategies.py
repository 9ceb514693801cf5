"""Strategies for small trees, items and values, so that paths and values of property tests often coincide."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from keyplan.dynamodb.expressions import tree

NAMES = ["a", "b", "c", "d"]
STRINGS = ["", "a", "ab", "b", "é", "€😀"]
NUMBERS = ["0", "1", "2", "10", "-1", "1.5", "0.001"]
BINARIES = ["", "YQ==", "YWI=", "/w=="]

scalars = st.one_of(
    st.sampled_from(STRINGS).map(lambda text: {"S": text}),
    st.sampled_from(NUMBERS).map(lambda text: {"N": text}),
    st.sampled_from(BINARIES).map(lambda text: {"B": text}),
    st.booleans().map(lambda flag: {"BOOL": flag}),
    st.just({"NULL": True}),
)


def _sets(tag: str, members: list[str]) -> st.SearchStrategy[dict[str, Any]]:
    return st.lists(st.sampled_from(members), min_size=1, unique=True).map(lambda chosen: {tag: chosen})


sets = st.one_of(_sets("SS", STRINGS[1:]), _sets("NS", NUMBERS), _sets("BS", BINARIES[1:]))
values: st.SearchStrategy[dict[str, Any]] = st.recursive(
    st.one_of(scalars, sets),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda content: {"L": content}),
        st.dictionaries(st.sampled_from(NAMES), inner, max_size=3).map(lambda content: {"M": content}),
    ),
    max_leaves=5,
)
items = st.dictionaries(st.sampled_from(NAMES), values, max_size=4)

paths = st.builds(
    lambda first, rest: tree.Path((first, *rest)),
    st.sampled_from(NAMES),
    st.lists(st.one_of(st.sampled_from(NAMES), st.integers(0, 3)), max_size=2),
)
placeholders = st.sampled_from([":v0", ":v1", ":v2"]).map(tree.Value)
sizes = st.one_of(paths, placeholders).map(lambda operand: tree.Call("size", (operand,)))
operands: st.SearchStrategy[tree.Operand] = st.one_of(paths, placeholders, sizes)

_comparisons: st.SearchStrategy[tree.Condition] = st.one_of(
    st.builds(tree.Compare, st.sampled_from(["=", "<>", "<", "<=", ">", ">="]), operands, operands),
    st.builds(tree.Between, operands, operands, operands),
    st.builds(tree.In, operands, st.lists(operands, min_size=1, max_size=3).map(tuple)),
    st.builds(
        lambda name, path: tree.Call(name, (path,)),
        st.sampled_from(["attribute_exists", "attribute_not_exists"]),
        paths,
    ),
    st.builds(
        lambda name, first, second: tree.Call(name, (first, second)),
        st.sampled_from(["begins_with", "contains", "attribute_type"]),
        operands,
        operands,
    ),
)
conditions: st.SearchStrategy[tree.Condition] = st.recursive(
    _comparisons,
    lambda inner: st.one_of(
        inner.map(tree.Not),
        st.lists(inner, min_size=2, max_size=3).map(lambda some: tree.And(tuple(some))),
        st.lists(inner, min_size=2, max_size=3).map(lambda some: tree.Or(tuple(some))),
    ),
    max_leaves=5,
)

_set_operands: st.SearchStrategy[tree.Operand] = st.one_of(
    paths,
    placeholders,
    st.builds(lambda path, other: tree.Call("if_not_exists", (path, other)), paths, st.one_of(paths, placeholders)),
)
_set_values: st.SearchStrategy[tree.Operand] = st.one_of(
    _set_operands,
    st.builds(tree.Arithmetic, st.sampled_from(["+", "-"]), _set_operands, _set_operands),
    st.builds(lambda value, two: tree.Call("list_append", (value, two)), _set_operands, _set_operands),
)


def _sections(parts: tuple[list[Any], list[Any], list[Any], list[Any]]) -> tree.Update:
    return tree.Update(tuple(action for part in parts for action in part))


updates: st.SearchStrategy[tree.Update] = (
    st.tuples(
        st.lists(st.builds(tree.Set, paths, _set_values), max_size=2),
        st.lists(st.builds(tree.Remove, paths), max_size=2),
        st.lists(st.builds(tree.Add, paths, placeholders), max_size=1),
        st.lists(st.builds(tree.Delete, paths, placeholders), max_size=1),
    )
    .map(_sections)
    .filter(lambda update: bool(update.actions))
)
# Updates that are mostly valid: for an item of this shape, at paths that don't overlap.
fitting_items = st.fixed_dictionaries(
    {
        "a": st.sampled_from(NUMBERS).map(lambda text: {"N": text}),
        "b": st.lists(scalars, max_size=4).map(lambda content: {"L": content}),
        "c": st.fixed_dictionaries(
            {"l": st.just({"L": [{"N": "1"}, {"N": "2"}]}), "s": _sets("SS", STRINGS[1:])},
            optional={"a": st.just({"N": "7"})},
        ).map(lambda content: {"M": content}),
        "d": _sets("NS", NUMBERS),
    }
)
_FREE_PATHS: list[tuple[str | int, ...]] = [
    *(("a",), ("e",), ("b", 0), ("b", 1), ("b", 2), ("b", 9), ("b", 7), ("c", "a"), ("c", "l", 0), ("c", "l", 1)),
    *(("c", "l", 5), ("c", "s"), ("c", "z"), ("d",)),
]
_NUMBER_PATHS = [tree.Path(("a",)), tree.Path(("c", "l", 0)), tree.Path(("c", "l", 1))]
_LIST_PATHS = [tree.Path(("b",)), tree.Path(("c", "l"))]
_number_operands: st.SearchStrategy[tree.Operand] = st.one_of(
    st.sampled_from(_NUMBER_PATHS),
    st.just(tree.Value(":n")),
    st.sampled_from([("c", "a"), ("e",)]).map(
        lambda parts: tree.Call("if_not_exists", (tree.Path(parts), tree.Value(":n")))
    ),
)
_fitting_values: st.SearchStrategy[tree.Operand] = st.one_of(
    st.sampled_from([tree.Value(":n"), tree.Value(":l"), tree.Path(("b",)), tree.Path(("c",))]),
    _number_operands,
    st.builds(tree.Arithmetic, st.sampled_from(["+", "-"]), _number_operands, _number_operands),
    st.builds(
        lambda value, two: tree.Call("list_append", (value, two)),
        st.sampled_from(_LIST_PATHS),
        st.sampled_from([*_LIST_PATHS, tree.Value(":l")]),
    ),
)


@st.composite
def fitting_updates(draw: st.DrawFn) -> tree.Update:
    """An update that is valid for ``fitting_items``."""
    actions: list[tree.Action] = []
    for parts in draw(st.lists(st.sampled_from(_FREE_PATHS), min_size=1, max_size=5, unique=True)):
        path = tree.Path(parts)
        choices: list[st.SearchStrategy[tree.Action]] = [
            st.builds(tree.Set, st.just(path), _fitting_values),
            st.just(tree.Remove(path)),
        ]
        if parts in {("a",), ("e",), ("c", "a"), ("c", "z"), ("c", "l", 0), ("c", "l", 5)}:
            choices.append(st.just(tree.Add(path, tree.Value(":n"))))
        if parts in {("d",), ("c", "s")}:
            value = tree.Value(":ns" if parts == ("d",) else ":ss")
            choices += [st.just(tree.Add(path, value)), st.just(tree.Delete(path, value))] * 2
        actions.append(draw(st.one_of(choices)))
    order = [tree.Set, tree.Remove, tree.Add, tree.Delete]
    return tree.Update(tuple(sorted(actions, key=lambda action: order.index(type(action)))))


fitting_given_values = st.fixed_dictionaries(
    {
        ":n": st.sampled_from(NUMBERS).map(lambda text: {"N": text}),
        ":l": st.lists(scalars, max_size=2).map(lambda content: {"L": content}),
        ":ns": _sets("NS", NUMBERS),
        ":ss": _sets("SS", STRINGS[1:]),
    }
)
given_values = st.fixed_dictionaries({":v0": values, ":v1": values, ":v2": scalars})
