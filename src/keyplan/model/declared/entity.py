"""Entity: a pydantic model whose items share a key's shape. What it is compiled to is in ``stored/entity.py``."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict
from typing_extensions import TypeIs

from keyplan.model.declared.keys import Discriminator, Key, Unique

__all__ = ["Entity", "is_entity"]


class Entity(BaseModel):
    """The base of a design's entities: a pydantic model with keys.

    ::

        class Article(Entity):
            article_id: str = Field(default_factory=ulid)
            title: str

            primary = Key("ARTICLE#{article_id}", "#METADATA")

    An instance is a value: it is what was read or what is to be written, and doesn't change (``frozen``). Fields are
    stored under their pydantic alias where they have one, and under their name otherwise; a field that is None is not
    stored. Unknown constructor arguments are refused.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(
        frozen=True,
        extra="forbid",
        validate_by_name=True,
        validate_by_alias=True,
        val_json_bytes="base64",
        ser_json_bytes="base64",
        ignored_types=(Key, Unique, Discriminator),
        protected_namespaces=(),
    )


def is_entity(given: Any) -> TypeIs[type[Entity]]:
    """Whether it is an entity's class."""
    return isinstance(given, type) and issubclass(given, Entity)
