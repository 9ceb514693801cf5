"""Designs of questions drawn by chance: what is read of them, and which keys are chosen in each kind of search, as it
was agreed upon.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from random import Random
from typing import Any

import pytest

from keyplan.design.deferral import deferred
from keyplan.planner.candidates import Candidate
from keyplan.planner.facts import facts_of
from keyplan.planner.fixed import fixed_of
from keyplan.planner.needs import Need, NeedReader
from keyplan.planner.search import Choice, EntityChoice, Search, choices
from keyplan.planner.templates import declared
from keyplan.planner.unplanned import Unplanned
from tests.agreed import assert_agreed
from tests.planner.test_choices import lines_of

HEAD = """from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Literal
from pydantic import Field
from keyplan import *
"""
KINDS = {
    "owner_id": "str",
    "shop_key": "str",
    "number": "int",
    "rank": "Annotated[int, Field(ge=0, le=99)]",
    "made_at": "datetime",
    "day": "date",
    "state": 'Literal["new", "held", "sent", "lost"]',
    "paid": "bool",
    "price": "Decimal",
    "note": "str | None = None",
    "ended_at": "datetime | None = None",
}
ORDERED = ("number", "rank", "made_at", "day", "price", "ended_at")
CONSTANTS = ('{"state": "new"}', '{"state": "held"}', '{"state": ("held", "lost")}', '{"paid": True}')
SEARCHES = {
    "filters": Search(filters=True),
    "claims": Search(claims=True),
    "spread": Search(spread=True),
    "sweeps": Search(sweeps=True),
    "attributes": Search(attributes=True),
}
SHOWN = 3


class Drawn:
    """A design, as text: entities of some of the fields, and questions about one of them or about two."""

    def __init__(self, number: int) -> None:
        self.chance = Random(number)
        self.entities = {
            f"{name}": self.chance.sample(list(KINDS), self.chance.randint(5, 8)) for name in ("Alpha", "Beta")
        }
        if number % 2:
            del self.entities["Beta"]
        self.keyed = {
            name: own[: 1 + (number % 3 > 1)] for name, own in self.entities.items()
        }  # what has a default, or is a fraction, tells no items apart
        for name, own in self.keyed.items():
            self.keyed[name] = [f"{name.lower()}_id", *(each for each in own[1:] if each in {"owner_id", "number"})]

    def source(self) -> str:
        parts = [HEAD]
        for name, own in self.entities.items():
            lines = [f"    {each}: Id[str]" for each in self.keyed[name][:1]]
            ordered = sorted(own, key=lambda each: "=" in KINDS[each])
            lines += [
                f"    {each}: Id[{KINDS[each]}]" if each in self.keyed[name] else f"    {each}: {KINDS[each]}"
                for each in ordered
            ]
            parts.append(f"class {name}(Entity):\n" + "\n".join(lines))
        reads = [self.read(number) for number in range(1, self.chance.randint(3, 6))]
        names = ", ".join(self.entities)
        body = "\n\n".join([f'    table = Table("things", entities=[{names}])', *reads])
        return "\n\n".join([*parts, f"class Things(Design):\n{body}\n"])

    def read(self, number: int) -> str:
        chance = self.chance
        both = len(self.entities) > 1 and chance.random() < 0.2
        cls = chance.choice(list(self.entities))
        own = set(self.entities[cls])
        if both:
            own = set.intersection(*map(set, self.entities.values()))
        known = [each for each in sorted(own) if each not in ORDERED]
        known = chance.sample(known, min(len(known), chance.randint(0 if not both else 1, 2)))
        parameters = [f"{each}: {self.asked(each)}" for each in known]
        options: list[str] = []
        constant = chance.choice(CONSTANTS)
        if chance.random() < 0.4 and not both and constant.split('"')[1] in own - set(known):
            options.append(f"where={constant}")
        orders = [each for each in ORDERED if each in own and each not in self.keyed[cls]]
        answer = f"list[{' | '.join(self.entities) if both else cls}]"
        if orders:
            match chance.randint(0, 5):
                case 0 | 1:
                    options.append(f'order_by="{chance.choice(("", "-"))}{chance.choice(orders)}"')
                case 2 | 3:
                    name = chance.choice(orders)
                    parameters.append(f"{name}: Range[{KINDS[name].partition(' | ')[0]}]")
                case 4 if known and not both:
                    answer = f"{cls} | None"
                case _:
                    pass
        elif known and not both and chance.random() < 0.3:
            answer = chance.choice((f"{cls} | None", "bool"))
            options += [f"of={cls}"] if answer == "bool" else []
        if not parameters and not options:
            parameters = [f"{self.keyed[cls][0]}: str"]
            answer = f"{cls} | None"
        given = "".join(f", {each}" for each in options)
        return f'    @read("R{number}"{given})\n    def r{number}(self, {", ".join(parameters)}) -> {answer}: ...'

    def asked(self, name: str) -> str:
        if name == "state" and self.chance.random() < 0.5:
            return self.chance.choice(('Literal["new"]', 'Literal["sent", "held"]'))
        kind = KINDS[name].partition(" | ")[0]
        return f"Each[{kind}]" if self.chance.random() < 0.15 else kind


def design_of(text: str) -> type[Any]:
    namespace: dict[str, Any] = {"__name__": __name__}
    with deferred():
        exec(compile(text, "<things>", "exec", dont_inherit=True), namespace)
    result: type[Any] = namespace["Things"]
    result.uncompiled = namespace
    return result


def told(need: Need) -> str:
    """What is asked, by the fields that aren't empty."""
    parts = [(each.name, getattr(need, each.name)) for each in fields(need) if each.name not in {"place", "entity"}]
    shown = [f"{name}={_sorted(value)}" for name, value in parts if value]
    able = [name for name in ("claimable", "sweepable") if getattr(need, name)]
    return f"{need.place} {need}: {' '.join([*shown, *able])}"


