"""For any strings, other parsers read the exported YAML and HCL as intended."""

from __future__ import annotations

import json
from typing import Any

import hcl2
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from keyplan.formats.terraform import Block, hcl_text
from keyplan.formats.yaml_json import Noted, json_tree, note_text, plain, quoted, yaml_text
from tests.seeds import examples

ODD = [
    "",
    "yes",
    "No",
    "null",
    "~",
    "N",
    "1",
    "0x1",
    "1e3",
    "a: b",
    "# x",
    "- x",
    "!Ref",
    "&a",
    "*a",
    "a\n\tb\r",
    "\x7f",
    "\u2028",
    "{}",
]
TEXTS = st.sampled_from(ODD) | st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
SCALARS = TEXTS | st.integers(-(10**9), 10**9) | st.booleans() | st.none()
NOTED = st.builds(Noted, SCALARS, st.text(max_size=20))
TREES = st.recursive(
    SCALARS | NOTED,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=20,
)


def names_no_function(tree: Any) -> bool:
    """Whether no mapping looks like a CloudFormation function. Functions are tested with the templates."""
    if isinstance(tree, dict):
        return not any(name == "Ref" or name.startswith("Fn::") for name in tree) and all(
            map(names_no_function, tree.values())
        )
    return all(map(names_no_function, tree)) if isinstance(tree, list) else True


@settings(max_examples=examples(100, 300), deadline=None)
@given(st.dictionaries(TEXTS, TREES.filter(names_no_function), min_size=1, max_size=4).filter(names_no_function))
def test_exported_yaml_is_parsed_to_the_same_data(tree: dict[str, Any]) -> None:
    text = yaml_text(tree)
    assert yaml.safe_load(text) == plain(tree)
    assert json.loads(json_tree(tree)) == plain(tree)


@settings(max_examples=examples(100, 300), deadline=None)
@given(TEXTS)
def test_quoted_strings_are_parsed_to_the_same_text(text: str) -> None:
    assert yaml.safe_load(quoted(text)) == text
    assert quoted(text).isprintable() or any(not word.isprintable() and ord(word) > 0x9F for word in text)


@pytest.mark.parametrize("text", [*ODD, "${a}", "%{if}", "$${a}", 'a"b\\c'])
def test_hcl_with_any_text_can_be_parsed_and_contains_no_template(text: str) -> None:
    written = hcl_text(["resource", "a", "b"], {"name": Noted(text, text), "inner": [Block({"x": text}, text)]})
    (resource,) = hcl2.loads(written)["resource"]
    assert resource
    assert "${" not in written.replace("$${", "").partition("#")[0]


def test_comments_are_shortened_to_one_line_of_100_characters() -> None:
    assert note_text("a\n  b\tc") == "a b c"
    assert len(note_text("x" * 500)) == 100
    assert note_text("a\x00b") == "a\ufffdb"
