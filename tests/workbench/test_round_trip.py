"""Export and import give the same keys, for every design; with a sample and without one; and a module that both type
checkers' rules allow.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from ipaddress import IPv4Address
from pathlib import Path
from typing import Annotated, Any, get_origin
from uuid import UUID, uuid4

import pytest
from pydantic import PlainSerializer

from keyplan import Design, Entity, Field, Key, Table
from keyplan.cli.import_workbench import working_module
from keyplan.errors import DesignError
from keyplan.formats.workbench.reading import read_model
from keyplan.formats.workbench.types import type_text
from keyplan.model.declared.keys import OURS
from keyplan.model.declared.views import views_in
from keyplan.model.stored.stored_entity import CompiledEntity
from keyplan.systems import system, system_names
from keyplan_systems.cms import Cms
from tests.contract.buckets import Timed
from tests.designs.designs import design_of
from tests.designs.source import module_of
from tests.export.designs import NAMES, design
from tests.export.words import Event, Note, Root, Task, Words
from tests.workbench.support import compiled_of, exported, keys_of, made


def sample(name: str) -> list[Any]:
    """What a small sample of a system writes."""
    result = system(name)
    with result.design.open(":memory:") as opened:
        result.sample(opened, 3, lambda _done, _total: None)
        items: list[Any] = opened.store.transport.call("Scan", {"TableName": opened.store.table_name})["Items"]
        return items


@pytest.mark.parametrize("name", NAMES)
def test_the_keys_are_the_same(name: str) -> None:
    cls = design(name)
    module = made(exported(cls))
    assert keys_of(compiled_of(module)) == keys_of(cls.compiled)


@pytest.mark.parametrize("name", system_names())
def test_with_a_sample_the_keys_are_the_same_and_its_items_are_read(name: str) -> None:
    """Each item that is an entity's is one of the made entities' too, and is written as it was read."""
    design = system(name).design.compiled
    items = sample(name)
    assert items
    compiled_design = compiled_of(made(exported(system(name).design, items)))
    assert keys_of(compiled_design) == keys_of(design)
    for item in items:
        theirs = design.entity_of(item)
        if theirs is None:
            continue
        entity = compiled_design.entity_of(item)
        assert entity is not None
        assert entity.name == theirs.name
        again = entity.to_item(entity.from_item(item))
        keys = {attribute.name for key in entity.keys for attribute, _ in key.attributes}
        assert {key: again.get(key) for key in keys} == {key: item.get(key) for key in keys}


@pytest.mark.parametrize("name", NAMES)
def test_the_fields_are_the_same(name: str) -> None:
    """Names, attributes, types, and what a field holds where nothing is given. An enum is its values, a nested model a
    dict; a computed field is a plain one.
    """
    design_ = design(name).compiled
    compiled_design = compiled_of(made(exported(design(name))))
    for entity in design_.entities.values():
        again = compiled_design.by_name[entity.name]
        assert list(again.fields) == list(entity.fields)
        assert (again.slots, again.cls.model_config.get("extra")) == (
            entity.slots,
            entity.cls.model_config.get("extra"),
        )
        for field in entity.fields.values():
            other = again.fields[field.name]
            assert other.attribute == field.attribute
            assert type_text(other.annotation, {}) == type_text(field.annotation, {}), field.name
            if not field.computed and field.name not in entity.slots:
                mine, theirs = (each.cls.model_fields[field.name].is_required() for each in (entity, again))
                assert (theirs, default_of(again, field.name)) == (mine, default_of(entity, field.name))


def default_of(entity: CompiledEntity, name: str) -> Any:
    """What a field holds where nothing is given: a value, or the function that makes it."""
    info = entity.cls.model_fields[name]
    if info.default_factory is not None:
        factory: Any = get_origin(info.default_factory) or info.default_factory
        return factory() if factory in {set, frozenset} else factory
    return getattr(info.default, "value", info.default)


@pytest.mark.parametrize("name", NAMES)
def test_the_questions_are_the_same(name: str) -> None:
    """Their ids, parameters and answers, and how each is answered."""
    design_ = design(name).compiled
    compiled_design = compiled_of(made(exported(design(name))))
    assert list(compiled_design.reads) == list(design_.reads)
    for read in design_.reads.values():
        again = compiled_design.reads[read.name]
        assert (again.id, again.load) == (read.id, read.load)
        assert [(parameter.name, parameter.kind, parameter.required) for parameter in again.signature.parameters] == [
            (parameter.name, parameter.kind, parameter.required) for parameter in read.signature.parameters
        ]
        assert (again.shape.kind, again.shape.optional) == (read.shape.kind, read.shape.optional)
        assert [entity.__name__ for entity in again.shape.entities] == [
            entity.__name__ for entity in read.shape.entities
        ]
        assert type(again.plan) is type(read.plan)
        assert [view.__name__ for view in views_in(again.signature.returns)] == [
            view.__name__ for view in views_in(read.signature.returns)
        ]
        assert again.proof == read.proof


@pytest.mark.parametrize("number", range(25))
def test_designs_made_at_random_come_back(number: int) -> None:
    """Keys of every kind, every type of field, every shape of question."""
    cls = made_at_random(number)
    compiled_design = compiled_of(made(exported(cls)))
    assert keys_of(compiled_design) == keys_of(cls.compiled)
    for entity in cls.compiled.entities.values():
        fields = compiled_design.by_name[entity.name].fields
        assert [(field.name, field.attribute, type_text(field.annotation, {})) for field in fields.values()] == [
            (field.name, field.attribute, type_text(field.annotation, {})) for field in entity.fields.values()
        ]
    assert {name: pattern.proof for name, pattern in compiled_design.reads.items()} == {
        name: pattern.proof for name, pattern in cls.compiled.reads.items()
    }


def made_at_random(number: int) -> type[Design]:
    """The generated design of a number, without the questions that the compiler refuses."""
    spec = design_of(number)
    while True:
        try:
            design_class: type[Design] = vars(module_of(spec))[f"D{number}"]
        except DesignError as error:
            refused = {fault.place.rpartition(".")[2] for fault in error.errors}
            left = tuple(read_spec for read_spec in spec.reads if read_spec.name not in refused)
            if len(left) == len(spec.reads):
                raise
            spec = replace(spec, reads=left)
        else:
            return design_class


@pytest.mark.parametrize("name", system_names())
def test_the_sample_is_put_back_as_it_was(name: str) -> None:
    """An exported sample is another's too: exported again, it is the same."""
    items = sample(name)
    cls = system(name).design
    model = exported(cls, items)
    module, notes, error = working_module(read_model(json.dumps(model), "model.json"))
    assert error is None
    assert [note for note in notes if "put back" in note or "can't be read" in note] == []
    assert sum(len(element) for element in module.samples[module.designs[0]].values()) > 0


