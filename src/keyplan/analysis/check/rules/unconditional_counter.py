"""A number is changed, whether or not what it counts is.

A Put writes over what is there, and a Delete of what isn't there is no error: so a transaction that puts a like and
adds one to the likes counts the same like twice, and one that takes it back twice counts down twice. The number drifts
away from what it counts, and nothing says so.

Let the transaction fail instead: ``Create`` what is counted, and end the Delete with ``.if_missing(...)``. Reported are
a Put, of a key that isn't made for each item, and a Delete, without a condition, beside an ``Add`` to another
entity's item that has neither a condition nor a token.

Source: "PutItem" and "DeleteItem" in the API reference: an item of the same key is replaced, and a delete without a
condition is idempotent.
"""

from __future__ import annotations

from collections.abc import Iterator

from keyplan.analysis.check.check_subject import Subject
from keyplan.analysis.check.findings import Remark, Severity
from keyplan.analysis.check.rule import Rule
from keyplan.analysis.write_analysis.code import Action

__all__ = ["RULE"]


def _find(subject: Subject) -> Iterator[Remark]:
    for account in subject.writes:
        alone = [action for action in account.actions if not action.batched]
        if any(action.conditional or action.once or action.must_exist for action in alone):
            continue  # the transaction fails where that doesn't hold
        counting = [action for action in alone if action.kind == "Update" and "Add" in action.changes.values()]
        creating = any(action.kind in {"Create", "Check"} for action in alone)
        for action in alone if not creating else ():
            entity = action.entity
            others = [each for each in counting if each.entity is not None and each.entity is not entity]
            if entity is None or not others or not _may_change_nothing(subject, action):
                continue
            counted = others[0]
            names = " and ".join(sorted(name for name, change in counted.changes.items() if change == "Add"))
            what, advice = {
                "Put": ("writes over one that is there", "yield Create instead of Put, which fails with ItemExists"),
                "Delete": ("is no error where there is none", "end the Delete with .if_missing(...), so that it fails"),
            }[action.kind]
            yield Remark(
                account.pattern.place,
                f"its {action.kind} of {entity.name} {what}, and {counted.entity.name if counted.entity else 'an item'}"
                f".{names} is changed all the same",
                advice,
                line=action.line,
            )


def _may_change_nothing(subject: Subject, action: Action) -> bool:
    entity = action.entity
    if entity is None or entity.version is not None or entity.claims:
        return False
    if action.kind == "Put":
        return not any(subject.generated(entity, name) for name in entity.key_fields)
    return action.kind == "Delete"


RULE = Rule("KP320", Severity.WARNING, _find, __name__, __doc__)
