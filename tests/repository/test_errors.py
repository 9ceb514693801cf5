"""The errors: one tree, drawn as it is; codes that are promises."""

from __future__ import annotations

import re

from keyplan import errors
from tests.repository.made_pages import error_classes


def drawn_tree() -> dict[str, str]:
    """The tree in the docstring of ``keyplan.errors``: each error, and what it is a kind of."""
    result: dict[str, str] = {}
    branch = "KeyplanError"
    for line in (errors.__doc__ or "").splitlines():
        match = re.match(r"\s*((?:│ {3})?)[├└]── ([A-Z]\w+(?:, [A-Z]\w+)*)", line)
        if match is None:
            continue
        for name in match.group(2).split(", "):
            result[name] = branch if match.group(1) else "KeyplanError"
            if not match.group(1):
                branch = name
    return result


def test_the_tree_is_drawn_as_it_is() -> None:
    """The docstring of ``keyplan.errors`` shows every error in its place."""
    assert drawn_tree() == {cls.__name__: cls.__bases__[0].__name__ for cls in error_classes()[1:]}


def test_codes_are_unique_and_named_as_their_errors() -> None:
    """A code stands for one error, whatever its message says."""
    assert {cls.code: cls.__name__ for cls in error_classes()} == {
        cls.__name__: cls.__name__ for cls in error_classes()
    }


def test_every_error_is_exported() -> None:
    """``keyplan.errors.__all__`` holds them all, and the Fault they are made of."""
    assert sorted(errors.__all__) == sorted([*(cls.__name__ for cls in error_classes()), "ErrorDetail"])
