"""Counter that changes without a condition on the counted item.

``Put`` replaces an existing item, and ``Delete`` of an item that doesn't exist succeeds. If a transaction that puts a
like and adds 1 to a counter is repeated, the same like is counted twice. If a transaction that deletes a like is
repeated, the counter decreases twice. After a repeated transaction, the counter is wrong, but no error is raised.

Create the counted item with ``Create``, and delete it with ``.if_missing(...)``, so that a repeated transaction fails.
The rule reports an unconditional Delete, or an unconditional Put whose key isn't generated, if the write also contains
an unconditional ``Add`` to a field of another entity, without an idempotency token.

See PutItem and DeleteItem in the API Reference.
"""

from __future__ import annotations

from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject
from keyplan.analysis.write_analysis.code import Action


def _find(subject: Subject) -> Remarks:
    for written in subject.writes:
        alone = [action for action in written.actions if not action.batched]
        if any(action.conditional or action.once or action.must_exist for action in alone):
            continue  # a false condition cancels the whole transaction, including the counter's update
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
                "Put": ("can replace an existing item", "yield Create instead of Put, which raises ItemExists"),
                "Delete": ("succeeds if no item exists", "add .if_missing(...) to the Delete, so that it fails"),
            }[action.kind]
            message = (
                f"the {action.kind} of {entity.name} {what}, and {counted.entity.name if counted.entity else 'an item'}"
                f".{names} changes in this case too"
            )
            yield Remark(written.pattern.place, message, advice, line=action.line)


def _may_change_nothing(subject: Subject, action: Action) -> bool:
    entity = action.entity
    if entity is None or entity.version is not None or entity.claims:
        return False
    if action.kind == "Put":
        return not any(subject.generated(entity, name) for name in entity.key_fields)
    return action.kind == "Delete"


RULE = Rule("KP320", Severity.WARNING, _find, __name__, __doc__)
