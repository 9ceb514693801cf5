"""Whether another ``yield`` can follow is never missed: on code made at random, and on each form by itself."""

from __future__ import annotations

import inspect
import random
import textwrap
from collections.abc import Generator
from typing import Any

import pytest

from keyplan.client.lookahead import Outlook, outlook


class Body:
    """The source of a generator, made at random."""

    def __init__(self, seed: random.Random) -> None:
        self.seed = seed
        self.lines: list[str] = []
        self.budget = 14

    def source(self) -> str:
        self.block("    ", 0)
        return "def body(pick, helper, Context):\n    x = 0\n" + "\n".join(self.lines) + "\n    return x\n"

    def line(self, indent: str, text: str) -> None:
        self.lines.append(f"{indent}{text}")

    def block(self, indent: str, depth: int) -> None:
        for _ in range(self.seed.randint(1, 3)):
            self.budget -= 1
            self.statement(indent, depth)

    def statement(self, indent: str, depth: int) -> None:
        inner = indent + "    "
        kinds = ["yield", "use", "from", "return", "raise", "plain"]
        if depth < 3 and self.budget > 0:
            kinds += ["if", "for", "while", "try", "finally", "with", "both"]
        match self.seed.choice(kinds):
            case "yield":
                self.line(indent, "yield 1")
            case "use":
                self.line(indent, "x = yield 1")
            case "from":
                self.line(indent, self.seed.choice(["yield from helper(pick)", "x = (yield from helper(pick))"]))
            case "return":
                self.line(indent, "if pick(): return x")
            case "raise":
                self.line(indent, "if pick(): raise KeyError(x)")
            case "if":
                self.line(indent, "if pick():")
                self.block(inner, depth + 1)
                self.line(indent, "else:")
                self.block(inner, depth + 1)
            case "for":
                self.line(indent, "for one in range(2):")
                self.block(inner, depth + 1)
                self.line(inner, self.seed.choice(["if pick(): break", "if pick(): continue", "x = one"]))
            case "while":
                self.line(indent, "while pick():")
                self.block(inner, depth + 1)
            case "try":
                self.line(indent, "try:")
                self.block(inner, depth + 1)
                self.line(indent, "except KeyError:")
                self.block(inner, depth + 1)
            case "finally":
                self.line(indent, "try:")
                self.block(inner, depth + 1)
                self.line(indent, "finally:")
                self.line(inner, self.seed.choice(["x = 5", "yield 5", "x = yield 5"]))
            case "with":
                self.line(indent, "with Context():")
                self.block(inner, depth + 1)
            case "both":
                self.line(indent, "x = [(yield 1), (yield from helper(pick))]")
            case _:
                self.line(indent, "x = x or 7")


class Context:
    """Swallows KeyError."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> bool:
        return kind is KeyError


def _helper(pick: Any) -> Generator[int, Any, int]:
    if pick():
        yield 10
    return (yield 11)  # type: ignore[no-any-return]


def test_what_is_said_to_be_the_last_is_the_last() -> None:
    seed = random.Random("lookahead")
    lasts = 0
    for _ in range(600):
        source = Body(seed).source()
        namespace: dict[str, Any] = {}
        exec(source, namespace)
        body: Any = namespace["body"]
        if not inspect.isgeneratorfunction(body):
            continue
        for _ in range(6):
            generator = body(lambda: seed.random() < 0.5, _helper, Context)
            over = False
            try:
                generator.send(None)
                while True:
                    assert not over, source
                    over = outlook(generator).last
                    lasts += over
                    generator.send(seed.choice([None, 3]))
            except (StopIteration, KeyError):
                continue
    assert lasts > 300


FORMS: dict[str, Outlook] = {
    "return (yield 1)": Outlook(used=True, last=True),
    "x = yield 1\nreturn x": Outlook(used=True, last=True),
    "yield 1": Outlook(used=False, last=True),
    "yield 1\nyield 2": Outlook(used=False, last=False),
    "yield from helper()": Outlook(used=False, last=True),
    "x = yield from helper()\nprint(x)": Outlook(used=True, last=True),
    "x = yield from helper()\nyield 2": Outlook(used=True, last=False),
    "for one in range(2):\n    x = yield one": Outlook(used=True, last=False),
    "if True:\n    x = yield 1\n    return x\nyield 2": Outlook(used=True, last=True),
    "try:\n    x = yield 1\n    print(x.n)\nexcept AttributeError:\n    yield 2": Outlook(used=True, last=False),
    "try:\n    x = yield 1\nfinally:\n    print()": Outlook(used=True, last=True),
    "try:\n    x = yield 1\nfinally:\n    yield 2": Outlook(used=True, last=False),
    "yield from [1]": Outlook(used=True, last=False),
}


@pytest.mark.parametrize("text", list(FORMS))
def test_each_form(text: str) -> None:
    def helper() -> Generator[int, Any, int]:
        return (yield 1)  # type: ignore[no-any-return]

    namespace: dict[str, Any] = {"helper": helper}
    exec("def body():\n" + textwrap.indent(text, "    "), namespace)
    generator = namespace["body"]()
    generator.send(None)
    assert outlook(generator) == FORMS[text]
    list(generator)


def test_what_has_ended_or_is_no_generator_is_unknown() -> None:
    def ended() -> Generator[int]:
        yield 1

    generator = ended()
    list(generator)
    assert outlook(generator) == Outlook(used=True, last=False)
    assert outlook(iter([1])) == Outlook(used=True, last=False)
