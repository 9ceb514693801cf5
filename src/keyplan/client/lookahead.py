"""What a write's code does with the value of the ``yield`` that it stands at, and whether another one can follow.

A write's actions go out together when its generator has ended, so nothing can be given that only the store knows; but
for an action behind which no other ``yield`` can be reached: its request may go out at once. That is read from the
generator's code, along every jump and every exception's handler. Where the code can't be read (an iterator that isn't
a Python generator), it counts as used, and as one that others follow.
"""

from __future__ import annotations

import dis
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType
from typing import Any, NamedTuple

__all__ = ["Outlook", "outlook"]


class Outlook(NamedTuple):
    """``used``: the code takes the value of its ``yield``. ``last``: no other ``yield`` can follow."""

    used: bool
    last: bool


_UNKNOWN = Outlook(used=True, last=False)


def outlook(generator: Any) -> Outlook:
    """What a generator that stands at a ``yield`` makes of the value, those included that wait for it in ``yield
    from``.
    """
    used, last = True, True
    known = True  # whether the value still goes where the generators so far handed it on
    for code, offset, waits in reversed(list(_standing(generator))):
        if offset < 0:
            return _UNKNOWN
        ahead = _ahead(code, offset, waits)
        if known:
            used, known = ahead.used, ahead.hands_on
        last = last and not ahead.yields
    return Outlook(used, last)


def _standing(generator: Any) -> Iterator[tuple[CodeType, int, bool]]:
    """Where each generator of a chain stands, the outermost first: its code, the offset in it, and whether it waits for
    another one. An offset of -1 is one that can't be known.
    """
    while generator is not None:
        if getattr(generator, "gi_frame", None) is None:
            yield _standing.__code__, -1, False
            return
        inner = generator.gi_yieldfrom
        yield generator.gi_code, generator.gi_frame.f_lasti, inner is not None
        generator = inner


class _Ahead(NamedTuple):
    used: bool
    hands_on: bool
    """Whether the value is returned as it is: what becomes of it is decided by the generator that waits."""
    yields: bool


_IDLE = frozenset({"RESUME", "NOP", "CACHE", "EXTENDED_ARG", "END_SEND", "NOT_TAKEN"})
_ENDS = frozenset({"RETURN_VALUE", "RETURN_CONST", "RETURN_GENERATOR", "RAISE_VARARGS", "RERAISE"})
_JUMPS = frozenset({"JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT"})


@lru_cache(maxsize=4096)
def _ahead(code: CodeType, offset: int, waits: bool) -> _Ahead:
    steps = [one for one in dis.get_instructions(code) if one.opname not in {"CACHE", "EXTENDED_ARG"}]
    places = {one.offset: number for number, one in enumerate(steps)}

    def place(target: int) -> int:
        while target not in places:  # a jump to an argument's extension is one to its instruction
            target += 2
        return places[target]

    try:
        start = _begin(steps, place, place(offset), waits=waits)
    except (LookupError, ValueError):
        return _Ahead(used=True, hands_on=False, yields=True)
    first = start
    while steps[first].opname in _IDLE:
        first += 1
    taken = steps[first].opname
    handlers = [(one.start, one.end, one.target) for one in dis.Bytecode(code).exception_entries]  # type: ignore[attr-defined]
    pending, seen = [start], set[int]()
    yields = False
    while pending and not yields:
        number = pending.pop()
        if number in seen:
            continue
        seen.add(number)
        step = steps[number]
        yields = step.opname == "YIELD_VALUE"
        pending.extend(place(target) for low, high, target in handlers if low <= step.offset < high)
        if isinstance(step.argval, int) and step.opcode in _WITH_TARGET:
            pending.append(place(step.argval))
        if step.opname not in _ENDS and step.opname not in _JUMPS:
            pending.append(number + 1)
    return _Ahead(used=taken != "POP_TOP", hands_on=taken == "RETURN_VALUE", yields=yields)


_WITH_TARGET = frozenset({*dis.hasjrel, *dis.hasjabs})


def _begin(steps: list[dis.Instruction], place: Any, number: int, *, waits: bool) -> int:
    """Where the code goes on when the value is there. Raises ValueError and LookupError for code of another form."""
    if steps[number].opname == "YIELD_VALUE":
        number += 1
    if steps[number].opname == "RESUME":
        number += 1
    if not waits:
        return number
    if steps[number].opname != "JUMP_BACKWARD_NO_INTERRUPT":
        raise ValueError("no loop of a yield from")
    send = steps[place(steps[number].argval)]
    if send.opname != "SEND":
        raise ValueError("no loop of a yield from")
    found: int = place(send.argval)
    return found
