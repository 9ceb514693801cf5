"""The report of a verification: stores, items, and the calls and results of each access pattern."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PatternReport:
    """The counts of one access pattern. ``answered`` counts the non-empty results of a read or the successes of a
    write, ``items`` the items in results, and ``pages`` the pages after the first.
    """

    id: str
    name: str
    kind: str
    calls: int
    answered: int
    items: int
    pages: int


@dataclass(frozen=True, slots=True)
class Report:
    """The report of a verification, which ``verify(Design, seed=report.seed)`` repeats."""

    design: str
    stores: int
    items: int
    items_max: int
    seed: int
    patterns: tuple[PatternReport, ...]

    def pattern(self, name: str) -> PatternReport:
        """The report of one access pattern. Raises KeyError."""
        for report in self.patterns:
            if report.name == name:
                return report
        raise KeyError(name)

    @property
    def unanswered(self) -> tuple[str, ...]:
        """The reads that never returned an item, and the writes that never succeeded."""
        return tuple(pattern.name for pattern in self.patterns if not pattern.answered)

    def __str__(self) -> str:
        items = f"{self.items} items (at most {self.items_max} in one store)"
        head = f"{self.design}: {self.stores} stores, {items}, seed {self.seed}"
        width = max((len(pattern.name) for pattern in self.patterns), default=0)
        lines = [
            f"  {pattern.id:>5} {pattern.name:<{width}}  {pattern.calls:>6} calls  {pattern.answered:>6} answered"
            f"  {pattern.items:>6} items  {pattern.pages:>5} further pages"
            for pattern in self.patterns
        ]
        return "\n".join([head, *lines])


class RunningCounts:
    """The counts of a running verification."""

    def __init__(self) -> None:
        self.stores = 0
        self.items = 0
        self.items_max = 0
        self._counts: dict[str, tuple[int, int, int, int]] = {}

    def store(self, items: int) -> None:
        """Count a store with this number of items."""
        self.stores += 1
        self.items += items
        self.items_max = max(self.items_max, items)

    def count(self, pattern: str, *, answered: bool, items: int = 0, pages: int = 0) -> None:
        """Count a call of a pattern."""
        calls, answers, items_before, pages_before = self.of(pattern)
        self._counts[pattern] = calls + 1, answers + answered, items_before + items, pages_before + pages

    def answered(self, pattern: str) -> bool:
        """Whether a read ever returned an item, or a write ever succeeded."""
        return self.of(pattern)[1] > 0

    def of(self, pattern: str) -> tuple[int, int, int, int]:
        """The numbers of calls, answered calls, items and further pages of a pattern."""
        return self._counts.get(pattern, (0, 0, 0, 0))
