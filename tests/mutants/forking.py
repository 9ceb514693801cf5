"""A plugin of pytest that plants faults where the tests of some rooms have been collected already, each in a fork of
that process: ``-p tests.mutants.forking``. Neither Python nor the library nor a test begins anew for each of them.

A fault in a function is planted by exchanging the function's code. What runs at import can't be, and programs that a
test starts don't have it: so only what is noticed here is settled, and all else is planted in a copy of the source
(``__main__.py``).
"""

from __future__ import annotations

import functools
import gc
import importlib
import json
import os
import select
import signal
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest

from tests.mutants.planting import Mutant

__all__ = ["ANSWERS", "ASKED", "Asked", "exchanges"]

ROOT = Path(__file__).resolve().parents[2]
ASKED = "KEYPLAN_FAULTS"
"""The environment variable that names the file of faults, as ``Asked.written`` gives it."""
ANSWERS = "KEYPLAN_ANSWERS"
"""The environment variable with the descriptor to which outcomes are written: a line for each fault, in their order."""
SECONDS_MAX = 8.0
"""The CPU time of the tests that are run for one fault here, at most."""
PATIENCE_S = 60
"""How long a fork may take. One that takes longer settles nothing: another part of the program may wait for it."""
NEW_S = 0.05
"""What a test is taken to need that wasn't there when all were recorded."""
_KEPT = type(functools.cache(len))
"""What keeps a function's results."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Faults, with the seconds that each of the tests takes which run their lines; and all tests that are recorded."""

    faults: Sequence[tuple[Mutant, Mapping[str, float]]]
    recorded: frozenset[str]

    def written(self) -> str:
        """As JSON."""
        faults = [(asdict(mutant), dict(tests)) for mutant, tests in self.faults]
        return json.dumps({"faults": faults, "recorded": sorted(self.recorded)})

    @classmethod
    def read(cls, text: str) -> Asked:
        """What ``written`` gave."""
        parts = json.loads(text)
        return cls([(Mutant(**mutant), tests) for mutant, tests in parts["faults"]], frozenset(parts["recorded"]))


def exchanges(old: CodeType, new: CodeType) -> dict[tuple[str, int], CodeType] | None:
    """The functions of a module whose code is another one, by name and first line, with the code that they are to
    have; none when it isn't a function alone that differs.
    """
    before, after = list(_outermost(old)), list(_outermost(new))
    if len(before) != len(after) or any(_body(a) != _body(b) for a, b in zip(_bodies(old), _bodies(new), strict=False)):
        return None
    result: dict[tuple[str, int], CodeType] = {}
    for function, other in zip(before, after, strict=True):
        if function != other:
            names = Counter(_name(each) for each in _all(function))
            result |= {_name(each): each for each in _all(other) if names[_name(each)] == 1}
    return result or None


def _name(code: CodeType) -> tuple[str, int]:
    return code.co_qualname, code.co_firstlineno


def _inner(code: CodeType) -> Iterator[CodeType]:
    return (constant for constant in code.co_consts if isinstance(constant, CodeType))


def _all(code: CodeType) -> Iterator[CodeType]:
    yield code
    for each in _inner(code):
        yield from _all(each)


def _bodies(code: CodeType) -> Iterator[CodeType]:
    """A module's own code, and that of its classes."""
    if not code.co_flags & CO_OPTIMIZED:
        yield code
        for each in _inner(code):
            yield from _bodies(each)


def _body(code: CodeType) -> tuple[Any, ...]:
    """What a module or class does itself, its functions left out."""
    constants = tuple((type(each), each) for each in code.co_consts if not isinstance(each, CodeType))
    return code.co_code, constants, code.co_names


def _outermost(code: CodeType) -> Iterator[CodeType]:
    """The functions that stand in no other."""
    for body in _bodies(code):
        yield from (each for each in _inner(body) if each.co_flags & CO_OPTIMIZED)


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(_Forking(Asked.read(Path(os.environ[ASKED]).read_text(encoding="utf-8"))))


