"""Changes of entities, their keys and their unique constraints."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime

from keyplan.analysis.diff.changes import Change, Severity, breaking, migration, safe
from keyplan.analysis.diff.field_changes import copied, field_changes, source_text
from keyplan.model.compiled.compiled_design import CompiledDesign
from keyplan.model.compiled.operands import stored_field
from keyplan.model.declared.indexes import KeyAttribute
from keyplan.model.stored import key_formats
from keyplan.model.stored.key_templates import Template, Variable
from keyplan.model.stored.stored_entity import CompiledEntity
from keyplan.model.stored.stored_keys import CompiledKey

Names = Mapping[str, str]

_MOMENT = datetime(2026, 11, 21, 9, 42, 7, tzinfo=UTC)
"""A timestamp that each stored format writes differently."""


def entity_changes(old: CompiledDesign, new: CompiledDesign) -> Iterator[Change]:
    """The changes of entities. A removed and a new entity with the same primary key are reported as renamed."""
    left = {name: compiled_entity for name, compiled_entity in old.by_name.items() if name not in new.by_name}
    pairs: list[tuple[CompiledEntity, CompiledEntity]] = []
    for name, entity in new.by_name.items():
        same = (each for each in left.values() if _shape(each.primary) == _shape(entity.primary))
        twin = old.by_name.get(name) or next(same, None)
        place = f"{new.name}.{name}"
        if twin is None:
            yield safe("entity-added", place, f"a new entity with the key {_texts(entity.primary)}")
            continue
        if twin.name != name:
            left.pop(twin.name, None)
            yield safe("entity-renamed", place, f"renamed from {twin.name}", "items are unaffected")
        pairs.append((twin, entity))
    for entity in left.values():
        what = f"the entity with the key {_texts(entity.primary)} is removed"
        effect = "existing items stay in the table and its indexes, where they are billed but not read"
        action = f"read each {entity.name} with the old design and delete it: `old.delete(item)`"
        yield migration("entity-removed", f"{new.name}.{entity.name}", what, effect, action)
    for before, after in pairs:
        place = f"{new.name}.{after.name}"
        yield from _keys(place, before, after)
        yield from _labels(place, before, after)
        yield from _claims(place, before, after)
        yield from _version(place, before, after)
        yield from _undeclared(place, before, after)
        yield from field_changes(place, before, after)


def _keys(place: str, before: CompiledEntity, after: CompiledEntity) -> Iterator[Change]:
    names = _old_names(before, after)
    if _is_elsewhere(before.primary, after.primary, names):
        what = f"the key {_was_and_is(before.primary, after.primary)}"
        effect = "existing items have the old key, so reads don't find them, and writes create duplicate items"
        action = f"before the new code runs, {copied(after, is_moved=True)}"
        yield breaking("primary-key-changed", f"{place}.{after.primary.name}", what, effect, action)
    yield from _computed(place, before, after)
    for old, new in _pairs(before, after, names):
        if new is None and old is not None:
            what = f"the key on {old.place} ({_texts(old)}) is removed"
            effect = f"existing items stay in {old.place} until they are put again; queries by other keys ignore them"
            yield safe("key-removed", f"{place}.{old.name}", what, effect)
        elif old is None and new is not None:
            yield _added(f"{place}.{new.name}", new, before, after)
        elif old is not None and new is not None and _is_elsewhere(old, new, names):
            severity = Severity.BREAKING if _moved_ranks(old, new) else Severity.MIGRATION
            what = f"the key on {new.place} {_was_and_is(old, new)}"
            effect = _left_behind(new.place, old, new, names)
            action = _rewrite(after, new)
            yield Change(severity, "key-changed", f"{place}.{new.name}", what, effect, action)


def _pairs(
    before: CompiledEntity, after: CompiledEntity, names: Names
) -> Iterator[tuple[CompiledKey | None, CompiledKey | None]]:
    """Pairs of old and new index keys. Keys on an index are paired if they're equal, then by name, then in order."""
    places = dict.fromkeys(key.place for entity in (before, after) for key in entity.index_keys)
    added: list[CompiledKey] = []
    for name in places:
        olds, news = list(before.keys_on(name)), list(after.keys_on(name))
        for by_shape in (True, False):
            for old in list(olds):
                new = next(
                    (key for key in news if (_shape(key, names) == _shape(old) if by_shape else key.name == old.name)),
                    None,
                )
                if new is not None:
                    olds.remove(old)
                    news.remove(new)
                    yield old, new
        yield from zip(olds, news, strict=False)
        yield from ((key, None) for key in olds[len(news) :])
        added += news[len(olds) :]
    yield from ((None, key) for key in added)


