"""Index with items that no access pattern reads.

If all access patterns of an index query the same value of a field (``status = "published"``), the index also contains
items with other values, such as drafts, which no pattern reads. Unread items cost writes and storage.

Set ``when=`` to make the key sparse, so that the index contains only the items that the patterns read.

See "Take advantage of sparse indexes" in the Developer Guide.
"""

from __future__ import annotations

from keyplan.analysis.check.check_subject import fields_in, values_of
from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject
from keyplan.model.compiled.constants import values_asked


def _find(subject: Subject) -> Remarks:
    for entity, key in subject.keys:
        # Keys that share a partition attribute need the same when=, so consider the patterns of all these keys
        names = {attribute.name for attribute, _ in key.partition}
        sharing = [each for each in entity.index_keys if names & {attribute.name for attribute, _ in each.attributes}]
        readers = [query for each in sharing for query in subject.readers(each)]
        if key.index is None or not subject.readers(key):
            continue
        for name in fields_in(key.partition):
            choices = values_of(entity.fields[name].annotation)
            if choices is None or name in key.when or not all(name in reader.pattern.constants for reader in readers):
                continue
            asked = dict.fromkeys(value for reader in readers for value in values_asked(reader.pattern.constants[name]))
            unread = [choice for choice in choices if choice not in asked]
            if unread:
                yield _remark(f"{entity.name}.{key.name}", key.place, name, [*map(repr, asked)], [*map(repr, unread)])


def _remark(place: str, index: str, name: str, asked: list[str], unread: list[str]) -> Remark:
    values = ", ".join(asked)
    message = f"patterns read only {name} = {values} in {index}, which also contains items with {', '.join(unread)}"
    hint = f"make the key sparse: when={{{name!r}: {values if len(asked) == 1 else f'({values})'}}}"
    return Remark(place, message, hint)


RULE = Rule("KP406", Severity.INFO, _find, __name__, __doc__)