class _Forking:
    """Faults, one after the other, in forks of this process."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked
        self._failed: list[pytest.TestReport] = []
        self._noticed: Counter[str] = Counter()
        self._is_trusted: dict[str, bool] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._failed.append(report)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self._items = {item.nodeid: item for item in session.items}
        for mutant, _ in self._asked.faults:
            importlib.import_module(_module(mutant.path))
        self._look_round()
        with os.fdopen(int(os.environ[ANSWERS]), "w", encoding="utf-8") as answers:
            for mutant, seconds in self._asked.faults:
                print(self._outcome(mutant, seconds), file=answers, flush=True)
        return True

    def _look_round(self) -> None:
        """The library's functions, and what keeps their results."""
        gc.unfreeze()
        self._functions: dict[tuple[str, str, int], list[FunctionType]] = defaultdict(list)  # by file, name, first line
        self._caches: list[Any] = []
        for each in gc.get_objects():
            if isinstance(each, FunctionType):
                self._functions[each.__code__.co_filename, *_name(each.__code__)].append(each)
            elif isinstance(each, _KEPT) and each.__module__.startswith("keyplan"):
                self._caches.append(each)
        gc.collect()
        gc.freeze()

    def _outcome(self, mutant: Mutant, seconds: Mapping[str, float]) -> str:
        """``noticed``, ``endless``, or nothing: it isn't settled here."""
        path = ROOT / mutant.path
        source = path.read_text(encoding="utf-8")
        old, new = (
            compile(text, str(path), "exec", dont_inherit=True, optimize=sys.flags.optimize)
            for text in (source, mutant.planted(source))
        )
        codes = exchanges(old, new)
        found = [(each, code) for key, code in (codes or {}).items() for each in self._functions[str(path), *key]]
        if not found:
            return ""
        tests = self._chosen(seconds)
        while tests:
            outcome, test = self._forked(tests, found)
            if not test or self._trusted(test):
                self._noticed[test] += 1
                return outcome
            tests.remove(test)
        return ""

    def _chosen(self, seconds: Mapping[str, float]) -> list[str]:
        """The tests that run its line, and those that are newer than the record: the quickest first, and those before
        them that have noticed others.
        """
        chosen = [name for name in self._items if name in seconds or name not in self._asked.recorded]
        return sorted(chosen, key=lambda name: (seconds.get(name, NEW_S) + 0.02) / (1 + 5 * self._noticed[name]))

    def _trusted(self, test: str) -> bool:
        """Whether a test passes in a fork without any fault."""
        if test not in self._is_trusted:
            self._is_trusted[test] = not self._forked([test], [])[1]
        return self._is_trusted[test]

    def _forked(self, tests: Sequence[str], exchanged: Sequence[tuple[FunctionType, CodeType]]) -> tuple[str, str]:
        """How it ended, and the test that failed: both empty if none did."""
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.setpgid(0, 0)
            try:
                os.write(writing, json.dumps(self._run(tests, exchanged)).encode())
            finally:
                os._exit(0)
        os.close(writing)
        with os.fdopen(reading, encoding="utf-8") as answer:
            if not select.select([answer], [], [], PATIENCE_S)[0]:  # a thread may wait for ever where no test does
                os.killpg(child, signal.SIGKILL)
            said = answer.read()
        os.waitpid(child, 0)
        with suppress(ProcessLookupError):  # it started none, or has ended them
            os.killpg(child, signal.SIGKILL)
        outcome, test = json.loads(said) if said else ("", "")
        return outcome, test

    def _run(self, tests: Sequence[str], exchanged: Sequence[tuple[FunctionType, CodeType]]) -> tuple[str, str]:
        try:
            for function, code in exchanged:
                function.__code__ = code
        except ValueError:  # another number of variables of functions around it
            return "", ""
        for cache in self._caches:
            cache.cache_clear()
        began = time.process_time()
        for test, following in zip(tests, [*tests[1:], None], strict=True):
            item = self._items[test]
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=self._items[following] if following else None)
            if self._failed or time.process_time() - began > SECONDS_MAX:
                item.session._setupstate.teardown_exact(None)  # pyright: ignore[reportPrivateUsage]
                break
        if not self._failed:
            return "", ""
        report = self._failed[0]
        return "endless" if "Failed: Timeout" in report.longreprtext else "noticed", report.nodeid


def _module(path: str) -> str:
    return path.removeprefix("src/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")
