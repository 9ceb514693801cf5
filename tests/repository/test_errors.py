"""The class hierarchy in ``keyplan.errors``, and the error codes, which are part of the API."""

from __future__ import annotations

import re

from keyplan import errors
from tests.repository.made_pages import error_classes


def drawn_tree() -> dict[str, str]:
    """Return the tree in the docstring of ``keyplan.errors``: each error and its base class."""
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


def test_the_docstring_of_the_errors_module_shows_the_class_hierarchy() -> None:
    assert drawn_tree() == {cls.__name__: cls.__bases__[0].__name__ for cls in error_classes()[1:]}


def test_the_code_of_an_error_is_its_class_name() -> None:
    assert {cls.code: cls.__name__ for cls in error_classes()} == {
        cls.__name__: cls.__name__ for cls in error_classes()
    }


def test_the_errors_module_exports_all_errors() -> None:
    """``keyplan.errors.__all__`` contains all errors, and ErrorDetail."""
    assert sorted(errors.__all__) == sorted([*(cls.__name__ for cls in error_classes()), "ErrorDetail"])
