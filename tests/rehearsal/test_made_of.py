# mypy: disable-error-code="empty-body,assignment,arg-type,misc,operator,call-arg,union-attr,name-defined"
"""What each variable of a write holds, and what each expression is made of: read from one body that has them all."""

from __future__ import annotations

import json
from typing import Annotated, Any

import pytest
from pydantic import Field

from keyplan import (
    Add,
    Append,
    Batch,
    Create,
    Delete,
    Design,
    Entity,
    Key,
    Put,
    Remove,
    Table,
    Update,
    Writes,
    read,
    write,
)
from keyplan.analysis.rehearsal.code import WrittenCode
from keyplan.analysis.rehearsal.following import _Reader, _Scope
from keyplan.analysis.rehearsal.sources import FunctionNode, Sources, unwrapped

WORD = "word"


class Tool(Entity):
    name: str
    note: str = ""
    count: int = 0
    low: Annotated[int, Field(ge=0)] = 0
    parts: list[str] = Field(default_factory=list)
    tags: set[str] = Field(default_factory=set)
    sizes: dict[str, int] = Field(default_factory=dict)

    primary = Key("TOOL#{name}", "HEAD")


class Nail(Entity):
    name: str
    number: int = 0

    primary = Key("TOOL#{name}", "NAIL#{number:04d}")

    def renamed(self, name: str) -> Put[Nail]:
        return Put(Nail(name=name, number=self.number))


class Outside(Entity):
    name: str
    low: int = 0

    primary = Key("OUTSIDE#{name}", "HEAD")


def pair(tool: Tool) -> tuple[Tool, Nail]:
    return tool, Nail(name=tool.name)


def more(amount: int, other: int = 1) -> int:
    return amount + other


def same(amount: int, other: int = 1) -> int:
    return (amount, other)[0]


def lowered(text: str) -> str:
    return text.lower()


def made(tool: Tool) -> Update[Tool]:
    return Update(tool, count=1)