def test_a_sample_of_every_word_is_put_back_as_it_was() -> None:
    """Stored forms, folded keys, labels, slots, claims, and attributes that nothing declares."""
    day = date(2026, 11, 22)
    with Words.open(":memory:") as words:
        at = datetime(2026, 11, 22, 8, tzinfo=UTC)
        task = {"task_id": "A/1", "project": "Web Site", "madeAt": at, "seenAt": at, "tags": {"x"}, "body": {"n": 1}}
        words.put(Task.model_validate({**task, "theDay": day}))
        words.put(Note(task_id="A/2", text="t"))
        words.view("/")
        words.put(Root.model_validate({"name": "r", "colour": "red"}))
        words.create(Event(day=day, level="low", title="T", email="A@b.c", country="pt", city="Porto", year=2026))
        items: list[Any] = words.store.transport.call("Scan", {"TableName": "words"})["Items"]
    model = exported(Words, items)
    module, notes, error = working_module(read_model(json.dumps(model), "model.json"))
    assert error is None
    assert notes == []
    assert {name: len(held) for name, held in module.samples["Words"].items()} == {
        "Note": 1, "Task": 1, "Counter": 1, "Event": 1, "Root": 1,
    }  # fmt: skip
    again = compiled_of(module)
    for item in items:
        theirs, entity = Words.compiled.entity_of(item), again.entity_of(item)
        assert (theirs is None) is (entity is None)
        if theirs is not None and entity is not None:
            assert entity.to_item(entity.from_item(item)) == theirs.to_item(theirs.from_item(item))