def _sorted(value: Any) -> Any:
    if isinstance(value, tuple):
        return [getattr(each, "__name__", each) for each in value]
    return sorted(value) if isinstance(value, frozenset) else value


def key_told(key: Candidate) -> str:
    when = f" when {dict(key.when)}" if key.when else ""
    serves = "".join(map(str, sorted(key.serves)))
    return f"{','.join(key.partition)}|{','.join(key.sort)}:{key.needed}{when} ->{serves}"


def entity_told(choice: EntityChoice) -> str:
    keys = [f"{slot}: {key_told(key)}" for slot, key in zip(choice.slots, choice.indexed, strict=False)]
    claims = [f"claim {need.place}" for need in choice.claims]
    numbers = (choice.refused, choice.ambiguous, choice.changes, choice.few, choice.number_keys, choice.text_keys)
    return f"    {choice.entity.name} {numbers} {'; '.join([key_told(choice.primary), *keys, *claims])}"


def choice_told(choice: Choice) -> Iterator[str]:
    yield f"  {choice.rank} {dict(sorted(choice.forms.items()))}"
    yield from map(entity_told, choice.entities)


@pytest.mark.parametrize("number", range(24))
def test_what_is_chosen_is_as_agreed_upon(number: int) -> None:
    text = Drawn(number).source()
    design = design_of(text)
    read = Unplanned(design, design.uncompiled)
    facts = {cls: facts_of(cls) for cls in read.entities}
    fixed = fixed_of(design, list(facts), read.whole)
    reader = NeedReader(facts)
    needs = reader.needs(read.patterns, read.signatures)
    lines = [text.partition("class Alpha")[2]]
    lines += [f"{fault.place}: {fault.message} | {fault.hint}" for fault in (*read.faults, *reader.faults)]
    lines += map(told, needs)
    found, unserved = choices(list(facts.values()), needs, fixed)
    lines += [f"unserved {each.need.place}: {each.reason} | {each.hint}" for each in unserved]
    lines.append(f"{len(found)} choices")
    for choice in found[:SHOWN]:
        lines += choice_told(choice)
    if found:
        lines += lines_of(declared(found[0], fixed))
        lines += lines_of(declared(found[0], fixed, terse=True))
    for name, search in SEARCHES.items():
        others, _ = choices(list(facts.values()), needs, fixed, None, search)
        new = [choice for choice in others if choice not in found]
        if new or len(others) != len(found):
            lines += [
                f"{name}: {len(others)}, {len(new)} of them new",
                *(line for each in new[:2] for line in choice_told(each)),
            ]
    assert_agreed("\n".join(lines))
