"""Entity: a pydantic model with keys. ``keyplan.model.stored.stored_entity`` has the compiled form of an entity."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict
from typing_extensions import TypeIs

from keyplan.model.declared.keys import Discriminator, Key, Unique


class Entity(BaseModel):
    """Base class of a design's entities: a pydantic model with keys.

    ::

        class Article(Entity):
            article_id: str = Field(default_factory=ulid)
            title: str

            primary = Key("ARTICLE#{article_id}", "#METADATA")

    An instance is an item that was read, or an item to write. Instances are immutable (``frozen``). A field is stored
    under its pydantic alias, or under its name if it has no alias. None isn't stored. Unknown arguments are rejected.
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
    """Whether a value is an entity class."""
    return isinstance(given, type) and issubclass(given, Entity)
