"""All that is known of each write of the tests' designs, by its code and by its runs, as it was agreed upon."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import pytest
from pydantic import BaseModel

from keyplan import Design
from keyplan.rehearsal.account import Account, Accounts
from keyplan.rehearsal.code import Action
from keyplan.rehearsal.running import Refused, Rehearsal
from keyplan.rehearsal.trials import Tried
from tests.agreed import assert_agreed
from tests.check import test_planted
from tests.client import test_attempts
from tests.client import test_writes as test_writes_of_clients
from tests.contract.design import Everything
from tests.cost.test_estimates import Books
from tests.designs_as_published import battle_royale, blog, cms, complaints, game_scores, recurring_payments, social
from tests.rehearsal import test_account, test_code, test_hindsight
from tests.rehearsal.kennels import Kennels
from tests.rehearsal.renamed import Things
from tests.rehearsal.spelt import Ships
from tests.rehearsal.spelt_within import MADE
from tests.studio.school import School
from tests.web.library import Library

DESIGNS: dict[str, type[Design]] = {
    "things": test_code.Things,
    "renamed": Things,
    "ships": Ships,
    "paints": MADE["design"],
    "callers": test_account.Caller,
    "joiners": test_account.Joiner,
    "trips": test_hindsight.Trips,
    "kennels": Kennels,
    "never": test_hindsight.Never,
    "everything": Everything,
    "school": School,
    "library": Library,
    "blog": blog.Blog,
    "cms": cms.Cms,
    "battles": battle_royale.BattleRoyale,
    "complaints": complaints.ComplaintManagement,
    "scores": game_scores.GameScores,
    "payments": recurring_payments.RecurringPayments,
    "books": Books,
    "exams": test_planted.Exams,
    "club": test_planted.Club,
    "attempts": test_attempts.Club,
    "orders": test_writes_of_clients.Shop,
    "social": social.Social,
}
LONG = ("endless", "as_many_as_said", "just_enough")
"""Writes of a hundred actions."""
_NEVER_THE_SAME = re.compile(r"datetime\.datetime\([^()]*(?:\([^()]*\)[^()]*)*\)|\d{4}-\d\d-\d\dT[\d:.]+Z?|0x[0-9a-f]+")


@pytest.mark.parametrize("name", DESIGNS)
def test_what_is_known_of_a_write_is_as_it_was_agreed_upon(name: str) -> None:
    design = DESIGNS[name]
    accounts = Accounts(design.compiled, design)
    lines: list[str] = []
    for pattern in design.compiled.writes.values():
        if pattern.name in LONG:
            continue
        first = inspect.unwrap(pattern.function).__code__.co_firstlineno
        lines += [f"{pattern.name}:", *(f"    {line}" for line in _of_account(accounts.of(pattern), first))]
    assert_agreed(_NEVER_THE_SAME.sub("...", "\n".join(lines)))


def _of_account(account: Account, first: int) -> Iterator[str]:
    code = account.code
    yield f"{account.operation}; rights {account.rights}; asks {account.asked}; kinds {account.kinds}"
    yield f"entities {[entity.name for entity in account.entities]}{' joined' if account.joined else ''}"
    flags = [name for name in ("known", "loops", "repeats") if getattr(code, name)]
    yield f"code: {flags} folds {sorted(code.folded)} counts {sorted(code.counted)} names {[*code.entities]}"
    yield from (f"  ask {ask.name} at {ask.line - first}{' looped' if ask.looped else ''}" for ask in code.asks)
    yield from (f"  {_of_action(action, first)}" for action in code.actions)
    if account.tried is not None:
        yield from _of_runs(account.tried, first)
    for fault in account.faults():
        yield f"FAULT at {fault.line and fault.line - first}: {fault.message} ({fault.hint})"


def _of_action(action: Action, first: int) -> str:
    """An action in the code, with what is not usual of it."""
    parts = [f"{action.kind} {action.entity and action.entity.name}"]
    for field in fields(Action)[3:]:
        value = getattr(action, field.name)
        if value:
            parts.append(f"{field.name} {sorted(value) if isinstance(value, frozenset) else value}")
    within = 0 <= action.line - first < 40
    return f"{', '.join(parts)} {f'at {action.line - first}' if within else ''}"


def _of_runs(tried: Tried, first: int) -> Iterator[str]:
    yield f"{tried.runs} runs; {'; '.join(tried.notes)}" + (f"; fails: {tried.failure}" if tried.failure else "")
    if tried.arguments:
        yield f"  called with {_shown(dict(tried.arguments))}"
    yield from (f"  there: {_shown(instance)}" for instance in tried.there)
    yield from (f"  refused{' always' if refused.always else ''}: {_of_refusal(refused)}" for refused in tried.refused)
    yield from (f"  raised: {type(error).__name__}: {_first_line(error)}" for error in tried.errors)
    yield from (f"  kept from: {what}" for what in tried.outside)
    if tried.rehearsal is not None:
        yield from _of_rehearsal(tried.rehearsal, first)


def _shown(value: Any) -> str:
    """A value as Python writes it, with the members of a set in an order, and filling as how much there is of it."""
    match value:
        case BaseModel():
            return f"{type(value).__name__}({', '.join(f'{name}={_shown(held)}' for name, held in value)})"
        case dict():
            return f"{{{', '.join(f'{name}: {_shown(held)}' for name, held in value.items())}}}"
        case set() | frozenset():
            return f"{{{', '.join(sorted(map(_shown, value)))}}}"
        case list() | tuple():
            return f"[{', '.join(map(_shown, value))}]"
        case _:
            return re.sub("x{4,}", lambda match: f"x*{len(match[0])}", repr(value))


def _of_refusal(refused: Refused) -> str:
    return f"{type(refused.error).__name__} {_first_line(refused)}"


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]


def _of_rehearsal(rehearsal: Rehearsal, first: int) -> Iterator[str]:
    for asked in rehearsal.asked:
        nothing = " nothing" if asked.nothing else ""
        count = len(asked.answer) if isinstance(asked.answer, list | tuple) else type(asked.answer).__name__
        yield f"  asked {asked.pattern.name} {_shown(dict(asked.arguments))}: {count}{nothing}"
    for what, mutations in (("writes", [rehearsal.mutations]), ("a batch of", rehearsal.batches)):
        for mutation in (each for group in mutations for each in group):
            yield f"  {what} {mutation.what}, {mutation.size_bytes} B: {_changed(mutation.before, mutation.after)}"
    more = [sorted(rehearsal.entities), sorted(rehearsal.kinds), sorted(rehearsal.idle)]
    yield f"  {rehearsal.items} items, {rehearsal.single or 'together'} {more}"
    yield f"  yields at {sorted(line - first for line in rehearsal.lines)}"


def _changed(before: Any, after: Any) -> str:
    """Which attributes differ."""
    if before is None or after is None:
        return "nothing before" if before is None else "nothing behind"
    return f"changes {sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))}"
