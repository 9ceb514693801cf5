"""Which entities of one question are read apart: by a query each, since many items that aren't asked for may lie
between theirs.

One query has one condition on the sort key, so it reads all from the first entity's items to the last one's, and what
lies between is paid for. Reading apart takes a request more, and nothing of what lies between. Which of them costs
less is judged on the templates: where any number of items may lie between, it is read apart; where there is none, or
single items, one query reads through.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from keyplan.model.compiled.collisions import same_partition
from keyplan.model.compiled.plans import KeyMatch, QueryPlan
from keyplan.model.stored.key_templates import Literal_, Template, Variable
from keyplan.model.stored.stored_entity import CompiledEntity
from keyplan.model.stored.stored_keys import CompiledKey

__all__ = ["read_apart"]

_Part = Literal_ | Variable


@dataclass
class _Run:
    """Entities whose items stand together: their sort keys begin with one text, behind what all have in common."""

    start: str
    matches: list[KeyMatch]
    common: int
    """How many parts of their templates all sort keys of the question have in common."""

    @property
    def narrowed(self) -> bool:
        """Whether its entities have items besides that begin with the same text, and aren't asked for."""
        return any(
            match.sort[0].condition is not None or _open(match.key, match.sort[0].known[self.common + 1 :])
            for match in self.matches
        )

    @property
    def behind(self) -> str:
        """The least text behind all its sort keys, what isn't asked for of the same entities among them."""
        if all(len(match.sort[0].known) == self.common + 1 and match.sort[0].complete for match in self.matches):
            return f"{self.start}\0"
        if all(match.sort[0].complete for match in self.matches):
            return self.start  # one item, whose sort key repeats a field of the partition
        return _successor(self.start)


def read_apart(plan: QueryPlan, entities: Iterable[CompiledEntity]) -> QueryPlan:
    """The plan, with the narrower queries that it is read by where they cost less: in the order of the answer."""
    runs = _runs(plan)
    if len(runs) < 2 or plan.buckets is not None:  # of buckets of time, each is one query
        return plan
    common = runs[0].matches[0].sort[0].known[: runs[0].common]
    others = list(_others(plan, common, entities))
    groups = [[runs[0]]]
    for before, run in pairwise(runs):
        if before.narrowed or run.narrowed or any(_between(before, run, *other) for other in others):
            groups.append([run])
        else:
            groups[-1].append(run)
    if len(groups) < 2:
        return plan
    names = [{match.entity.name for run in group for match in run.matches} for group in groups]
    parts = [
        replace(
            plan,
            matches=tuple(match for match in plan.matches if match.entity.name in own),
            completed=tuple(entity for entity in plan.completed if entity.name in own),
        )
        for own in (names if plan.forward else names[::-1])
    ]
    return replace(plan, apart=tuple(parts))


def _runs(plan: QueryPlan) -> list[_Run]:
    """The entities of a question in the order of their sort keys; fewer than two where their items may mix."""
    matches = plan.matches
    if len(matches) < 2 or not all(match.sort and match.sort[0].attribute.type == "S" for match in matches):
        return []
    common = _common([match.sort[0].known for match in matches])
    starts: list[tuple[str, KeyMatch]] = []
    for match in matches:
        known = match.sort[0].known
        following = known[common] if len(known) > common else None
        if not isinstance(following, Literal_):
            return []
        starts.append((following.text, match))
    runs: list[_Run] = []
    for start, match in sorted(starts, key=lambda pair: pair[0]):
        if runs and start.startswith(runs[-1].start):
            runs[-1].matches.append(match)
        else:
            runs.append(_Run(start, [match], common))
    return runs


def _common(known: Sequence[Sequence[_Part]]) -> int:
    """How many parts all sort keys begin with: the same texts, and the same fields in the same format."""
    number = 0
    while all(len(parts) > number and _written(parts[number]) == _written(known[0][number]) for parts in known):
        number += 1
    return number


def _written(part: _Part) -> _Part:
    """A part as far as its text goes: not what follows it."""
    return part if isinstance(part, Literal_) else replace(part, ends="")


def _others(
    plan: QueryPlan, common: Sequence[_Part], entities: Iterable[CompiledEntity]
) -> Iterator[tuple[str, str | None]]:
    """The sort keys of which any number may stand in a partition that the question reads, and that aren't asked for:
    from which text on, and up to which (None: no end), behind what all that is asked for has in common.
    """
    asked = {match.entity.name: match.key for match in plan.matches}
    for entity in entities:
        for key in (*entity.keys, *entity.claims):
            if key is asked.get(entity.name) or not key.sort or not same_partition(plan.key, key):
                continue
            begins = _behind(common, key.sort[0][1])
            if begins is not None and _many(key, begins[1]):
                yield begins[0], _successor(begins[0]) or None


def _behind(common: Sequence[_Part], template: Template) -> tuple[str, Sequence[_Part]] | None:
    """With which text the sort keys of a template go on behind common parts, and by which parts; None where they
    can't begin so.
    """
    parts = template.parts
    for at, part in enumerate(common):
        own = parts[at] if at < len(parts) else None
        if own is None:
            return None
        if isinstance(part, Literal_) and isinstance(own, Literal_) and part.text != own.text:
            alike = part.text.startswith(own.text) or own.text.startswith(part.text)
            return ("", parts[at:]) if alike else None
        if isinstance(part, Literal_) is not isinstance(own, Literal_):
            return "", parts[at:]
    rest = parts[len(common) :]
    first = rest[0] if rest else None
    return (first.text if isinstance(first, Literal_) else "", rest)


def _many(key: CompiledKey, rest: Sequence[_Part]) -> bool:
    """Whether one partition can have more than one item of a key, as far as the rest of its sort key says."""
    later = [variable for _, template in key.sort[1:] for variable in template.variables]
    return _open(key, (*rest, *later))


def _open(key: CompiledKey, parts: Sequence[_Part]) -> bool:
    """Whether parts of a key's sort key have fields that its partition key doesn't fix."""
    fixed = {variable.field for _, template in key.partition for variable in template.variables}
    return any(isinstance(part, Variable) and part.field not in fixed for part in parts)


def _between(before: _Run, run: _Run, low: str, high: str | None) -> bool:
    """Whether texts from ``low`` on, up to ``high``, lie behind one run and before the next."""
    return max(low, before.behind) < (run.start if high is None else min(high, run.start))


def _successor(text: str) -> str:
    """The least text behind all that begin with ``text``; empty where there is none."""
    return text[:-1] + chr(ord(text[-1]) + 1) if text else ""
