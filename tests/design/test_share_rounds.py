"""What is asked of merged partitions, ask by ask: of how many items, up to where, in which round. Nobody sees it in an
answer; each ask that is too large, too small or too many is paid for.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import product

import pytest

from keyplan.design.compiled.shares import PARALLEL_MAX, Place, Shares
from tests.agreed import assert_agreed

SPREADS = {
    "even": [1.0] * 45,
    "skewed": [1.0 / (1 + at) for at in range(45)],
    "one": [40.0] + [1.0] * 44,
    "none in most": [0.0, 0.0, 1.0] * 15,
}


def _parts(count: int, size: int, spread: str) -> list[list[Place]]:
    choice = random.Random(f"{count}/{size}/{spread}")
    parts: list[list[Place]] = [[] for _ in range(count)]
    weights = SPREADS[spread][:count]
    for number in range(size if any(weights) else 0):
        parts[choice.choices(range(count), weights)[0]].append((number,))
    return parts


def _rounds(shares: Shares, parts: Sequence[list[Place]], *, forward: bool, kept: int, lost: bool) -> list[str]:
    """What is asked, a line a round. Of each ``kept`` items that are looked at, one is an entry of the answer."""
    rounds: list[str] = []
    at = [0] * len(parts)
    while asks := shares.asks():
        shown: list[str] = []
        given: list[Place] = []
        for ask in asks:
            rest = parts[ask.partition][at[ask.partition] :]
            if ask.end is not None:
                rest = [each for each in rest if (each <= ask.end if forward else each >= ask.end)]
            read = rest[: ask.limit]
            at[ask.partition] += len(read)
            more = ask.limit is not None and len(rest) >= ask.limit
            entries = [each for each in read if each[0] % kept == 0]
            given += entries
            shares.took(ask, entries, len(read), read[-1] if more else None)
            end = "" if ask.end is None else f" to {ask.end[0]}"
            shown.append(f"{ask.partition}: {ask.limit}{end}")
        rounds.append(f"    {', '.join(shown)}")
        if lost and len(rounds) == 1:
            shares.lost(given[::3])
    return rounds


@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize("even", [True, False])
def test_each_ask(spread: str, even: bool) -> None:
    lines: list[str] = []
    for count, wanted, forward, bounded in product((1, 2, 5), (1, 12, 120), (True, False), (True, False)):
        for sifted, kept, lost in ((False, 1, False), (True, 3, False), (False, 3, True)):
            parts = [part if forward else part[::-1] for part in _parts(count, wanted * 3, spread)]
            shares = Shares(count, wanted, forward=forward, bounded=bounded, sifted=sifted, even=even)
            how = [name for name, each in (("bounded", bounded), ("sifted", sifted), ("lost", lost)) if each]
            lines.append(f"{count} {wanted} {'up' if forward else 'down'} {' '.join(how)}")
            lines += _rounds(shares, parts, forward=forward, kept=kept, lost=lost)
    assert_agreed("\n".join(lines))


def test_all_of_them_are_read_without_limits() -> None:
    shares = Shares(PARALLEL_MAX * 2 + 1, None, forward=True, bounded=True, sifted=False, even=True)
    rounds: list[list[int]] = []
    left = {at: 1 + at % 2 for at in range(PARALLEL_MAX * 2 + 1)}
    while asks := shares.asks():
        assert all(ask[1:] == (None, None) for ask in asks)
        rounds.append([ask.partition for ask in asks])
        for ask in asks:
            left[ask.partition] -= 1
            shares.took(ask, [(0,)], 1, (left[ask.partition],) if left[ask.partition] else None)
            shares.lost([(0,)])
    assert rounds == [
        [*range(PARALLEL_MAX)], [*range(PARALLEL_MAX, 2 * PARALLEL_MAX)], [2 * PARALLEL_MAX],
        [*range(1, 2 * PARALLEL_MAX, 2)],
    ]  # fmt: skip


@pytest.mark.parametrize("count", [PARALLEL_MAX + 1, 45])
def test_more_partitions_than_are_read_at_once(count: int) -> None:
    lines: list[str] = []
    for wanted, even in product((2, 60), (True, False)):
        shares = Shares(count, wanted, forward=True, bounded=True, sifted=False, even=even)
        lines.append(f"{wanted} {'even' * even}")
        lines += _rounds(shares, _parts(count, wanted * 4, "skewed"), forward=True, kept=1, lost=False)
    assert_agreed("\n".join(lines))


SIZES = [(2, 1200), (3, 1201), (2, 800), (2, 802), *[(8, 21)] * 12, *[(4, 60)] * 12]


def test_long_pages_and_late_finds() -> None:
    """Shares of several hundred; partitions of which one has next to nothing, or all that the others lack."""
    lines: list[str] = []
    choice = random.Random(4)
    for number, (count, wanted) in enumerate(SIZES):
        weights = [choice.choice([0.01, 1, 1, 30]) for _ in range(count)]
        parts: list[list[Place]] = [[] for _ in range(count)]
        for entry in range(wanted * 3):
            parts[choice.choices(range(count), weights)[0]].append((entry,))
        shares = Shares(count, wanted, forward=True, bounded=True, sifted=False, even=number % 3 > 0)
        lines.append(f"{count} {wanted} {weights}")
        lines += _rounds(shares, parts, forward=True, kept=1, lost=False)
    assert_agreed("\n".join(lines))
