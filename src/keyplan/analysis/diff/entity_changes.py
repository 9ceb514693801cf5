"""Changes of entities, of their keys and of their unique claims."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime

from keyplan.analysis.diff.changes import Change, Severity
from keyplan.analysis.diff.field_changes import copied, field_changes, source_text
from keyplan.model.compiled.compiled_design import CompiledDesign
from keyplan.model.compiled.operands import stored_field
from keyplan.model.declared.indexes import KeyAttribute
from keyplan.model.declared.keys import OURS
from keyplan.model.stored.key_formats import (
    ISO,
    DateFormat,
    Format,
    IntegerFormat,
    RankFormat,
    StoredFormat,
    TextFormat,
    TimeFormat,
)
from keyplan.model.stored.key_templates import Template, Variable
from keyplan.model.stored.stored_entity import CompiledEntity
from keyplan.model.stored.stored_keys import CompiledKey

__all__ = ["entity_changes"]

_MOMENT = datetime(2026, 11, 21, 9, 42, 7, tzinfo=UTC)
"""A moment whose texts tell stored forms apart."""


def entity_changes(old: CompiledDesign, new: CompiledDesign) -> Iterator[Change]:
    """What is different in the entities. One that has another name and the same primary key is renamed."""
    left = {name: compiled_entity for name, compiled_entity in old.by_name.items() if name not in new.by_name}
    pairs: list[tuple[CompiledEntity, CompiledEntity]] = []
    for name, entity in new.by_name.items():
        twin = old.by_name.get(name) or _same_key(entity, left)
        place = f"{new.name}.{name}"
        if twin is None:
            yield Change(Severity.SAFE, "entity-added", place, f"a new entity under {_texts(entity.primary)}")
            continue
        if twin.name != name:
            left.pop(twin.name, None)
            yield Change(
                Severity.SAFE, "entity-renamed", place, f"it was called {twin.name}", "its items stay as they are"
            )
        pairs.append((twin, entity))
    for entity in left.values():
        yield Change(
            Severity.MIGRATION,
            "entity-removed",
            f"{new.name}.{entity.name}",
            f"the entity under {_texts(entity.primary)} is gone",
            "its items stay in the table and in its indexes, unread, and cost storage",
            "delete them with the old design, before the new one is deployed",
        )
    for before, after in pairs:
        place = f"{new.name}.{after.name}"
        yield from _keys(place, before, after)
        yield from _labels(place, before, after)
        yield from _claims(place, before, after)
        yield from _version(place, before, after)
        yield from _undeclared(place, before, after)
        yield from field_changes(place, before, after)


def _same_key(entity: CompiledEntity, left: Mapping[str, CompiledEntity]) -> CompiledEntity | None:
    return next(
        (
            compiled_entity
            for compiled_entity in left.values()
            if _shape(compiled_entity.primary) == _shape(entity.primary)
        ),
        None,
    )


def _keys(place: str, before: CompiledEntity, after: CompiledEntity) -> Iterator[Change]:
    if _stands_elsewhere(before.primary, after.primary):
        yield Change(
            Severity.BREAKING,
            "primary-key-changed",
            f"{place}.{after.primary.name}",
            f"its key {_was_and_is(before.primary, after.primary)}",
            "items written before stand under the old key: they aren't found, and to write one again makes another",
            f"before the new code reads, {copied(after, is_moved=True)}",
        )
    yield from _computed(place, before, after)
    for old, new in _pairs(before, after):
        if new is None and old is not None:
            yield Change(
                Severity.SAFE,
                "key-removed",
                f"{place}.{old.name}",
                f"its key on {old.place} ({_texts(old)}) is gone",
                f"items written before stay in {old.place} until they are put anew; queries for others pass over them",
            )
        elif old is None and new is not None:
            yield _added(f"{place}.{new.name}", new, before, after)
        elif old is not None and new is not None and _stands_elsewhere(old, new):
            yield Change(
                Severity.BREAKING if _moved_ranks(old, new) else Severity.MIGRATION,
                "key-changed",
                f"{place}.{new.name}",
                f"its key on {new.place} {_was_and_is(old, new)}",
                _left_behind(new.place, old, new),
                _rewrite(after, new),
            )


def _pairs(before: CompiledEntity, after: CompiledEntity) -> Iterator[tuple[CompiledKey | None, CompiledKey | None]]:
    """The index keys before and after, beside each other: on one index the same ones, those of one name, the others in
    their order. Those that are there before come first.
    """
    names = dict.fromkeys(key.place for entity in (before, after) for key in entity.index_keys)
    added: list[CompiledKey] = []
    for name in names:
        olds, news = list(before.keys_on(name)), list(after.keys_on(name))
        for alike in (_shape, _name_of):
            for old in list(olds):
                new = next((key for key in news if alike(key) == alike(old)), None)
                if new is not None:
                    olds.remove(old)
                    news.remove(new)
                    yield old, new
        yield from zip(olds, news, strict=False)
        yield from ((key, None) for key in olds[len(news) :])
        added += news[len(olds) :]
    yield from ((None, key) for key in added)


def _name_of(key: CompiledKey) -> str:
    return key.name


def _left_behind(index: str, before: CompiledKey, after: CompiledKey) -> str:
    """What a changed key does to items written before."""
    if _moved_ranks(before, after):
        return f"items written before stand in {index} under the old ranks, and are found where others are asked for"
    if _shape(replace(before, when=after.when)) == _shape(after):
        return f"items written before are in {index}, or aren't, by the old condition"
    return f"items written before stand in {index} under the old key, where patterns don't look"


def _rewrite(entity: CompiledEntity, key: CompiledKey) -> str:
    """How each item gets a key, without losing what others write meanwhile: an update of a field of the key to the
    value that it has computes the key, and what it expects keeps others' writes. A put keeps them by a version only.
    """
    inputs = entity.inputs_of(key)
    names = [name for name in entity.fields if name in inputs and name not in entity.key_fields]
    lead = f"read each {entity.name}, and"
    if entity.version is not None and not entity.claims:
        return f"{lead} put it: `design.put(item)`; where its version has changed meanwhile, read it again"
    if names:
        same = f"{names[0]}=item.{names[0]}"
        if entity.fields[names[0]].made_anew:
            condition = f'"attribute_not_exists({names[0]}) OR {names[0]} = :was", was=item.{names[0]}'
        else:
            condition = same
        again = "where that fails, read it again"
        return f"{lead} update it: `design.update(Update(item, {same}).only_if({condition}))`; {again}"
    if entity.claims:
        return f"{lead} create it again while nothing else writes it: `design.delete(item); design.create(item)`"
    return f"{lead} put it while nothing else writes it, since a put overwrites other writes: `design.put(item)`"


def _added(place: str, key: CompiledKey, before: CompiledEntity, after: CompiledEntity) -> Change:
    what = f"a key on {key.place}: {_texts(key)}"
    if (
        not key.when
        and key.shards == 1
        and all(_stands(before, attribute, template) for attribute, template in key.attributes)
    ):
        effect = "items written before have its attributes already: DynamoDB's own backfill brings them in"
        return Change(Severity.SAFE, "key-added", place, what, effect)
    return Change(
        Severity.MIGRATION,
        "key-added",
        place,
        what,
        f"items written before lack its attributes, so they aren't in {key.place}",
        _rewrite(after, key),
    )


def _stands(entity: CompiledEntity, attribute: KeyAttribute, template: Template) -> bool:
    """Whether each item of an entity has the attribute already, with what the template gives."""
    for key in entity.keys:
        if key.shards == 1 and not key.when:
            held = next((element for name, element in key.attributes if name.name == attribute.name), None)
            if held is not None:
                return str(held) == str(template)
    field = next((each for each in entity.fields.values() if each.attribute == attribute.name), None)
    if field is None or not field.required or field.made_anew or str(template) != f"{{{field.name}}}":
        return False  # items older than a field that has a default lack it
    return stored_field(entity, field.name).tag == attribute.type  # a bool isn't stored as the key would hold it


def _computed(place: str, before: CompiledEntity, after: CompiledEntity) -> Iterator[Change]:
    """Computed fields in keys: their code decides where items stand."""
    for name, field in after.fields.items():
        other = before.fields.get(name)
        if not field.computed or other is None or not other.computed:
            continue
        if _code(before, name) != _code(after, name):
            keys = [key for key in (*after.keys, *after.claims) if name in key.fields]
            yield Change(
                Severity.MIGRATION,
                "computed-field-changed",
                f"{place}.{name}",
                f"its code has changed: review it; it is part of {', '.join(key.name for key in keys)}",
                "where it gives another value, items written before stand under the old one",
                f"if it does, {_rewrite(after, keys[0])}",
            )


def _code(entity: CompiledEntity, name: str) -> object:
    """The source text of a computed field."""
    return source_text(entity.cls.model_computed_fields[name].wrapped_property.fget)


def _version(place: str, before: CompiledEntity, after: CompiledEntity) -> Iterator[Change]:
    """A version that is no longer counted, or newly counted."""
    old, new = before.version, after.version
    if old is not None and new is None:
        yield Change(
            Severity.MIGRATION,
            "version-removed",
            f"{place}.{old.name}",
            f"{old.name} no longer counts the writes",
            "a write no longer notices that another came between, and overwrites it; nor does old code notice those of "
            "the new",
            "say only_if(...) where a write depends on what was read; deploy the new code everywhere at once",
        )
    elif new is not None and old is None:
        yield Change(
            Severity.SAFE,
            "version-added",
            f"{place}.{new.name}",
            f"{new.name} counts the writes",
            "writes of old code aren't counted, and so not noticed, until the new code is deployed everywhere",
        )


def _undeclared(place: str, before: CompiledEntity, after: CompiledEntity) -> Iterator[Change]:
    """Attributes that no field declares: whether a put keeps them."""
    kept = [entity.cls.model_config.get("extra") == "allow" for entity in (before, after)]
    if kept[0] and not kept[1]:
        yield Change(
            Severity.BREAKING,
            "undeclared-dropped",
            place,
            'attributes that no field declares are no longer kept (extra="allow")',
            "a put of an item that was read removes them, whoever wrote them",
            'declare them as fields, or keep extra="allow"',
        )
    elif kept[1] and not kept[0]:
        what = 'attributes that no field declares are kept now (extra="allow")'
        yield Change(Severity.SAFE, "undeclared-kept", place, what, "they are read with the item, and put back")


def _claims(place: str, before: CompiledEntity, after: CompiledEntity) -> Iterator[Change]:
    olds = {key.name: key for key in before.claims}
    news = {key.name: key for key in after.claims}
    shapes = {_shape(key) for key in before.claims}
    kept = {_shape(key) for key in after.claims}
    for name, claim in olds.items():
        if name not in news and _shape(claim) not in kept:
            yield Change(
                Severity.MIGRATION,
                "claim-removed",
                f"{place}.{name}",
                f"{_texts(claim)} is no longer unique",
                "two items may have one value from now on; the claims stay in the table, and old code still goes by "
                "them: what the new code changes or deletes stays claimed",
                "deploy the new code everywhere, then delete the claims; keep the Unique where the value must stay so",
            )
    for name, claim in news.items():
        other = olds.get(name)
        if _shape(claim) in shapes and not (other is not None and _moved_ranks(other, claim)):
            continue
        what = (
            f"{_texts(claim)} is unique" if other is None else f"it claimed {_texts(other)}, and claims {_texts(claim)}"
        )
        yield Change(
            Severity.MIGRATION,
            "claim-added" if other is None else "claim-changed",
            f"{place}.{name}",
            what,
            "items written before have no such claim: others can take their value, and reads by it don't find them",
            f"{_claimed(after, claim)}; that fails with UniqueValueTaken where two have one value: decide whose it is",
        )


def _claimed(entity: CompiledEntity, claim: CompiledKey) -> str:
    inputs = entity.inputs_of(claim)
    name = next((name for name in entity.fields if name in inputs and name not in entity.key_fields), None)
    code = "design.delete(item); design.create(item)" if name is None else f"design.update(item, {name}=item.{name})"
    return f"read each {entity.name}, and make its claim: `{code}`"


def _shape(key: CompiledKey) -> tuple[object, ...]:
    """Everything that decides where an item stands under a key."""
    when = tuple(sorted((name, tuple(map(_plain, allowed))) for name, allowed in key.when.items()))
    # What the table's own key attributes are called is said of the table
    sides = tuple(
        (attribute.name if key.index else "", attribute.type, *_template(template))
        for attribute, template in key.attributes
    )
    spread = tuple(str(template) for template in key.hash_input) if key.shards > 1 else ()
    return sides, when, key.shards, spread


def _stands_elsewhere(before: CompiledKey, after: CompiledKey) -> bool:
    """Whether items written before stand under another key than the same items would now."""
    return _shape(before) != _shape(after) or bool(_moved_ranks(before, after))


def _moved_ranks(before: CompiledKey, after: CompiledKey) -> list[str]:
    """The values that a ``rank`` writes otherwise than before, in words: an enum with a further member stands as it did
    only where the member comes last.
    """
    result: list[str] = []
    for (_, old), (_, new) in zip(before.attributes, after.attributes, strict=False):
        for was, now in zip(old.variables, new.variables, strict=False):
            if isinstance(was.format, RankFormat) and isinstance(now.format, RankFormat):
                ranks = [
                    {_plain(value): form.write(value) for value in form.ranks} for form in (was.format, now.format)
                ]
                result += [
                    f"{value} of {now.field} was {text}, and is {ranks[1][value]}"
                    for value, text in ranks[0].items()
                    if ranks[1].get(value, text) != text
                ]
    return result


def _template(template: Template) -> tuple[object, ...]:
    return str(template), tuple(
        (variable.field, _written(variable.format), _style(variable)) for variable in template.variables
    )


def _style(variable: Variable) -> tuple[bool, str | None]:
    """What the key's style makes of a value: whether it stands there as it is, and in which letters."""
    style, is_text = variable.style, variable.format.raw
    return is_text and style.raw and not variable.bare, style.case if is_text else None