def _left_behind(index: str, before: CompiledKey, after: CompiledKey, names: Names) -> str:
    if _moved_ranks(before, after):
        return f"existing items in {index} have the old key values, so a query finds items with a different value"
    if _shape(replace(before, when={})) == _shape(replace(after, when={}), names):
        return f"the old when= condition still determines which existing items are in {index}"
    return f"existing items have the old key in {index}, so reads don't find them"


def _rewrite(entity: CompiledEntity, key: CompiledKey) -> str:
    """How to add a key to each item without losing concurrent writes: an update that sets a field of the key to its
    current value recomputes the key, and fails if the field has changed. A put detects such writes only by a version.
    """
    inputs = entity.inputs_of(key)
    names = [name for name in entity.fields if name in inputs and name not in entity.key_fields]
    lead = f"read each {entity.name} and"
    if entity.version is not None and not entity.claims:
        return f"{lead} put it: `design.put(item)`; if the version has changed, read the item again"
    if names:
        same = f"{names[0]}=item.{names[0]}"
        condition = same
        if entity.fields[names[0]].made_anew:
            condition = f'"attribute_not_exists({names[0]}) OR {names[0]} = :was", was=item.{names[0]}'
        again = "if the condition fails, read the item again"
        return f"{lead} update it: `design.update(Update(item, {same}).only_if({condition}))`; {again}"
    if entity.claims:
        return f"stop other writes, {lead} create it again: `design.delete(item); design.create(item)`"
    return f"stop other writes, because a put overwrites them; {lead} put it: `design.put(item)`"


def _added(place: str, key: CompiledKey, before: CompiledEntity, after: CompiledEntity) -> Change:
    what = f"a key on {key.place}: {_texts(key)}"
    stored = all(_is_stored(before, attribute, template) for attribute, template in key.attributes)
    if stored and not key.when and key.shards == 1:
        effect = "existing items have the key's attributes: DynamoDB adds the items to the index"
        return safe("key-added", place, what, effect)
    effect = f"existing items lack the key's attributes, so they aren't in {key.place}"
    action = _rewrite(after, key)
    return migration("key-added", place, what, effect, action)


def _is_stored(entity: CompiledEntity, attribute: KeyAttribute, template: Template) -> bool:
    """Whether every existing item has the attribute, with the value of the template."""
    for key in entity.keys:
        if key.shards == 1 and not key.when:
            held = next((element for name, element in key.attributes if name.name == attribute.name), None)
            if held is not None:
                return str(held) == str(template)
    field = next((each for each in entity.fields.values() if each.attribute == attribute.name), None)
    if field is None or not field.required or field.made_anew or str(template) != f"{{{field.name}}}":
        return False  # older items can lack a field with a default
    return stored_field(entity, field.name).tag == attribute.type  # a bool, for example, is stored differently in keys


def _computed(place: str, before: CompiledEntity, after: CompiledEntity) -> Iterator[Change]:
    for name, field in after.fields.items():
        other = before.fields.get(name)
        if not field.computed or other is None or not other.computed:
            continue
        if _code(before, name) != _code(after, name):
            keys = [key for key in (*after.keys, *after.claims) if name in key.fields]
            what = f"the code of the computed field, which is in {', '.join(key.name for key in keys)}, has changed"
            effect = "if the code returns other values, reads by the field don't find existing items"
            action = f"if the code returns other values, {_rewrite(after, keys[0])}"
            yield migration("computed-field-changed", f"{place}.{name}", what, effect, action)


def _code(entity: CompiledEntity, name: str) -> object:
    return source_text(entity.cls.model_computed_fields[name].wrapped_property.fget)


