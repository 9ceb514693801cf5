"""What is asked of merged partitions, ask by ask: of how many items, up to where, in which round. Nobody sees it in an
answer; each ask that is too large, too small or too many is paid for.
"""

from __future__ import annotations

from keyplan.model.compiled.partition_shares import PARALLEL_MAX, Shares


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
