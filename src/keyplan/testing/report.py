"""What a verification looked at: stores, items, and how often each pattern was asked and answered."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["PatternReport", "Report", "RunningCounts"]


@dataclass(frozen=True, slots=True)
class PatternReport:
    """One pattern: how often it was called, and how often with an answer.

    ``answered`` counts non-empty answers of a read, and successes of a write; ``items`` counts the items in the
    answers, ``pages`` those that were paged over beyond a first one.
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
    """What was checked. ``seed`` repeats it: ``verify(Design, seed=report.seed)``."""

    design: str
    stores: int
    items: int
    items_max: int
    seed: int
    patterns: tuple[PatternReport, ...]

    def pattern(self, name: str) -> PatternReport:
        """The report of one pattern. Raises KeyError for an unknown one."""
        for report in self.patterns:
            if report.name == name:
                return report
        raise KeyError(name)

    @property
    def unanswered(self) -> tuple[str, ...]:
        """The reads that never had a non-empty answer, and the writes that never succeeded: nothing was proved of
        them.
        """
        return tuple(pattern.name for pattern in self.patterns if not pattern.answered)

    def __str__(self) -> str:
        items = f"{self.items} items (at most {self.items_max} in one)"
        head = f"{self.design}: {self.stores} stores, {items}, seed {self.seed}"
        width = max((len(pattern.name) for pattern in self.patterns), default=0)
        lines = [
            f"  {pattern.id:>5} {pattern.name:<{width}}  {pattern.calls:>6} calls  {pattern.answered:>6} answered"
            f"  {pattern.items:>6} items  {pattern.pages:>5} further pages"
            for pattern in self.patterns
        ]
        return "\n".join([head, *lines])


class RunningCounts:
    """Counts while a verification runs."""

    def __init__(self) -> None:
        self.stores = 0
        self.items = 0
        self.items_max = 0
        self._counts: dict[str, tuple[int, int, int, int]] = {}

    def store(self, items: int) -> None:
        """One more store, with so many items."""
        self.stores += 1
        self.items += items
        self.items_max = max(self.items_max, items)

    def count(self, pattern: str, *, answered: bool, items: int = 0, pages: int = 0) -> None:
        """One more call of a pattern."""
        calls, answers, items_before, pages_before = self.of(pattern)
        self._counts[pattern] = calls + 1, answers + answered, items_before + items, pages_before + pages

    def answered(self, pattern: str) -> bool:
        """Whether a pattern was ever answered, or succeeded."""
        return self.of(pattern)[1] > 0

    def of(self, pattern: str) -> tuple[int, int, int, int]:
        """Calls, answers, items and further pages of a pattern."""
        return self._counts.get(pattern, (0, 0, 0, 0))