def _version(place: str, before: CompiledEntity, after: CompiledEntity) -> Iterator[Change]:
    old, new = before.version, after.version
    if old is not None and new is None:
        what = f"{old.name} is no longer the version field"
        effect = "writes overwrite concurrent writes, and old code doesn't detect writes of new code"
        action = "writes that depend on a read need only_if(...); old and new code must not run at the same time"
        yield migration("version-removed", f"{place}.{old.name}", what, effect, action)
    elif new is not None and old is None:
        what = f"{new.name} is now the version field"
        effect = "old code doesn't increment the version, so its writes aren't detected until it's replaced everywhere"
        yield safe("version-added", f"{place}.{new.name}", what, effect)


def _undeclared(place: str, before: CompiledEntity, after: CompiledEntity) -> Iterator[Change]:
    kept = [entity.cls.model_config.get("extra") == "allow" for entity in (before, after)]
    if kept[0] and not kept[1]:
        what = 'undeclared attributes are no longer kept: extra="allow" was removed'
        effect = "if an item is read and put, undeclared attributes are removed"
        action = 'declare the attributes as fields, or keep extra="allow"'
        yield breaking("undeclared-dropped", place, what, effect, action)
    elif kept[1] and not kept[0]:
        what = 'undeclared attributes are now kept: extra="allow" was added'
        yield safe("undeclared-kept", place, what, "undeclared attributes are read and written")


def _claims(place: str, before: CompiledEntity, after: CompiledEntity) -> Iterator[Change]:
    olds = {key.name: key for key in before.claims}
    news = {key.name: key for key in after.claims}
    renamed = _old_names(before, after)
    shapes = {_shape(key) for key in before.claims}
    kept = {_shape(key, renamed) for key in after.claims}
    for name, claim in olds.items():
        if name not in news and _shape(claim) not in kept:
            what = f"{_texts(claim)} is no longer unique"
            effect = "two items can have the same value; old code rejects values that have a claim"
            action = f"after the new code is deployed everywhere, delete the claim items with the key {_texts(claim)}"
            yield migration("claim-removed", f"{place}.{name}", what, effect, action)
    for name, claim in news.items():
        other = olds.get(name)
        if _shape(claim, renamed) in shapes and not (other is not None and _moved_ranks(other, claim)):
            continue
        text = _texts(claim)
        what = f"{text} is now unique" if other is None else f"the claim {_was_and_is(other, claim)}"
        effect = "existing items lack the claim, so reads by value don't find them, and other items can have the value"
        action = f"{_claimed(after, claim)}; UniqueValueTaken means that two items have the same value"
        yield migration("claim-added" if other is None else "claim-changed", f"{place}.{name}", what, effect, action)


def _claimed(entity: CompiledEntity, claim: CompiledKey) -> str:
    inputs = entity.inputs_of(claim)
    name = next((name for name in entity.fields if name in inputs and name not in entity.key_fields), None)
    code = "design.delete(item); design.create(item)" if name is None else f"design.update(item, {name}=item.{name})"
    return f"read each {entity.name} and write the item's claim: `{code}`"


def _old_names(before: CompiledEntity, after: CompiledEntity) -> Names:
    olds = {field.attribute: name for name, field in before.fields.items() if name not in after.fields}
    return {name: olds[field.attribute] for name, field in after.fields.items() if field.attribute in olds}


def _shape(key: CompiledKey, names: Names | None = None) -> tuple[object, ...]:
    """Everything that determines an item's key. ``names``: the old names of fields."""
    names = names or {}
    when = tuple(sorted((names.get(name, name), tuple(map(_plain, allowed))) for name, allowed in key.when.items()))
    # Omit the names of the table's key attributes, which table_changes compares
    sides = tuple(
        (attribute.name if key.index else "", attribute.type, *_template(template, names))
        for attribute, template in key.attributes
    )
    spread = tuple(str(template) for template in key.hash_input) if key.shards > 1 else ()
    return sides, when, key.shards, spread


def _is_elsewhere(before: CompiledKey, after: CompiledKey, names: Names) -> bool:
    return _shape(before) != _shape(after, names) or bool(_moved_ranks(before, after))


