"""What is drafted of a model before it is written as a module: a table with its indexes, and entities with their
columns and keys. Nothing is decided here.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from keyplan.formats.workbench.declarations import PRIMARY, IndexDeclaration, KeyDeclaration, LabelDeclaration
from keyplan.formats.workbench.inference import Column
from keyplan.formats.workbench.reading import Item
from keyplan.model.declared.keys import OURS, KeyStyle

__all__ = ["EntityDraft", "TableDraft"]


@dataclass
class EntityDraft:
    """An entity: its name, its columns, its keys. ``specs`` are the formats of its fields in the keys. ``notes`` are
    what of it is a guess, by key; those of the whole entity stand under "".
    """

    name: str
    columns: list[Column]
    items: list[Item]
    facet: str | None = None
    primary: KeyDeclaration = field(default_factory=lambda: KeyDeclaration(PRIMARY, (), ()))
    keys: list[KeyDeclaration] = field(default_factory=list[KeyDeclaration])
    claims: list[KeyDeclaration] = field(default_factory=list[KeyDeclaration])
    specs: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    marks: dict[str, str] = field(default_factory=dict[str, str])
    labels: list[LabelDeclaration] = field(default_factory=list[LabelDeclaration])
    open: bool = field(kw_only=True)
    """Whether it takes attributes that nothing declares."""
    notes: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    given: bool = False
    """Whether its primary key is declared, or an alias's: then it stays as it is."""

    def column(self, name: str) -> Column | None:
        """The column of that name."""
        return next((column for column in self.columns if column.name == name), None)

    @property
    def declared(self) -> bool:
        """Whether its fields are, by a design that was exported."""
        return any(column.declared is not None for column in self.columns) and self.name.isidentifier()

    @property
    def lists(self) -> set[str]:
        """Fields that hold any number of parts."""
        return {column.name for column in self.columns if column.tag == "L"}

    def is_told_from(self, other: EntityDraft) -> bool:
        """Whether a label tells the items of two entities apart."""
        mine = {label.attribute: label.value for label in self.labels}
        return any(mine.get(label.attribute, label.value) != label.value for label in other.labels)

    def note(self, key: str, text: str) -> None:
        """Note what of a key is a guess."""
        notes = self.notes.setdefault(key, [])
        if text not in notes:
            notes.append(text)


@dataclass
class TableDraft:
    """A table with its indexes, its entities, and notes on what the model leaves open."""

    name: str
    key: IndexDeclaration
    indexes: list[IndexDeclaration]
    entities: list[EntityDraft]
    notes: list[str]
    key_style: KeyStyle = OURS
