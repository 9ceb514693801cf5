"""How values are written into keys: escaped, as we do, or as other programs did before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from keyplan.model.declared.argument_checks import check_given, is_a, is_text, one_of

__all__ = ["OURS", "KeyStyle", "Label"]


@dataclass(frozen=True, slots=True)
class KeyStyle:
    """How values stand in keys: ``Table("tasks", key_style=KeyStyle(raw=True, case="lower"))``, or for one key.

    ``raw``: as they are, with nothing escaped, and any text may end them. A value that holds the very text that ends it
    can't be told apart from two others: it is read, and refused where it would be written.

    ``case`` folds values to lower or upper letters in the key, not in their own attribute: two values that differ by
    it alone are one in the key, so it names one item, and a question gives the items of both.
    """

    raw: bool = False
    case: Literal["lower", "upper"] | None = None

    def __post_init__(self) -> None:
        check_given(
            "KeyStyle",
            raw=(self.raw, is_a(bool), "True or False"),
            case=(self.case, one_of(None, "lower", "upper"), '"lower", "upper" or None'),
        )

    def fold(self, text: str) -> str:
        """The text in the letters of the key."""
        if self.case is None:
            return text
        return text.lower() if self.case == "lower" else text.upper()


OURS = KeyStyle()


@dataclass(frozen=True, slots=True)
class Label:
    """An attribute that has one value in all items of the entity, by which other programs know them:
    ``Label("_et", "Pokemon")``, ``Label("__edb_e__", "task")``.

    It is written with each item, and an item that lacks it is another's. Two entities whose keys could be the same are
    no fault where a label tells their items apart.
    """

    attribute: str
    value: str

    def __post_init__(self) -> None:
        check_given(
            "Label",
            attribute=(self.attribute, is_text, "the name of an attribute"),
            value=(self.value, is_text, "the text that the attribute has"),
        )

    @property
    def stored(self) -> dict[str, Any]:
        """The attribute value."""
        return {"S": self.value}
