"""What each read of several designs asks of a store, request by request, and what it answers: the store gives two items
a page, leaves keys of a batch undone, and throttles now and then.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from keyplan import Design, Page
from keyplan.design.compiled.questions import ParameterKind
from keyplan.errors import KeyplanError
from keyplan.testing import Clock, Maker
from keyplan.testing.questions import Asker
from keyplan.testing.world import Row, World
from tests.agreed import assert_agreed
from tests.client.support import Answer, record
from tests.client.test_junctions import Desk, Shelf
from tests.contract.apart import Apart
from tests.contract.asking import Asking
from tests.contract.buckets import Timed
from tests.contract.design import Everything
from tests.contract.reading import Reading

PAGE = 2
"""Items that the store gives at a time."""
FEW = 3
"""Values that a field in a partition key has."""
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
_LEFT_OUT = re.compile(r"x{3,}0*|datetime\.datetime|datetime\.|, tzinfo=[\w.]+|\w+=None(, )?")
DESIGNS: dict[str, tuple[type[Design], int]] = {
    "everything": (Everything, 9),
    "asking": (Asking, 9),
    "timed": (Timed, 6),
    "apart": (Apart, 9),
    "reading": (Reading, 6),
    "desk": (Desk, 9),
    "shelf": (Shelf, 9),
}


def sparing(call: Answer, operation: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """The store's answer, with two items at the most; of a batch's keys the rest stay undone."""
    if operation in {"Query", "Scan"}:
        return call(operation, {**parameters, "Limit": min(PAGE, parameters.get("Limit", PAGE))})
    if operation == "BatchGetItem":
        ((table, asked),) = parameters["RequestItems"].items()
        keys = asked["Keys"]
        answer = call(operation, {"RequestItems": {table: {**asked, "Keys": keys[: PAGE + 1]}}})
        if keys[PAGE + 1 :]:
            answer["UnprocessedKeys"] = {table: {**asked, "Keys": keys[PAGE + 1 :]}}
        return answer
    return call(operation, parameters)


def opened(cls: type[Design], each: int) -> tuple[Any, list[Row]]:
    """The design with some items of each entity, which stand together in few partitions."""
    design: Any = cls.open(":memory:", secret="s")
    make, pools, rows = Maker(3), defaultdict[str, list[Any]](list), dict[str, Row]()
    for entity_cls, entity in cls.compiled.entities.items():
        names = {
            name
            for key in (entity.primary, *entity.index_keys)
            for _, template in key.partition
            for name in template.fields
            if name in entity_cls.model_fields
        }
        for number in range(each):
            instance = make(entity_cls)
            for name in names:
                pool = pools["user_id" if name == "followed_id" else name]
                if len(pool) < FEW:
                    pool.append(getattr(instance, name))
            few = {name: pools["user_id" if name == "followed_id" else name] for name in names}
            chosen = {name: pool[number // FEW**at % len(pool)] for at, (name, pool) in enumerate(sorted(few.items()))}
            try:
                instance = entity_cls.model_validate({**dict(instance), **chosen}, by_name=True)
                instance = design.create(instance) if entity.claims else design.put(instance)
            except (KeyplanError, ValueError):
                continue
            rows[str(entity.item_key(entity.primary, entity.field_values(instance)))] = Row(entity, instance, {})
    return design, list(rows.values())


def asked(request: tuple[str, dict[str, Any]]) -> str:
    """A request without its table, with names and values in their places."""
    operation, parameters = request
    shown = {name: value for name, value in parameters.items() if name != "TableName"}
    if "RequestItems" in shown:
        ((_, shown),) = shown["RequestItems"].items()
    given = {**shown.pop("ExpressionAttributeNames", {}), **shown.pop("ExpressionAttributeValues", {})}
    for name, value in shown.items():
        if name.endswith("Expression"):
            shown[name] = re.sub(r"[#:]\w+", lambda match: _short(given.pop(match[0], match[0])), value)
    return f"{operation} {', '.join(f'{name} {_short(value)}' for name, value in (*shown.items(), *given.items()))}"


def _short(value: Any) -> str:
    return value if isinstance(value, str) else re.sub(r"x{3,}0*|\"(?=[A-Za-z]+\":)|\\u0000", "", json.dumps(value))


def told(value: Any) -> str:
    """An answer by its items' first fields."""
    if isinstance(value, Page):
        return f"{told(value.items)}{' and more' if value.cursor else ''}"
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return f"{{{', '.join(f'{name}: {told(getattr(value, name))}' for name in value._fields)}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(told, value))}]"
    if hasattr(value, "model_dump"):
        return f"{type(value).__name__}({', '.join(map(str, list(dict(value).values())[:3]))})"
    return str(value)


def answers(design: Any, name: str, arguments: dict[str, Any]) -> Iterator[str]:
    """What a call gives; of pages each, of an iterator all."""
    pattern = type(design).compiled.reads[name]
    kinds = {parameter.kind: parameter.name for parameter in pattern.signature.parameters}
    cursor_name = kinds.get(ParameterKind.CURSOR)
    try:
        answer = design.run_read(name, (), arguments)
        if hasattr(answer, "__next__"):
            answer = list(answer)
        yield told(answer)
        while isinstance(answer, Page) and answer.cursor and cursor_name:
            answer = design.run_read(name, (), {**arguments, cursor_name: answer.cursor})
            yield told(answer)
    except KeyplanError as error:
        yield f"{type(error).__name__}: {error.message}"


@pytest.mark.parametrize("name", DESIGNS)
def test_what_reads_ask_and_answer(name: str) -> None:
    """Each question by itself, with a limit of one, of two, and its own."""
    lines: list[str] = []
    with Clock(NOON):
        design, rows = opened(*DESIGNS[name])
        recorder = record(design)
        recorder.around = sparing
        world = World(tuple(rows), (), ())
        for pattern in type(design).compiled.reads.values():
            kinds = {parameter.kind: parameter.name for parameter in pattern.signature.parameters}
            limit = kinds.get(ParameterKind.LIMIT)
            for arguments in list(Asker(pattern).questions(world, 1))[:2]:
                for more in ({}, {limit: 1}) if limit else ({},):
                    recorder.requests.clear()
                    given = list(answers(design, pattern.name, {**arguments, **more}))
                    said = [f"{name}={value}" for name, value in {**arguments, **more}.items()]
                    lines.append(f"{pattern.name} {' '.join(said)}")
                    lines += [f"  {asked(request)}" for request in recorder.requests]
                    lines += [f"  = {answer}" for answer in given]
        design.close()
    assert_agreed(_LEFT_OUT.sub("", ascii_only("\n".join(lines))))


def ascii_only(text: str) -> str:
    """What no editor shows is written as Python writes it."""
    return "".join(each if " " <= each <= "~" or each == "\n" else ascii(each)[1:-1] for each in text)
