"""String field for a time, a number or a status; float field for money.

DynamoDB sorts a ``str`` field in a sort key as text, so "9" sorts after "10", and version "10.2" before "9.1". A
``str`` field also accepts different formats, such as "2026-11-21" and "Nov 21". A ``datetime`` is stored in UTC with a
fixed width, an ``int`` is padded by its format, and a ``Literal`` accepts only the listed values.

A ``float`` field for money is reported even if no key contains it, because sums of floats lose cents. The rule ignores
``state`` in addresses, and string fields with ``pattern``, ``max_length`` or ``examples``. Use the suggested type.

See "Best practices for using sort keys to organize data" in the Developer Guide.
"""

from __future__ import annotations

from keyplan.analysis.check.check_subject import fields_in, length_max, values_of
from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject
from keyplan.model.declared.fields import kind_of, layers
from keyplan.model.stored.stored_entity import CompiledEntity

TYPES = {
    "datetime": ("at", "time", "timestamp", "moment", "datetime", "when"),
    "date": ("date", "day", "birthday"),
    "int": ("number", "version", "release", "revision", "count", "amount", "rank", "score", "position", "sequence"),
    "Literal[...]": ("status", "state"),
}
"""Types, by the last word of the names of fields that should have them."""


MONEY = frozenset(
    {"amount", "balance", "budget", "cost", "credit", "fee", "payment", "price", "salary", "subtotal", "tax"}
)
ADDRESS = frozenset({"city", "country", "county", "postal_code", "postcode", "street", "zip", "zip_code"})


def _find(subject: Subject) -> Remarks:
    for entity in subject.design.entities.values():
        yield from _money(entity)
        sorting = {name for key in entity.keys for name in fields_in(key.sort)}
        placed = {name for key in entity.keys for name in fields_in(key.attributes)}
        for name in sorted(placed & entity.cls.model_fields.keys()):
            wanted = next((kind for kind, words in TYPES.items() if name.split("_")[-1] in words), None)
            if wanted == "Literal[...]" and not entity.cls.model_fields[name].is_required():
                continue  # the default shows which values are meant
            if name == "state" and not ADDRESS.isdisjoint(entity.fields):
                continue
            if wanted is None or (wanted != "Literal[...]" and name not in sorting) or not _is_any_text(entity, name):
                continue
            message = f"the field is a string in a key, and its name suggests {wanted.removesuffix('[...]')}"
            hint = f"declare it as {wanted}" + (", padded in the key: {" + name + ":08d}" if wanted == "int" else "")
            yield Remark(f"{entity.name}.{name}", message, hint)


def _money(entity: CompiledEntity) -> Remarks:
    for name, stored in entity.fields.items():
        if kind_of(stored.annotation) is float and name.rpartition("_")[2] in MONEY and not stored.computed:
            message = "the field is a float, and its name suggests money: sums of floats lose cents"
            hint = "declare it as Decimal, or as int in the smallest unit"
            yield Remark(f"{entity.name}.{name}", message, hint)


def _is_any_text(entity: CompiledEntity, name: str) -> bool:
    stored, info = entity.fields[name], entity.cls.model_fields.get(name)
    if stored.computed or info is None or kind_of(stored.annotation) is not str or info.examples:
        return False
    marks = [mark for layer in layers(stored.annotation) for mark in (layer, *getattr(layer, "metadata", ()))]
    formed = any(getattr(mark, "pattern", None) or callable(getattr(mark, "func", None)) for mark in marks)
    return not formed and values_of(stored.annotation) is None and length_max(stored.annotation) is None


RULE = Rule("KP211", Severity.INFO, _find, __name__, __doc__)