def test_defaults_and_types_without_a_text_of_their_own_come_back() -> None:
    class Job(Entity):
        job_id: UUID = Field(default_factory=uuid4)
        took: timedelta = timedelta(hours=1)
        day: date = date(2026, 1, 1)
        at: datetime = datetime(2026, 1, 1, tzinfo=UTC)
        address: IPv4Address = IPv4Address("10.0.0.1")
        size: Annotated[int, PlainSerializer(str, return_type=str)] = 3

        primary = Key("JOB#{job_id}", "{took}")

    class Label(Entity):
        """Its name is one that the module could do without."""

        name: str

        primary = Key("LABELS", "LABELS")

    class HTTPLog(Entity):
        """Its name isn't written as those that are made of an item's words."""

        line: str

        primary = Key("LOG", "{line}")

    class Jobs(Design):
        table = Table("jobs", entities=[Job, Label, HTTPLog])

    design_ = compiled_of(made(exported(Jobs)))
    fields = design_.by_name["Job"].fields
    assert {name: type_text(field.annotation, {}) for name, field in fields.items()} == {
        "job_id": "UUID", "took": "timedelta", "day": "date", "at": "datetime", "address": "str", "size": "str",
    }  # fmt: skip
    defaults = {name: default_of(design_.by_name["Job"], name) for name in fields}
    assert defaults == {
        "job_id": uuid4, "took": timedelta(hours=1), "day": date(2026, 1, 1),
        "at": datetime(2026, 1, 1, tzinfo=UTC), "address": "10.0.0.1", "size": "3",
    }  # fmt: skip
    assert list(design_.by_name) == ["Job", "Label", "HTTPLog"]


def test_ranges_of_time_and_their_defaults_come_back() -> None:
    read = compiled_of(made(exported(Timed))).reads
    assert read.keys() == Timed.compiled.reads.keys()
    for name, pattern in read.items():
        asked = Timed.compiled.reads[name]
        assert (pattern.buckets, str(pattern.signature)) == (asked.buckets, str(asked.signature))


def test_samples_alone_show_the_keys() -> None:
    """Without Keyplan's declarations and aliases, as others make models."""
    model = exported(Cms, sample("cms"))
    model["ModelMetadata"]["Description"] = ""
    for facet in model["DataModel"][0]["TableFacets"]:
        facet["KeyAttributeAlias"] = {"PartitionKeyAlias": "pk", "SortKeyAlias": "sk"}
    keys = keys_of(compiled_of(made(model)))
    assert keys["Article"] == [
        ("by_gsi1", "GSI1", ["AUTHOR#{author_id}", "ARTICLE#{article_id}"], {}, 1, False, {OURS}),
        ("primary", "the table", ["ARTICLE#{article_id}", "#METADATA"], {}, 1, False, {OURS}),
    ]
    assert keys["TagArticle"] == [
        ("by_gsi1", "GSI1", ["ARTICLE#{article_id}", "TAG#{tag}"], {}, 1, False, {OURS}),
        ("primary", "the table", ["TAG#{tag}", "ARTICLE#{article_id}"], {}, 1, False, {OURS}),
    ]
    # A number that is turned is seen as a text of its own
    partition, sort = keys["ArticleVersion"][0][2]
    assert partition == "ARTICLE#{article_id}"
    assert re.fullmatch(r"VERSION#\{\w+\}", sort)


def test_mypy_takes_every_module(tmp_path: Path) -> None:
    names: list[str] = []
    for name in NAMES:
        path = tmp_path / f"made_{name.lower()}.py"
        path.write_text(made(exported(design(name))).text, encoding="utf-8")
        names.append(path.name)
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), *names]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_a_module_is_made_the_same_each_time() -> None:
    cls: type[Design] = design("Everything")
    assert made(exported(cls)).text == made(exported(cls)).text
