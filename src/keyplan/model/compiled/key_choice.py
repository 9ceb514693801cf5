"""Which of the keys that serve a question is read: the one in the order asked for that costs least; and where several
orders are possible and none is asked for, a fault.

How a single key serves is judged in ``matching.py``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from keyplan.model.compiled.plans import KeyMatch
from keyplan.model.declared.declaration_errors import Problem
from keyplan.model.stored.key_templates import Variable
from keyplan.model.stored.stored_keys import CompiledKey, literal_start

__all__ = ["Candidate", "choose", "lacking_while_none", "ordered_by", "rank", "unsorted"]

Candidate: TypeAlias = tuple[CompiledKey, tuple[KeyMatch, ...]]
"""A key that serves, and how it does for each entity of the answer."""


def choose(candidates: Sequence[Candidate], order_by: str | None, constants: Mapping[str, Any]) -> Candidate:
    """The key that is read: of those that serve in the order asked for, the one that costs least. Raises Problem
    where several orders are possible and none is asked for.
    """
    wanted = None if order_by is None else order_by.lstrip("-")
    if wanted is not None:
        fitting = [element for element in candidates if ordered_by(element[1], wanted)]
        if not fitting:
            orders = ", ".join(f"{key.name} orders by {_order(matches)}" for key, matches in candidates)
            raise Problem(f"no key that serves orders by {wanted}: {orders}")
        candidates = fitting
    # What one partition answers needn't be asked of several
    candidates = [element for element in candidates if element[1][0].buckets is None] or candidates
    best, *others = sorted(candidates, key=lambda element: rank(element, constants))
    rivals = [element for element in others if not _same_order(best[1], element[1])]
    if rivals and wanted is None:
        choices = [best, *rivals]
        names = ", ".join(f"{key.name} (ordered by {_order(matches)})" for key, matches in choices)
        firsts = dict.fromkeys(match.order[0][0] for _, matches in choices for match in matches if match.order)
        ways = " or ".join(f'order_by="{name}"' for name in firsts)
        raise Problem(
            f"several keys serve, each in its own order: {names}",
            f'say which with {ways} ("-{next(iter(firsts))}" for the descending order)',
        )
    return best


def rank(candidate: Candidate, constants: Mapping[str, Any]) -> tuple[bool, int, int, int, int]:
    """What speaks against reading a key, compared with others: that it may lack items; then what it costs, by what must
    be filtered, buckets, the table or an index, shards.
    """
    key, matches = candidate
    lacks = any(next(lacking_while_none(match), None) is not None for match in matches)
    filtered = sum(any(name not in match.used for match in matches) for name in constants)
    narrowed = len({name for match in matches for name in match.narrowed})
    place = 0 if key.index is None else 1 if key.index.local else 2
    return (lacks, filtered + narrowed, int(matches[0].buckets is not None), place, key.shards)


def lacking_while_none(match: KeyMatch) -> Iterator[str]:
    """The fields that the question leaves open and that keep an item out of a key while they are None."""
    fields = (name for _, template in match.key.attributes for name in template.fields)
    yield from (name for name in fields if match.entity.fields[name].optional and name not in match.used)


def ordered_by(matches: tuple[KeyMatch, ...], wanted: str) -> bool:
    """Whether the answer has the order asked for: all keys that leave something open begin with that field."""
    firsts = [match.order[0][0] for match in matches if match.order]
    return bool(firsts) and all(text == wanted for text in firsts) and unsorted(matches) is None


def unsorted(matches: tuple[KeyMatch, ...]) -> str | None:
    """The field that leads the order of an answer and whose texts don't sort as its values do; None where they do."""
    firsts = (variable for match in matches for variable in _opened(match)[:1])
    return next((variable.field for variable in firsts if not getattr(variable.format, "sorts", True)), None)


def _same_order(element: tuple[KeyMatch, ...], other: tuple[KeyMatch, ...]) -> bool:
    """Whether two keys give an answer in the same order, or one of them orders what the other leaves open."""
    return _entities_in_order(element) == _entities_in_order(other) and all(
        left == right
        for mine, theirs in zip(element, other, strict=True)
        for left, right in zip(_ordering(mine), _ordering(theirs), strict=False)
    )


def _entities_in_order(matches: tuple[KeyMatch, ...]) -> list[str]:
    """The entities of an answer in the order in which the words of their keys put them."""
    starts = {match.entity.name: literal_start(match.key.sort[0][1]) if match.key.sort else "" for match in matches}
    return sorted(starts, key=lambda name: (starts[name], name))


def _ordering(match: KeyMatch) -> list[tuple[str, bool, bool]]:
    """What orders an answer: each field, whether it is turned against the first one, and whether its key holds it
    whole.
    """
    opened = _opened(match)
    time = [] if not match.leads or match.buckets is None else [(match.buckets.field, False, False)]
    return time + [
        (variable.field, variable.format.descending is not opened[0].format.descending, variable.format.whole)
        for variable in opened
    ]


def _opened(match: KeyMatch) -> list[Variable]:
    """The variables of the sort key that are open."""
    variables = [variable for _, template in match.key.sort for variable in template.variables]
    return variables[len(variables) - len(match.order) + int(match.leads) :]


def _order(matches: tuple[KeyMatch, ...]) -> str:
    return ", ".join(name for match in matches for name, _ in match.order) or "nothing"