def _written(form: Format) -> object:
    """How a format writes values. A day, a moment and a plain number are written as the text that they are stored as,
    and so as a field of type str would be.
    """
    iso = isinstance(form, DateFormat) or (isinstance(form, TimeFormat) and form.layout == ISO)
    whole = isinstance(form, IntegerFormat) and form.width is None
    if isinstance(form, TextFormat) or ((iso or whole) and not form.descending):
        return "text"
    if isinstance(form, StoredFormat) and form.unit is not None:
        return form.pattern, form.unit, form.to_text(_MOMENT)
    return type(form).__name__, form.pattern, form.descending


def _was_and_is(before: CompiledKey, after: CompiledKey) -> str:
    text, new_text = _texts(before), _texts(after)
    if text != new_text:
        return f"was {text}, and is {new_text}"
    moved = _moved_ranks(before, after)
    if moved:
        return f"{text} ranks its values anew: {'; '.join(moved)}"
    if _styles(before) != _styles(after):
        return f"{text} was written with {_styles(before)}, and is written with {_styles(after)}"
    return f"{text} holds its fields in another format, since their types are others"


def _styles(key: CompiledKey) -> str:
    """The styles of a key in words."""
    variables = (variable for _, template in key.attributes for variable in template.variables)
    return " and ".join(
        dict.fromkeys("escapes" if variable.style == OURS else str(variable.style) for variable in variables)
    )