class Sheds(Design):
    table = Table("sheds", entities=[Tool, Nail])

    @read("R1")
    def tool(self, name: str) -> Tool | None: ...

    @read("R2")
    def nails(self, name: str) -> list[Nail]: ...

    @read("R3")
    def few(self, name: str, limit: int = 4) -> list[Nail]: ...

    @read("R4", entity=Nail)
    def how_many(self, name: str) -> int: ...

    def _found(self, name: str) -> Writes[Tool]:
        tool = yield from self.tool.read(name)
        assert tool is not None
        return tool

    @write("W1")
    def everything(
        self, own: Tool, name: str, many: list[str], one_or_two: Annotated[list[str], Field(max_length=2)], /, *,
        last: Nail, number: int = 3,
    ) -> Writes:  # fmt: skip
        found = yield from self.tool.read(name)
        nails = yield from self.nails.read(name)
        counted = yield from self.how_many.read(name)
        helped = yield from self._found(name)
        length = len(nails)
        copied, alias = own, own
        first, second = pair(own)
        (left, right), third = (own, last), last
        count = own.count
        chosen = found.count if found else 0
        grown = [*nails, last]
        alone = [*nails]
        mapped = {**helped.sizes, name: 1}
        only = {**helped.sizes}
        either = helped.tags | {name}
        sized = helped.count + number
        negative = -helped.count
        words = name + WORD
        total = sum(helped.sizes.values())
        through = more(helped.count)
        behind = same(number, other=helped.count)
        fresh = Nail(name=name, number=1)
        put = Put(fresh)
        update = made(own)
        forgotten = helped
        forgotten = number
        helped.tags.add("x")
        seen = list(helped.parts)
        seen.append("x")
        kept = dict(helped.sizes)
        kept[name] = 2
        told = dict(helped.sizes)
        told["a"] = 2
        number += helped.count
        if own.count > length and counted:
            assert last.number
        for each in nails:
            yield Delete(each)
        for word in many:
            yield Delete(Nail, name=word, number=1)
        for word in (name, WORD):
            yield Delete(Nail, name=word, number=2)
        for _, inner in enumerate(one_or_two):
            yield Update(Tool, name=inner).set(count=Add(1))
        yield Create(Nail(name=name, number=9))
        while number < 3:
            number += 1
        batch = [Put(Nail(name=each, number=1)) for each in many if each]
        yield put
        yield update.only_if(count=count)
        yield Update(copied).at(lambda tool: tool.sizes["a"]).set(sized)
        print(
            first, second, left, right, third, alias, chosen, grown, alone, mapped, only, either, negative, words,
            total, through, behind, forgotten, seen, kept, told, batch, Remove, Append,
        )  # fmt: skip

    @write("W2")
    def spelled(
        self, own: Tool, name: str, /, *, other: Nail | None, tools: list[Tool], rest: dict[str, Any]
    ) -> Writes:  # fmt: skip
        import keyplan.errors as problems  # noqa: PLC0415 - writes that import are what it is about
        from keyplan import Check as Look  # noqa: PLC0415

        bare: int
        found: Tool | None = yield from self.tool.read(name)
        nails = yield from self.nails.read(name)
        if (walrus := found) is not None and walrus.low:
            bare = walrus.low
        built: Any = Nail(name=name, number=1)
        built = name
        held: Any = Put(own)
        held = name
        looked: Any = own
        if looked.note:
            looked = found
        sums: Any = len(nails)
        sums = name
        made_of: Any = own.count
        made_of = name
        items: Any = yield from self.nails.read(name)
        items = name
        computed: Any = own.count + 1
        computed = name
        read_once: Any = yield from self.tool.read(name)
        read_once = name
        longer: Any = [*nails, 1]
        longer = name
        aimed: Any = Nail(name=name)
        aimed = name
        some = dict(own.sizes)
        some[name] = within = name
        (p, q) = both = pair(own)
        third = other
        third.number = beyond = name
        x, y = name, own
        x, y = own, name
        (l2, r2), t2 = own, other
        m1, m2 = Nail(name=name), Tool
        y1, y2 = yield from self._both(name)
        z1, z2 = name, 3
        u1, u2 = nails
        while own.count < 3:
            bare += 1
        match own.note:
            case "a":
                bare = 1
            case text if other.number:
                print(text)
        aside = {each.name for each in tools}
        told = dict.fromkeys(tools, 1)
        lazy = (each for each in nails if len(nails))
        kind = Delete if own.count else Put
        folded = name.lower() + lowered(name) + lowered(text=own.note) + more(1)

        def inner(each: Tool) -> Put[Tool]:
            return Put(each)

        yield Batch([Put(own), Delete(own)])
        yield Batch(Put(Nail(name=each)) for each in name)
        yield kind(own)
        yield Put(own)
        update = Update(own, count=own.count + 1).set(low=1)
        update = update.only_if(note="a").set(note="b").set(**rest)
        update = update.idempotent(f"{name}-{WORD}").if_missing(problems.Refused("x"))
        yield update
        again = (
            Update(Tool, name=name)
            .only_if("#n = :n AND low < :x", n=1, x=2)
            .or_create()
            .idempotent(name)
            .if_missing(held)
        )
        again = again.set(low=Add(1))
        yield again
        new = (
            Update(Tool, name=name)
            .set(tags=own.tags | {name}, note=f"{own.note}!")
            .at(lambda tool: tool.sizes[name])
            .add(1)
        )
        new = new.or_create()
        yield new
        yield made(own).only_if(count=self.tool.read(name))
        for each in nails:
            yield made(own)
            further = yield from self.tool.read(each.name)
        for _ in (1, 2):
            yield from self.few.read(name)
        yield Put(Nail(name=name, number=own.count + 1))
        yield Create(Tool(name=name, parts=[*own.parts, name], note=f"{own.note}"))
        yield Update(own, **rest)
        yield Update(found.model_copy(update={"low": 2}), low=own.low)
        yield Put(own.model_copy(update={"low": own.low + 1}))
        yield Look(Tool, name=name).only_if(low=3)
        yield Put(Outside(name=name))
        yield Update(Outside, name=name).set(low=2)
        yield Put(print(self._found(name)))
        yield update.previous()
        yield Delete(Nail, name=name, number=1).only_if(number=3)
        yield Update(nobody, low=2)  # noqa: F821
        yield Remove(Tool)
        print(
            bare,
            built,
            sums,
            made_of,
            items,
            computed,
            read_once,
            longer,
            aimed,
            within,
            p,
            q,
            both,
            beyond,
            x,
            y,
            l2,
            r2,
            t2,
            m1,
            m2,
            y1,
            y2,
            z1,
            z2,
            u1,
            u2,
            aside,
            told,
            lazy,
            folded,
            inner,
            again,
            further,
        )

    def _both(self, name: str) -> Writes[tuple[Tool, Nail]]:
        tool = yield from self._found(name)
        return tool, Nail(name=name)

    @write("W3")
    def plain(self, own: Tool, more: list[Tool], two: tuple[Tool, Nail]) -> Writes:
        yield Put(own)

    @write("W4")
    def helped(self, own: Nail, name: str) -> Writes:
        yield own.renamed(name)
        yield from self.plain.in_transaction(own)
        yield from self._twice(name)
        yield from self._twice(name)
        yield from json.dumps(name)

    def _twice(self, name: str) -> Writes:
        yield Batch([Put(Nail(name=name))])


def _scope(name: str) -> _Scope:
    pattern = Sheds.compiled.writes[name]
    sources = Sources()
    code = unwrapped(pattern.function)
    assert code is not None
    node = sources.function(code)
    assert node is not None
    reader = _Reader(Sheds.compiled, Sheds, sources, WrittenCode(pattern))
    result = _Scope(reader, pattern.function, node, {"own": Sheds.compiled.by_name["Tool"]}, looped=False)
    result.unbounded.append(None)
    for statement in node.body:
        result.visit(statement)
    return result


@pytest.fixture(scope="module")
def scope() -> _Scope:
    return _scope("everything")


def test_whose_code_a_reader_reads(scope: _Scope) -> None:
    reader = scope.reader
    assert isinstance(reader.authors(more), FunctionNode)
    assert isinstance(reader.authors(Sheds._found), FunctionNode)
    assert reader.authors(json.dumps) is None
    assert reader.authors(3) is None
    assert [each.__name__ for each in reader.methods("_found")] == ["_found"]
    assert list(reader.methods("model_copy")) == []
    assert not reader.function(3, {})
    assert not reader.function(len, {})
    alone = _Reader(Sheds.compiled, None, Sources(), reader.found)
    assert list(alone.methods("_found")) == []
