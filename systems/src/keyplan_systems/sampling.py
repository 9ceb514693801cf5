"""Shared by samples: writing in steps, skipping existing items, skewed random choices, logins."""

from __future__ import annotations

import random
from bisect import bisect
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import cache
from itertools import accumulate
from typing import TypeVar

from keyplan import Design, Entity
from keyplan.systems import Progress

W = TypeVar("W")
E = TypeVar("E", bound=Entity)


def in_steps(count: int, step: int, write: Callable[[range], int], progress: Progress) -> int:
    """Write numbers 0 to ``count`` in steps of ``step``; returns the sum of the calls' results."""
    written = 0
    for start in range(0, count, step):
        numbers = range(start, min(start + step, count))
        written += write(numbers)
        progress(numbers.stop, count)
    return written


def not_there(design: Design, wholes: Sequence[W], main: Callable[[W], Entity], *fields: str) -> list[W]:
    """The entries whose main item isn't stored; ``fields`` are its key fields."""
    if not wholes:
        return []
    items = [main(whole) for whole in wholes]
    keys = [{name: getattr(item, name) for name in fields} for item in items]
    stored = design.get_many(type(items[0]), keys, consistent=True)
    return [whole for whole, before in zip(wholes, stored, strict=True) if before is None]


def shifted(entity: E, offset: timedelta) -> E:
    """The entity with each of its times moved by ``offset``, so that samples have current dates."""
    times = {name: value + offset for name, value in entity if isinstance(value, datetime)}
    return entity.model_copy(update=times) if times else entity


def sample_logins(logins: Sequence[str], password: str, *more: str, public: bool) -> list[str]:
    """How to sign in to a sample as these users, who have the original password. A public site gets a warning."""
    if not logins:
        return []
    lines = [f"Sign in as {' or '.join(logins)}; the password is: {password}", *more]
    return [*lines, "Warning: this password is public; change it before you publish the site"] if public else lines


def zipf(count: int) -> list[float]:
    """Weights for ``random.choices`` (Zipf): the second is half as likely as the first, the third a third."""
    return [1 / rank for rank in range(1, count + 1)]


@cache
def zipf_sums(count: int) -> list[float]:
    """The cumulative weights, for ``cum_weights`` of ``random.choices``."""
    return list(accumulate(zipf(count)))


def drawn(chance: random.Random, count: int) -> int:
    """A number below ``count``, Zipf-distributed, equal to the draw of ``random.choices`` with these weights, but
    without a list per count: all smaller counts use the sums of the next power of two.
    """
    sums = zipf_sums(1 << (count - 1).bit_length())
    return bisect(sums, chance.random() * sums[count - 1], 0, count - 1)