def _labels(place: str, before: CompiledEntity, after: CompiledEntity) -> Iterator[Change]:
    """Labels: without its entity's, an item is another's."""
    for name, value in after.labels.items():
        if before.labels.get(name) != value:
            was = f"was {_label(name, before)}, and is" if name in before.labels else "is new:"
            yield Change(
                Severity.BREAKING,
                "label-changed" if name in before.labels else "label-added",
                place,
                f"its label {was} {_label(name, after)}",
                "items written before lack it, and are taken for another's: they aren't found",
                f"write {_label(name, after)} into every {after.name}, before the new code reads",
            )
    for name in before.labels.keys() - after.labels.keys():
        yield Change(
            Severity.SAFE,
            "label-removed",
            place,
            f"its label {_label(name, before)} is gone",
            "items written before keep the attribute; new ones lack it, and old code doesn't find them",
        )


def _label(name: str, entity: CompiledEntity) -> str:
    return f"{name} = {entity.labels[name]['S']!r}"


def _plain(value: object) -> str:
    return repr(getattr(value, "value", value))


def _texts(key: CompiledKey) -> str:
    text = " / ".join(str(template) for _, template in key.attributes)
    if key.when:
        text += " if " + " and ".join(
            f"{name} is {' or '.join(map(_plain, element))}" for name, element in key.when.items()
        )
    return f"{text} in {key.shards} shards" if key.shards > 1 else text