def _moved_ranks(before: CompiledKey, after: CompiledKey) -> list[str]:
    """The values whose ``rank`` has changed. A new last member of an enum changes no ranks."""
    result: list[str] = []
    for (_, old), (_, new) in zip(before.attributes, after.attributes, strict=False):
        for was, now in zip(old.variables, new.variables, strict=False):
            if isinstance(was.format, key_formats.RankFormat) and isinstance(now.format, key_formats.RankFormat):
                forms = (was.format, now.format)
                old_ranks, ranks = ({_plain(value): form.write(value) for value in form.ranks} for form in forms)
                result += [
                    f"the rank of {now.field} {value} was {text}, and is now {ranks[value]}"
                    for value, text in old_ranks.items()
                    if ranks.get(value, text) != text
                ]
    return result


def _template(template: Template, names: Names) -> tuple[object, ...]:
    source = re.sub(r"(?<=\{)\w+", lambda match: names.get(match[0], match[0]), str(template))
    return source, tuple((_written(variable.format), _style(variable)) for variable in template.variables)


def _style(variable: Variable) -> tuple[bool, str | None]:
    """The key's style: whether values are escaped, and their case."""
    style, is_text = variable.style, variable.format.raw
    return is_text and style.raw and not variable.bare, style.case if is_text else None


def _written(form: key_formats.Format) -> object:
    """How a format writes values. A date, a timestamp and an unpadded number are written like a str field."""
    iso = isinstance(form, key_formats.DateFormat) or (
        isinstance(form, key_formats.TimeFormat) and form.layout == key_formats.ISO
    )
    whole = isinstance(form, key_formats.IntegerFormat) and form.width is None
    if isinstance(form, key_formats.TextFormat) or ((iso or whole) and not form.descending):
        return "text"
    if isinstance(form, key_formats.StoredFormat) and form.unit is not None:
        return form.pattern, form.unit, form.to_text(_MOMENT)
    return type(form).__name__, form.pattern, form.descending


def _was_and_is(before: CompiledKey, after: CompiledKey) -> str:
    text, new_text = _texts(before), _texts(after)
    if text != new_text:
        return f"was {text}, and is now {new_text}"
    moved = _moved_ranks(before, after)
    if moved:
        return f"{text} has different ranks: {'; '.join(moved)}"
    if _styles(before) != _styles(after):
        return f"{text} had the style {_styles(before)}, and now has {_styles(after)}"
    return f"{text} has different formats, because the types of its fields have changed"


def _styles(key: CompiledKey) -> str:
    styles = (variable.style for _, template in key.attributes for variable in template.variables)
    return " and ".join(dict.fromkeys(map(str, styles)))


def _labels(place: str, before: CompiledEntity, after: CompiledEntity) -> Iterator[Change]:
    """Changes of discriminators. An item without the discriminator of its entity isn't read as the entity."""
    for name, value in after.labels.items():
        if before.labels.get(name) != value:
            was = f"was {_label(name, before)}, and is now" if name in before.labels else "is new:"
            what = f"the discriminator {was} {_label(name, after)}"
            effect = "existing items lack the discriminator, so reads don't find them"
            action = f"before the new code runs, {copied(after)}"
            yield breaking("label-changed" if name in before.labels else "label-added", place, what, effect, action)
    for name in before.labels.keys() - after.labels.keys():
        what = f"the discriminator {_label(name, before)} is removed"
        effect = "existing items keep the attribute; new items lack it, so old code doesn't find new items"
        yield safe("label-removed", place, what, effect)


def _label(name: str, entity: CompiledEntity) -> str:
    return f"{name} = {entity.labels[name]['S']!r}"


def _plain(value: object) -> str:
    return repr(getattr(value, "value", value))


def _texts(key: CompiledKey) -> str:
    text = " / ".join(str(template) for _, template in key.attributes)
    if key.when:
        text += " if " + " and ".join(f"{name} is {' or '.join(map(_plain, each))}" for name, each in key.when.items())
    return f"{text} in {key.shards} shards" if key.shards > 1 else text
